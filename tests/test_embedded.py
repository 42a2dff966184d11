"""The HTTP server inside another event loop: real clients, other work in parallel, and a clean stop."""

import asyncio
import json
import logging
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

from keyhole.core.config import load_settings
from keyhole.core.deadline import check_time
from keyhole.core.errors import PortError
from keyhole.core.service import Service
from keyhole.core.types.view_requests import MapRequest, ReadRequest, SearchRequest
from keyhole.mcp_server.embedded import EmbeddedServer

pytestmark = pytest.mark.anyio


@pytest.fixture
def service(acme: Service, tmp_path_factory: pytest.TempPathFactory) -> Service:
    own = Service(
        acme.root, load_settings(acme.root, {"cache_dir": tmp_path_factory.mktemp("cache"), "index.model": "none"})
    )
    own.index()
    return own


@asynccontextmanager
async def served(
    service: Service, port: int = 0, on_rejection: Callable[[str], None] = lambda _: None
) -> AsyncIterator[EmbeddedServer]:
    server = await EmbeddedServer.start(service, port=port, on_rejection=on_rejection)
    try:
        yield server
    finally:
        await server.stop()


def connected(server: EmbeddedServer, era: str = "auto") -> Client[Any]:
    entry = json.loads(server.client_setup)["mcpServers"]["keyhole"]
    return Client(StreamableHttpTransport(entry["url"], headers=entry["headers"]), mode=era)


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_client_is_served_while_the_loop_does_other_work(
    service: Service, era: str, capfd: pytest.CaptureFixture[str]
) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.005)
            ticks += 1

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    other_work = asyncio.create_task(tick())
    async with served(service) as server, connected(server, era) as client:
        before = ticks
        found, mapped, read = [
            (await client.call_tool_mcp(tool, arguments)).content[0].text
            for tool, arguments in (
                ("search_code", {"query": "backoff", "mode": "keyword"}),
                ("map_file", {"path": "src/acme/retry.py"}),
                ("read_file", {"path": "src/acme/client.py"}),
            )
        ]
        assert ticks > before
        assert {number: signal.getsignal(number) for number in handlers} == handlers
    other_work.cancel()
    assert found == service.search_view(SearchRequest("backoff", mode="keyword")).text  # type: ignore[arg-type]
    assert mapped == service.map_view(MapRequest("src/acme/retry.py")).text
    assert read == service.read_view(ReadRequest(("src/acme/client.py",))).text
    # Once it has stopped, the journal is complete: the same bytes, and the transport.
    reader = service.journal_reader()
    calls = list(reader.each())
    assert [call.tool for call in calls] == ["search_code", "map_file", "read_file"]
    assert {call.transport for call in calls} == {"http"}
    whole = [reader.whole(call.id) for call in calls]
    assert [call.response for call in whole if call] == [found, mapped, read]
    assert capfd.readouterr() == ("", "")


async def test_the_port_is_free_again(service: Service) -> None:
    async with served(service) as server:
        port = urlsplit(server.address).port
        assert port
        assert is_open(port)
        assert server.is_running
        # A client that stays connected does not prevent the stop.
        idle = httpx2.AsyncClient()
        assert (await idle.post(server.address)).status_code == 401
    assert not server.is_running
    assert not is_open(port)
    await idle.aclose()
    async with served(service, port) as again:
        assert urlsplit(again.address).port == port
        assert again.token != server.token
        async with connected(again) as client:
            assert len(await client.list_tools()) > 3
    await again.stop()


async def test_a_taken_port_is_reported(service: Service) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortError, match=f"cannot listen on 127.0.0.1:{port} "):
            await EmbeddedServer.start(service, port=port)


async def test_it_needs_its_token(service: Service) -> None:
    rejected: list[str] = []
    async with served(service, on_rejection=rejected.append) as server, httpx2.AsyncClient() as client:
        for headers, status, words in [
            ({}, 401, "Rejected: no token. Copy the configuration"),
            ({"Authorization": "Bearer x"}, 401, "If the server was given a token, use that one; otherwise"),
            ({"Authorization": f"Bearer {server.token}", "Host": "evil.example"}, 421, "Misdirected Request"),
        ]:
            answer = await client.post(server.address, json={}, headers=headers)
            assert answer.status_code == status
            assert words in answer.text
            assert "re-register" not in answer.text + str(answer.headers)
        async with connected(server) as agent:
            assert await agent.list_tools()
    assert rejected == ["no token", "wrong token"]


async def test_a_call_that_runs_does_not_hold_up_the_end(
    service: Service, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    async def wait(*_: object) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr("keyhole.mcp_server.server.Freshness.catch_up", wait)
    logging.getLogger("uvicorn.error").error("nobody hears this")
    server = await EmbeddedServer.start(service)
    async with connected(server) as client:
        call = asyncio.create_task(client.call_tool_mcp("search_code", {"query": "backoff"}))
        reader = service.journal_reader()
        async with asyncio.timeout(30):
            while not reader.calls():
                await asyncio.sleep(0.01)
        await server.stop()
        assert not server.is_running
        with pytest.raises(Exception):  # noqa: B017, PT011  # any error of the client will do
            await call
    (recorded,) = reader.calls()
    assert (recorded.status, recorded.note) == ("cancelled", "")
    assert "nobody" not in capfd.readouterr().err


async def test_work_ends_when_a_client_gives_up(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    started, ended = threading.Event(), threading.Event()

    def work_while_somebody_waits(*_: object) -> None:
        started.set()
        try:
            while True:
                check_time()
                time.sleep(0.001)
        finally:
            ended.set()

    monkeypatch.setattr(Service, "read_view", work_while_somebody_waits)
    async with served(service) as server, connected(server) as client:
        call = asyncio.create_task(client.call_tool_mcp("read_file", {"path": "README.md"}))
        assert await asyncio.to_thread(started.wait, 10)
        call.cancel()
        assert await asyncio.to_thread(ended.wait, 10)
        # The server keeps running.
        assert not (await client.call_tool_mcp("map_file", {"path": "src/acme/retry.py"})).is_error
    assert [(call.status, call.note) for call in service.journal_reader().each()] == [
        ("cancelled", ""),
        ("complete", ""),
    ]
