"""Snapshots of the finder, of the lists of queries and of the list of workspaces; each also asserts a fact."""

import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from driving import LARGE, MIDDLE, ask, explorer, make_app, make_service, press, settle, wait_for
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from keyhole.core.errors import StoreError
from keyhole.core.service import Service
from keyhole.core.types.inventory import Progress
from keyhole.tui.app import KeyholeApp
from keyhole.tui.index_state import Phase
from keyhole.tui.messages import Indexing
from keyhole.tui.screens import explore as explore_module
from keyhole.tui.screens import finder as finder_module
from keyhole.tui.screens import workspaces_screen
from keyhole.tui.widgets.finder_list import FinderList
from keyhole.tui.workspaces import Workspaces

Steps = Callable[[Pilot[None]], Awaitable[None]]
SMALLEST = (60, 16)


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore_module, "DEBOUNCE_SECONDS", 0.001)
    monkeypatch.setattr(finder_module, "PREVIEW_SECONDS", 0.001)
    monkeypatch.setattr(workspaces_screen, "short_path", lambda root: f"~/work/{root.name}")
    monkeypatch.delenv("NO_COLOR", raising=False)


@dataclass(frozen=True)
class State:
    """A state: how to reach it, and a fact that holds there."""

    steps: Steps
    fact: Callable[[Pilot[None]], object]
    size: tuple[int, int] = LARGE


def found(text: str, *keys: str) -> Steps:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "ctrl+t")
        pilot.app.screen.query_one(Input).value = text
        await settle(pilot)
        await press(pilot, *keys)

    return steps


def names_of(pilot: Pilot[None]) -> FinderList:
    return pilot.app.screen.query_one(FinderList)


def queries(*keys: str) -> Steps:
    async def steps(pilot: Pilot[None]) -> None:
        state = explorer(pilot).state
        for line in ("retry backoff", "lang:py parse", "/handle_\\w+/ path:src"):
            state.add_query(line)
        state.save_query("Entry points", "main kind:function")
        state.save_query("Delays", "backoff lang:py tests:no")
        await ask(pilot, "backoff", *keys)

    return steps


STATES = {
    "finder": State(found("ret"), lambda pilot: names_of(pilot).found.count > 2),
    "finder-symbols": State(found("retr", "shift+tab", "down"), lambda pilot: names_of(pilot).highlighted == 1),
    "finder-narrow": State(found("ret"), lambda pilot: not pilot.app.screen.query_one("#finder-view").display, MIDDLE),
    "finder-smallest": State(found("ret"), lambda pilot: names_of(pilot).found.count > 2, SMALLEST),
    "finder-none": State(found("zzqqxx", "tab"), lambda pilot: names_of(pilot).found.names == ()),
    "queries-smallest": State(
        queries("ctrl+r"), lambda pilot: pilot.app.screen.query_one(OptionList).option_count == 5, SMALLEST
    ),
    "save-query": State(queries("ctrl+s"), lambda pilot: pilot.app.screen.query_one(Input).value == "backoff"),
}


@pytest.mark.parametrize("name", STATES)
def test_state(acme: Service, snap_compare: Callable[..., bool], name: str) -> None:
    check(make_app(acme), snap_compare, STATES[name])


def check(app: KeyholeApp, snap_compare: Callable[..., bool], state: State) -> None:
    facts: list[object] = []

    async def run_before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await state.steps(pilot)
        facts.append(state.fact(pilot))

    same = snap_compare(app, terminal_size=state.size, run_before=run_before)
    assert facts == [True]
    assert same


def test_workspaces(acme: Service, tmp_path: Path, snap_compare: Callable[..., bool]) -> None:
    app = make_app(acme)
    app.workspaces = Workspaces(Service.open, [acme.root, tmp_path / "billing", tmp_path / "website"])

    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape", "W")

    check(
        app, snap_compare, State(steps, lambda pilot: pilot.app.screen.query_one(OptionList).highlighted == 1, SMALLEST)
    )


def test_the_finder_during_the_first_run(
    tmp_path: Path, snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, gate = tmp_path / "acme", threading.Event()
    root.mkdir()
    service = make_service(root)

    def index(**_: object) -> None:
        gate.wait(10)
        raise StoreError("closed")

    monkeypatch.setattr(service, "index", index)
    app = make_app(service)

    async def run_before(pilot: Pilot[None]) -> None:
        await wait_for(pilot, lambda _: app.index_state.phase == Phase.INDEXING)
        app.post_message(Indexing(Progress(120, 340, 900, "src/acme/retry.py")))
        await wait_for(pilot, lambda _: app.index_state.progress.done == 120)
        await pilot.press("ctrl+t")
        await wait_for(pilot, lambda pilot: names_of(pilot)._notice and "Indexing" in names_of(pilot)._notice[0])

    try:
        assert snap_compare(app, terminal_size=MIDDLE, run_before=run_before)
    finally:
        gate.set()
