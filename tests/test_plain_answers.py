"""Answers over HTTP: one JSON object, or a stream for a client that asks for progress; the text is the same."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from keyhole.core.config import load_settings
from keyhole.core.deadline import is_over
from keyhole.core.service import Service
from keyhole.core.types.view_requests import MapRequest
from keyhole.core.view.writing import View
from keyhole.mcp_server.embedded import EmbeddedServer

pytestmark = pytest.mark.anyio


@pytest.fixture
def service(tmp_path: Path) -> Service:
    root = tmp_path / "work"
    root.mkdir()
    (root / "one.py").write_text("def one():\n    return 1\n")
    return Service(root, load_settings(root, {"cache_dir": tmp_path / "cache", "index.model": "none"}))


@asynccontextmanager
async def asking(service: Service) -> AsyncIterator[Callable[..., asyncio.Future[httpx2.Response]]]:
    """Serve a workspace, and return a function that posts a call of map_file."""
    server = await EmbeddedServer.start(service)
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    try:
        async with httpx2.AsyncClient(headers=headers, timeout=20) as client:

            def post(token: str = server.token, **extra: object) -> asyncio.Future[httpx2.Response]:
                parameters = {"name": "map_file", "arguments": {"path": "one.py"}, **extra}
                call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters}
                authorised = {"Authorization": f"Bearer {token}"}
                return asyncio.ensure_future(client.post(server.address, json=call, headers=authorised))

            yield post
    finally:
        await server.stop()


async def test_only_who_wants_progress_gets_a_stream(service: Service) -> None:
    async with asking(service) as post:
        plain, streamed = await post(), await post(_meta={"progressToken": 7})
    assert plain.headers["content-type"] == "application/json"
    assert streamed.headers["content-type"].startswith("text/event-stream")
    (event,) = [line.removeprefix("data: ") for line in streamed.text.splitlines() if line.startswith("data: ")]
    assert plain.json() == json.loads(event)
    assert plain.json()["result"]["content"][0]["text"] == service.map_view(MapRequest("one.py")).text


async def test_a_wrong_token_is_refused_in_the_same_words(service: Service) -> None:
    async with asking(service) as post:
        plain, streamed = await post("wrong"), await post("wrong", _meta={"progressToken": 7})
    assert (plain.status_code, plain.text) == (401, streamed.text)
    assert "Rejected: wrong token." in streamed.text


async def test_work_ends_when_the_client_hangs_up(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    started, ended = threading.Event(), threading.Event()

    def until_told(*_: object) -> View:
        started.set()
        while not is_over():
            threading.Event().wait(0.01)
        ended.set()
        raise AssertionError("nobody waits for this")

    monkeypatch.setattr(Service, "map_view", until_told)
    async with asking(service) as post:
        call = post()
        assert await asyncio.to_thread(started.wait, 10)
        assert not ended.is_set()
        call.cancel()
        # Long before the deadline of the call.
        assert await asyncio.to_thread(ended.wait, 10)
