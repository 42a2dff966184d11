"""Calls of real clients are recorded with their exact answers, and no call waits for the journal."""

import asyncio
import os
import re
from pathlib import Path
from typing import Any

import apsw
import pytest
from fastmcp import Client
from mcp.types import Implementation
from test_journal import all_calls, write_calls

from keyhole.core.config import load_settings
from keyhole.core.errors import ConfigError
from keyhole.core.index.location import JOURNAL_FILE
from keyhole.core.journal.reader import is_lost
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail
from keyhole.core.types.view_requests import ReadRequest, SearchRequest
from keyhole.mcp_server.server import build_server

pytestmark = pytest.mark.anyio

ME = Implementation(name="acme-agent", version="1.2")


@pytest.fixture
def service(acme: Service, tmp_path: Path) -> Service:
    """The shared workspace, with its own journal."""
    own = Service(acme.root, load_settings(acme.root, {"cache_dir": tmp_path / "cache", "index.model": "none"}))
    own.index()
    return own


def paths_in(text: str) -> list[str]:
    """The path at the start of each result."""
    return re.findall(r"^([^\s:]+):\d+:\[", text, re.MULTILINE)


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_call_is_recorded_as_it_was_answered(service: Service, era: str) -> None:
    journal = service.journal()
    assert journal is not None
    arguments: dict[str, Any] = {"query": "steps event", "detail_level": "rich", "max_tokens": 1_000}
    async with Client(build_server(service, journal=journal), mode=era, client_info=ME) as client:
        result = await client.call_tool_mcp("search_code", arguments)
        await client.call_tool_mcp("read_file", {"path": "src/acme/retry.py", "max_lines": 2})
        failed = await client.call_tool_mcp("read_file", {"path": "gone.py"})
        await client.call_tool_mcp("index_status", {})
        resource = await client.read_resource("keyhole://file/src/acme/store.py")
    assert journal.flush()
    reader = service.journal_reader()
    search, read, missing, status, file = reader.each()
    view = service.search_view(SearchRequest("steps event", detail_level=Detail.RICH, max_tokens=1_000))

    whole = reader.whole(search.id)
    assert whole is not None
    assert whole.response == result.content[0].text == view.text
    assert whole.arguments == arguments
    assert whole.truncation["reason"] == view.truncation.reason == "token_limit"
    assert (search.client, search.client_version, search.transport) == ("acme-agent", "1.2", "memory")
    assert (search.status, search.note, search.process) == ("shortened", "token_limit", os.getpid())
    assert (search.tokens, search.budget) == (view.truncation.estimated_tokens, 1_000)
    assert search.response_bytes == len(view.text.encode())
    assert search.ms > 0

    assert [shown.path for shown in search.shown_lines] == list(dict.fromkeys(paths_in(view.text)))
    assert (read.status, read.budget) == ("partial", 20_000)
    assert [(shown.path, shown.first, shown.last) for shown in read.shown_lines] == [("src/acme/retry.py", 1, 2)]
    assert {call.session for call in (search, read, missing, status, file)} == {search.session} != {""}
    assert missing.problem == failed.content[0].text
    told = reader.whole(missing.id)
    assert told is not None
    assert (missing.status, told.response) == ("error", failed.content[0].text)
    assert (status.status, status.budget) == ("complete", 0)
    assert status.tokens > 10
    given = reader.whole(file.id)
    assert given is not None
    assert given.response == resource[0].text == service.read_view(ReadRequest(("src/acme/store.py",))).text
    assert given.arguments == {"uri": "keyhole://file/src/acme/store.py"}


async def test_a_cancelled_call_is_recorded_as_one(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = service.journal()
    assert journal is not None

    async def wait(*_: object) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr("keyhole.mcp_server.server.Freshness.catch_up", wait)
    async with Client(build_server(service, journal=journal)) as client:
        call = asyncio.create_task(client.call_tool_mcp("search_code", {"query": "backoff"}))
        reader = service.journal_reader()
        async with asyncio.timeout(30):
            while not reader.calls():
                await asyncio.sleep(0.01)
        assert [call.status for call in reader.calls()] == ["pending"]
        assert not is_lost(reader.calls()[0])
        call.cancel()
        async with asyncio.timeout(30):
            while reader.calls()[0].status == "pending":
                await asyncio.sleep(0.01)
    (recorded,) = reader.calls()
    assert (recorded.status, recorded.note, recorded.tokens) == ("cancelled", "", 0)


async def test_names_cannot_act_on_a_terminal(service: Service) -> None:
    journal = service.journal()
    hostile = Implementation(name="\x1b[31m" + "x" * 500, version="\x07")
    async with Client(build_server(service, journal=journal), client_info=hostile) as client:
        await client.call_tool_mcp("\x1b]0;title", {})
    assert journal is not None
    assert journal.flush()
    (call,) = service.journal_reader().each()
    assert "\x1b" not in call.client + call.tool + call.client_version
    assert len(call.client) <= 80


async def test_it_can_be_turned_off(acme: Service, tmp_path: Path) -> None:
    settings = load_settings(acme.root, {"cache_dir": tmp_path, "journal.enabled": False})
    assert Service(acme.root, settings).journal() is None


def test_a_workspace_cannot_turn_it_off(tmp_path: Path) -> None:
    (tmp_path / "keyhole.toml").write_text("[journal]\nenabled = false\n")
    with pytest.raises(ConfigError, match=r"journal\.enabled cannot be set by a workspace"):
        load_settings(tmp_path)


async def test_a_locked_journal_does_not_delay_an_answer(
    service: Service, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyhole.core.journal.writer._BUSY_MS", 300)
    journal = service.journal()
    assert journal is not None
    write_calls(journal, 1)
    db = apsw.Connection(str(service.folder / JOURNAL_FILE))
    db.execute("BEGIN IMMEDIATE")
    async with Client(build_server(service, journal=journal)) as client:
        result = await client.call_tool_mcp("index_status", {})
        assert not result.is_error
    assert journal.flush(), "a writer gives up in the end"
    db.execute("ROLLBACK")
    assert "calls are not recorded: database is locked" in caplog.text
    write_calls(journal, 1)
    assert [call.status for call in all_calls(service.folder)] == ["complete", "complete"]
