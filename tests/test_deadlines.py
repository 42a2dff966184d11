"""Every call ends: deadlines, cancelled calls, and a server that still works afterwards."""

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from keyhole.core.config import load_settings
from keyhole.core.deadline import Deadline, check_time, is_over, within
from keyhole.core.errors import DeadlineError
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.store import Store
from keyhole.core.service import Service
from keyhole.core.types.view_requests import SearchRequest
from keyhole.core.workspace.engine_pool import MOST_READERS
from keyhole.mcp_server import with_deadline as in_time_module
from keyhole.mcp_server.server import build_server

pytestmark = pytest.mark.anyio
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
def service(tmp_path: Path) -> Service:
    root = tmp_path / "work"
    root.mkdir()
    for number in range(450):
        (root / f"module_{number}.py").write_text(f"def function_{number}():\n    return {number}\n" * 20)
    own = Service(root, load_settings(root, {"cache_dir": tmp_path / "cache", "index.model": "none"}))
    own.index()
    return own


async def ask(service: Service, query: str = "/def function_\\d*7\\b/") -> tuple[str, bool]:
    async with Client(build_server(service)) as client:
        result = await client.call_tool_mcp("search_code", {"query": query})
    return result.content[0].text, bool(result.is_error)


def test_a_deadline() -> None:
    assert not is_over()
    check_time()
    deadline = Deadline(60)
    with within(deadline):
        check_time()
        assert 0 < deadline.remaining <= 60
        deadline.cancel()
        assert is_over()
        with pytest.raises(DeadlineError, match="no answer within 60 seconds"):
            check_time()
    check_time()


def test_sqlite_stops_at_the_deadline_and_works_afterwards(service: Service) -> None:
    with Store(service.folder / INDEX_FILE) as store:
        with within(Deadline(0.05)), pytest.raises(DeadlineError):
            store.query(ENDLESS)
        with pytest.raises(DeadlineError), within(Deadline(0.05)), store.transaction():
            store.query(ENDLESS)
        assert store.value("SELECT count(*) FROM file") == 450


async def test_a_regular_expression_over_too_much_ends_with_a_clear_error(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_time_module, "SECONDS", 0.002)
    text, is_error = await ask(service)
    assert is_error
    assert text.startswith("no answer within 0.002 seconds; narrow the search with path")
    monkeypatch.undo()
    text, is_error = await ask(service)
    assert not is_error
    assert "in 45 files." in text.splitlines()[0]


def test_what_was_prepared_before_the_deadline_stays(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def count() -> int:
        with Store(service.folder / INDEX_FILE) as store:
            return int(store.value("SELECT count(*) FROM file WHERE has_trigrams"))

    looks = 0

    def run_out_at_the_second_look() -> None:
        nonlocal looks
        looks += 1
        if looks == 2:
            raise DeadlineError("over")

    monkeypatch.setattr("keyhole.core.index.trigrams.check_time", run_out_at_the_second_look)
    with pytest.raises(DeadlineError):
        service.search_view(SearchRequest("/function/"))
    assert count() == 200
    service.search_view(SearchRequest("/function/"))
    assert count() == 450


async def test_work_that_never_looks_at_the_time_is_not_waited_for(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    going_on = threading.Event()
    monkeypatch.setattr(service, "search_view", lambda _: going_on.wait(20))
    monkeypatch.setattr(in_time_module, "SECONDS", 0.05)
    monkeypatch.setattr(in_time_module, "GRACE", 0.05)
    text, is_error = await ask(service)
    assert not going_on.is_set()
    going_on.set()
    assert is_error
    assert text.startswith("no answer within")


def until_told(ended: threading.Event, started: threading.Event) -> Callable[[Any], None]:
    """Work until the deadline or a cancellation, as every loop over files does."""

    def work(_: Any) -> None:
        started.set()
        try:
            while True:
                check_time()
                time.sleep(0.001)
        finally:
            ended.set()

    return work


async def test_work_ends_when_the_client_gives_up(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    ended, started = threading.Event(), threading.Event()
    monkeypatch.setattr(service, "search_view", until_told(ended, started))
    async with Client(build_server(service)) as client:
        call = asyncio.create_task(client.call_tool_mcp("search_code", {"query": "x"}))
        await asyncio.to_thread(started.wait, 10)
        assert not ended.is_set()
        call.cancel()
        assert await asyncio.to_thread(ended.wait, 10)
        # The same server answers the next call.
        assert not (await client.call_tool_mcp("read_file", {"path": "module_1.py"})).is_error


def test_a_call_that_waits_for_others_gets_a_busy_error(service: Service) -> None:
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with ExitStack() as stack:
            for _ in range(MOST_READERS):
                stack.enter_context(service.engines.lend())
            held.set()
            release.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    with within(Deadline(0.05)), pytest.raises(DeadlineError, match="keyhole is busy with other searches"):
        service.search_view(SearchRequest("function_7"))
    release.set()
    thread.join()
    assert service.search_view(SearchRequest("function_7")).page.total
