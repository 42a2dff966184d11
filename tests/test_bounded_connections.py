"""Connections over HTTP that never finish their request: each is closed in time, and a client is served meanwhile."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest

from keyhole.core.service import Service
from keyhole.mcp_server.bounded_connections import BoundedConnection
from keyhole.mcp_server.embedded import EmbeddedServer

pytestmark = pytest.mark.anyio

# Closed at the end of each test.
writers: list[asyncio.StreamWriter] = []
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "map_file", "arguments": {"path": "src/retry.py"}},
}


@pytest.fixture(autouse=True)
def _small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedConnection, "header_seconds", 0.2)
    monkeypatch.setattr(BoundedConnection, "body_seconds", 0.2)


@asynccontextmanager
async def served(service: Service) -> AsyncIterator[EmbeddedServer]:
    server = await EmbeddedServer.start(service)
    try:
        yield server
    finally:
        for writer in writers:
            writer.close()
        await server.stop()
        writers.clear()


async def opened(server: EmbeddedServer, sent: bytes = b"") -> Stream:
    place = urlsplit(server.address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    writers.append(writer)
    writer.write(sent)
    return reader, writer


def headers(server: EmbeddedServer, length: int, token: str = "") -> bytes:
    place = urlsplit(server.address)
    lines = [f"POST {place.path} HTTP/1.1", f"Host: {place.netloc}", f"Content-Length: {length}"]
    lines += [f"Authorization: Bearer {token or server.token}", "Content-Type: application/json"]
    lines += ["Accept: application/json, text/event-stream", "MCP-Protocol-Version: 2025-11-25", "", ""]
    return "\r\n".join(lines).encode()


async def ask(server: EmbeddedServer, stream: Stream) -> bytes:
    """Make a call on an open connection, and return the status line."""
    reader, writer = stream
    body = json.dumps(CALL).encode()
    writer.write(headers(server, len(body)) + body)
    status, rest = await reader.readline(), b""
    length = 0
    while (rest := await reader.readline()).strip():
        name, _, value = rest.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    await reader.readexactly(length)
    return status.strip()


async def ended(stream: Stream) -> bytes:
    """Return what the server sends until it closes the connection."""
    async with asyncio.timeout(20):
        try:
            return await stream[0].read()
        except ConnectionResetError:
            return b""


async def test_headers_and_bodies_have_to_arrive_in_time(service: Service) -> None:
    async with served(service) as server:
        for sent in (b"", b"POST /mcp HTT", headers(server, 100), headers(server, 100) + b'{"jsonrpc"'):
            assert (await ended(await opened(server, sent))).startswith(b"HTTP/1.1 408 "), sent
        # After the answer to a first request, half of the next one has no more time.
        stream = await opened(server)
        assert await ask(server, stream) == b"HTTP/1.1 200 OK"
        stream[1].write(b"POST /mcp HTT")
        assert (await ended(stream)).startswith(b"HTTP/1.1 408 ")


async def test_one_byte_at_a_time_gives_no_more_time(service: Service) -> None:
    async with served(service) as server:
        stream = await opened(server)
        end = asyncio.ensure_future(ended(stream))
        async with asyncio.timeout(20):
            for byte in b"x" * 100_000:
                if end.done():
                    break
                stream[1].write(bytes([byte]))
                await asyncio.sleep(0.01)
        # A byte that arrives after the answer resets the connection, and then the client may never see the answer.
        assert (await end)[:13] in (b"HTTP/1.1 408 ", b"")


async def test_a_client_may_pause_between_its_calls(service: Service) -> None:
    async with served(service) as server:
        known = await opened(server)
        assert await ask(server, known) == b"HTTP/1.1 200 OK"
        await asyncio.sleep(2 * BoundedConnection.header_seconds)
        assert await ask(server, known) == b"HTTP/1.1 200 OK"


async def test_a_body_after_its_rejection_is_not_read_for_long(service: Service) -> None:
    async with served(service) as server:
        stream = await opened(server, headers(server, 100, "wrong"))
        assert (await ended(stream)).startswith(b"HTTP/1.1 401 ")


async def test_silent_connections_lock_nobody_out(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("header_seconds", "body_seconds"):
        monkeypatch.setattr(BoundedConnection, name, 3_600)
    monkeypatch.setattr(BoundedConnection, "most_untrusted", 5)
    async with served(service) as server:
        known = await opened(server)
        assert await ask(server, known) == b"HTTP/1.1 200 OK"
        halves = [b"", b"POST /mcp", headers(server, 9), headers(server, 9, "wrong")]
        silent = [await opened(server, halves[number % 4]) for number in range(20)]
        # A client that has made a call before keeps its connection, and a new one gets one.
        assert await ask(server, known) == b"HTTP/1.1 200 OK"
        assert await ask(server, await opened(server)) == b"HTTP/1.1 200 OK"
        # The oldest are closed.
        for stream in silent[:14]:
            await ended(stream)
        assert not silent[-1][0].at_eof()
