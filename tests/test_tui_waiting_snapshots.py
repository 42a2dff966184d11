"""Snapshots of what is shown while something is missing: large files, the first run, old results, wrong paths."""

import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from driving import (
    LARGE,
    ask,
    explore,
    explorer,
    files,
    make_app,
    make_service,
    press,
    settle,
    traffic,
    wait_for,
    watch,
)
from textual.pilot import Pilot
from textual.widgets import Input

from keyhole.core.errors import StoreError
from keyhole.core.service import Service
from keyhole.core.types.inventory import IndexedFile, Inventory, Progress
from keyhole.core.types.source_files import Skip, SkipReason
from keyhole.tui.index_state import Phase
from keyhole.tui.messages import FilesFound, Indexing
from keyhole.tui.screens import explore as explore_module
from keyhole.tui.server_state import ServerPhase, ServerState
from keyhole.tui.widgets.line_view import LineView
from keyhole.tui.widgets.query_line import QueryLine
from keyhole.tui.widgets.search_note import SearchNote

Steps = Callable[[Pilot[None]], Awaitable[None]]
Compare = Callable[..., bool]
SMALLEST = (60, 16)
SIZES = {"large": LARGE, "smallest": SMALLEST}
SETUP = """{
  "mcpServers": {
    "keyhole": {
      "type": "http",
      "url": "http://127.0.0.1:7777/mcp",
      "headers": {
        "Authorization": "Bearer of-the-token"
      }
    }
  }
}"""


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore_module, "DEBOUNCE_SECONDS", 0.001)
    monkeypatch.delenv("NO_COLOR", raising=False)


async def explain_wrong_path(pilot: Pilot[None]) -> None:
    await ask(pilot, "backoff", "enter", "x")
    pilot.app.screen.query_one(Input).value = "acme/rtery.py"
    await settle(pilot)
    assert "Did you mean" in pilot.app.screen.query_one(LineView).document.text


async def explain_shares(pilot: Pilot[None]) -> None:
    await ask(pilot, "retry policy", "enter", "down", "x")
    assert "  score   points\n" in pilot.app.screen.query_one(LineView).document.text


async def note_on_the_line(pilot: Pilot[None]) -> None:
    await ask(pilot, "retry author:ann limit:100000")
    assert explore(pilot).query_one(SearchNote).display


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("steps", [explain_wrong_path, explain_shares, note_on_the_line])
def test_explore(acme: Service, snap_compare: Compare, steps: Steps, size: str) -> None:
    async def run_before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await steps(pilot)

    assert snap_compare(make_app(acme), terminal_size=SIZES[size], run_before=run_before)


@pytest.mark.parametrize("size", SIZES)
def test_results_of_an_older_search(
    acme: Service, snap_compare: Compare, monkeypatch: pytest.MonkeyPatch, size: str
) -> None:
    gate, search_page = threading.Event(), Service.search_page

    async def run_before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await ask(pilot, "handle event limit:50")
        monkeypatch.setattr(Service, "search_page", lambda *given: gate.wait(60) and search_page(*given))
        explore(pilot).query_one(QueryLine).value = "backoff"
        await wait_for(pilot, lambda pilot: explore(pilot)._progress.is_marked)
        await pilot.pause()

    app = make_app(acme)
    export = app.export_screenshot

    def export_and_release(*given: Any, **options: Any) -> str:
        svg = export(*given, **options)
        # The app waits for the search before it ends.
        gate.set()
        return svg

    monkeypatch.setattr(app, "export_screenshot", export_and_release)
    assert snap_compare(app, terminal_size=SIZES[size], run_before=run_before)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("keys", [(), ("right_square_bracket", "n")], ids=["source", "map"])
def test_a_file_that_is_too_large(tmp_path: Path, snap_compare: Compare, size: str, keys: tuple[str, ...]) -> None:
    root = tmp_path / "acme"
    root.mkdir()
    (root / "keyhole.toml").write_text("[index]\nmax_file_bytes = 20_000\n")
    (root / "large.py").write_text("".join(f"def function_{number}():\n    return {number}\n" for number in range(900)))

    async def run_before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await press(pilot, "escape", "2")
        files(pilot).max_tokens = 1_000
        explorer(pilot).open_file("large.py", 1)
        await settle(pilot)
        await press(pilot, *keys)
        assert files(pilot).opened

    assert snap_compare(make_app(make_service(root)), terminal_size=SIZES[size], run_before=run_before)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("is_found", [False, True], ids=["walking", "indexing"])
def test_the_tree_in_the_first_run(
    tmp_path: Path, snap_compare: Compare, monkeypatch: pytest.MonkeyPatch, size: str, is_found: bool
) -> None:
    root, gate = tmp_path / "acme", threading.Event()
    root.mkdir()
    service = make_service(root)

    def wait(**_: object) -> None:
        gate.wait(10)
        raise StoreError("closed")

    monkeypatch.setattr(service, "index", wait)
    app = make_app(service)
    paths = ["README.md", "src/acme/client.py", "src/acme/retry.py", "tests/test_retry.py"]
    skips = (Skip(".env", SkipReason.SECRET, "a name"), Skip("data.csv", SkipReason.TOO_LARGE, "2,000,000 bytes"))

    async def run_before(pilot: Pilot[None]) -> None:
        await wait_for(pilot, lambda _: app.index_state.phase == Phase.INDEXING)
        app.switch_mode("files")
        await pilot.pause()
        if is_found:
            app.post_message(FilesFound(Inventory(tuple(IndexedFile(path, "", 0) for path in paths), skips)))
            app.post_message(Indexing(Progress(1_220, 3_400, 900, "src/acme/retry.py")))
            await wait_for(pilot, lambda _: app.index_state.progress.done)
        await pilot.pause()
        await pilot.pause()

    try:
        assert snap_compare(app, terminal_size=SIZES[size], run_before=run_before)
    finally:
        gate.set()


@pytest.mark.parametrize("size", SIZES)
def test_the_setup_of_a_client(agents_service: Service, snap_compare: Compare, size: str) -> None:
    async def run_before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await watch(pilot)
        explorer(pilot).server_state = ServerState(ServerPhase.ON, "http://127.0.0.1:7777/mcp", SETUP)
        traffic(pilot).action_copy_setup()
        await settle(pilot)
        pilot.app.clear_notifications()
        await pilot.pause()

    assert snap_compare(make_app(agents_service), terminal_size=SIZES[size], run_before=run_before)
