"""Hostile requests over stdio and HTTP: each gets an error with its id, of bounded size, and the server lives on."""

import io
import json
import logging
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO

import httpx2
import pytest
from hostile_requests import CASES, LONG, TOO_LARGE, Hostile, call, error_of, rpc
from served import HELLO, start

from keyhole.core.service import Service
from keyhole.core.untrusted_text import LONGEST_ERROR
from keyhole.mcp_server.checked_stdio import CheckedInput, WholeWrites
from keyhole.mcp_server.embedded import EmbeddedServer
from keyhole.mcp_server.request_check import check_request

pytestmark = pytest.mark.anyio

GOOD = call("read_file", {"path": "src/retry.py"}, 8)


@pytest.fixture(autouse=True)
def _no_log() -> Iterator[None]:
    """Keep fastmcp from drawing megabytes of requests in colour, as it does where Keyhole has not set it up."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


def check_answer(case: Hostile, answer: bytes) -> None:
    request_id, text = error_of(answer)
    assert case.words in text, case.name
    assert len(text) <= LONGEST_ERROR, case.name
    # The envelope adds little, also where the library quotes the request a second time.
    assert len(answer) < 2 * LONGEST_ERROR, case.name
    # Of a body over HTTP that states its size, nothing is read, so its id is unknown.
    if case.words != TOO_LARGE:
        assert request_id == case.id, case.name
    assert not set("\x1b\U000e0041") & set(text), case.name


def exchange(process: subprocess.Popen[bytes], message: bytes) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(message + b"\n")
    process.stdin.flush()
    return process.stdout.readline()


def test_over_stdio(base: Path) -> None:
    process = start(base)
    exchange(process, json.dumps(HELLO).encode())
    for case in CASES:
        answer = exchange(process, case.body)
        check_answer(case, answer)
        assert json.loads(answer)["id"] == case.id
    # A client may write the id last, end a line with CRLF, and send an empty line.
    late = json.dumps({"method": "ping", "params": {"a": LONG * 2}, "jsonrpc": "2.0", "id": 9}).encode()
    assert error_of(exchange(process, late))[0] == 9
    good = exchange(process, b"\n  \r\n" + GOOD + b"\r")
    assert "class RetryPolicy" in json.loads(good)["result"]["content"][0]["text"]
    rest, log = process.communicate(timeout=20)
    assert (rest, process.returncode) == (b"", 0)
    assert b"Traceback" not in log


@asynccontextmanager
async def posting(service: Service) -> AsyncIterator[tuple[httpx2.AsyncClient, EmbeddedServer]]:
    server = await EmbeddedServer.start(service)
    headers = {
        "Authorization": f"Bearer {server.token}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2025-11-25",
    }
    try:
        async with httpx2.AsyncClient(headers=headers, timeout=30) as client:
            yield client, server
    finally:
        await server.stop()


async def test_over_http(service: Service) -> None:
    async with posting(service) as (client, server):
        for case in CASES:
            response = await client.post(server.address, content=case.body)
            check_answer(case, response.content)
            is_refused = check_request(case.body) is not None
            assert response.status_code == (413 if case.words == TOO_LARGE else 400 if is_refused else 200), case.name

        async def endless() -> AsyncIterator[bytes]:
            for _ in range(30):
                yield b"x" * 100_000

        chunked = await client.post(server.address, content=endless())
        assert (chunked.status_code, error_of(chunked.content)[1]) == (413, f"{TOO_LARGE}; send a smaller one")
        good = await client.post(server.address, content=GOOD)
        assert "class RetryPolicy" in good.json()["result"]["content"][0]["text"]


async def test_a_body_without_a_token_is_not_waited_for(service: Service) -> None:
    async with posting(service) as (client, server):
        request = client.build_request("POST", server.address, content=b"x" * 5_000_000, headers={"Authorization": ""})
        assert (await client.send(request)).status_code == 401


def test_good_messages_pass_unchanged() -> None:
    answered: list[bytes] = []
    lines = [GOOD, rpc("ping", {}, "text"), b'{"jsonrpc":"2.0","method":"notifications/initialized"}']
    lines += [b'{"jsonrpc":"2.0","id":1,"result":{}}', b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}']
    source: BinaryIO = io.BytesIO(b"\n".join([*lines[:2], b"[]", *lines[2:]]))
    text = io.TextIOWrapper(CheckedInput(source, answered.append), encoding="utf-8")  # type: ignore[type-var]
    assert [line.encode() for line in text] == [line + b"\n" for line in lines]
    assert [error_of(answer)[0] for answer in answered] == [None]


BROKEN = '"text": "\\ud800 } \\" {"'


@pytest.mark.parametrize("filler", ["", LONG * 2], ids=["small", "large"])
@pytest.mark.parametrize(
    ("start", "end", "request_id"),
    [
        ('{"method":"tools/call","params":{', '},"jsonrpc":"2.0","id":5}', 5),
        ('{"jsonrpc":"2.0","method":"tools/call","params":{', '},"id":"a"}', "a"),
        # These are incomplete: the last id is an argument.
        ('{"jsonrpc":"2.0","method":"tools/call","params":{', ',"arguments":{"id":5}', None),
        ('{"jsonrpc":"2.0","method":"tools/call","params":{', ',"id":5}', None),
        ('[{"method":"tools/call","params":{', ',"arguments":{"id":5}}', None),
    ],
)
def test_the_id_of_a_bad_message_is_that_of_the_outer_object(
    start: str, end: str, request_id: object, filler: str
) -> None:
    refusal = check_request(f'{start}{BROKEN},"filler":"{filler}"{end}'.encode())
    assert refusal is not None
    assert refusal.request_id == request_id


@pytest.mark.parametrize("part", ['\\"', '"', "{", '"\\'])
def test_looking_for_the_id_takes_linear_time(part: str) -> None:
    body = f'"{part * (900_000 // len(part))},"id":5}}'.encode()
    started = time.perf_counter()
    refusal = check_request(body)
    assert refusal is not None
    assert refusal.request_id is None
    assert time.perf_counter() - started < 2


def test_a_message_is_written_as_a_whole() -> None:
    class Pieces(io.BytesIO):
        def write(self, data: bytes, /) -> int:  # type: ignore[override]
            pieces.append(bytes(data))
            return len(data)

    pieces: list[bytes] = []
    output = WholeWrites(Pieces())
    text = io.TextIOWrapper(output, encoding="utf-8")  # type: ignore[type-var]
    for size in (10, 9_000, 500_000):
        text.write("é" * size + "\n")
        text.flush()
        output.answer(b"{}")
    assert pieces[1::2] == [b"{}\n"] * 3
    assert [len(piece) for piece in pieces[::2]] == [21, 18_001, 1_000_001]
