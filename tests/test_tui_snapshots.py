"""Snapshots of the explorer's states at fixed sizes; each also asserts a fact about the state."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from driving import (
    LARGE,
    MIDDLE,
    SMALL,
    answer_of,
    ask,
    explore,
    explorer,
    files,
    make_app,
    make_service,
    press,
    results_of,
    settle,
    wait_for,
)
from textual.pilot import Pilot
from textual.widgets import Input, Tree

from keyhole.core.errors import StoreError
from keyhole.core.index.lock import writer_lock
from keyhole.core.notes import IndexEvent, IndexMessage
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail
from keyhole.core.types.inventory import Progress
from keyhole.tui.app import KeyholeApp
from keyhole.tui.index_state import Phase
from keyhole.tui.messages import Indexing, IndexingFailed, IndexNotice
from keyhole.tui.screens import explore as explore_module
from keyhole.tui.search_state import SearchState
from keyhole.tui.widgets.gauge import Gauge
from keyhole.tui.widgets.line_view import LineView
from keyhole.tui.widgets.query_line import QueryLine
from keyhole.tui.widgets.results import ResultList

Steps = Callable[[Pilot[None]], Awaitable[None]]
Compare = Callable[..., bool]
MANY = "handle event limit:50"


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore_module, "DEBOUNCE_SECONDS", 0.001)
    monkeypatch.delenv("NO_COLOR", raising=False)


@dataclass(frozen=True)
class State:
    """A state of the explorer: how to reach it, and a fact that holds there."""

    steps: Steps
    fact: Callable[[Pilot[None]], object]
    size: tuple[int, int] = LARGE


def view_of(pilot: Pilot[None]) -> LineView:
    return pilot.app.screen.query_one(LineView)


def gauge_of(pilot: Pilot[None]) -> Gauge:
    return explore(pilot).query_one(Gauge)


def asked(line: str, *keys: str, **state: Any) -> Steps:
    async def steps(pilot: Pilot[None]) -> None:
        explore(pilot).search_state = SearchState(**state)
        await ask(pilot, line, *keys)

    return steps


def typed(text: str, *keys: str) -> Steps:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, *text, *keys)

    return steps


def opened(path: str, line: int, *keys: str) -> Steps:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file(path, line)
        await settle(pilot)
        await press(pilot, *keys)

    return steps


async def why_not(pilot: Pilot[None]) -> None:
    await ask(pilot, "backoff", "enter", "x")
    pilot.app.screen.query_one(Input).value = ".env"
    await settle(pilot)


async def passed_over(pilot: Pilot[None]) -> None:
    await ask(pilot, "", "escape", "2")
    tree = files(pilot).query_one(Tree)
    tree.move_cursor(tree.root.children[5])
    await press(pilot, "enter")


async def browsed(pilot: Pilot[None]) -> None:
    await ask(pilot, "", "escape", "2")
    tree = files(pilot).query_one(Tree)
    tree.root.children[0].expand_all()
    await settle(pilot)


STATES = {
    "welcome": State(asked(""), lambda pilot: explore(pilot).answer is None),
    "welcome-narrow": State(asked(""), lambda pilot: explore(pilot).answer is None, MIDDLE),
    "results": State(asked("retry backoff", "enter"), lambda pilot: "✓ complete" in str(gauge_of(pilot).render())),
    "lines": State(
        asked("/backoff/", "enter"),
        lambda pilot: str(answer_of(pilot).view.banner).endswith("matching lines in 4 files."),
    ),
    "results-narrow": State(asked("retry backoff"), lambda pilot: not view_of(pilot).display, MIDDLE),
    "reading-narrow": State(asked("retry backoff", "enter", "enter"), lambda pilot: view_of(pilot).has_focus, MIDDLE),
    "too-small": State(asked(""), lambda pilot: pilot.app.screen.query_one("#too-small").display, SMALL),
    "completion": State(
        typed("backoff lang:p"), lambda pilot: explore(pilot).query_one(QueryLine)._suggestion.endswith("python")
    ),
    "text": State(asked("backoff", "enter", "]"), lambda pilot: view_of(pilot).document.text.startswith("Results 1-")),
    # Narrow, so that the time at the end of the text is not visible.
    "json": State(
        asked(MANY, "enter", "enter", "]", "]"), lambda pilot: view_of(pilot).document.lexer == "json", MIDDLE
    ),
    "diff-detail": State(
        asked("backoff", "enter", "["), lambda pilot: "+++ detail_level=rich" in view_of(pilot).document.text
    ),
    "diff-budget": State(
        asked(MANY, "enter", "v", "v", "v", "v", detail=Detail.RICH),
        lambda pilot: "max_tokens=1000" in view_of(pilot).document.text,
    ),
    "rich": State(
        asked("handle event", "enter", "]", "d"), lambda pilot: explore(pilot).search_state.detail == Detail.RICH
    ),
    "second-page": State(asked("handle event", "enter", "n"), lambda pilot: explore(pilot).search_state.page == 2),
    "over-70-percent": State(
        asked(MANY, "enter", detail=Detail.RICH, max_tokens=1_000),
        lambda pilot: gauge_of(pilot).is_nearly_full,
    ),
    "shortened": State(
        asked(MANY, "enter", detail=Detail.RICH, max_tokens=2_000),
        lambda pilot: any(row.is_shortened for row in explore(pilot).query_one(ResultList).rows),
    ),
    "shortened-text": State(
        asked("return limit:50", "enter", "]", max_tokens=1_000, detail=Detail.RICH),
        lambda pilot: "▲ shortened" in str(gauge_of(pilot).render()),
    ),
    "zoomed": State(
        asked("backoff", "enter", "enter", "z"), lambda pilot: not explore(pilot).query_one(ResultList).display
    ),
    "light": State(asked("retry backoff", "enter", "t"), lambda pilot: pilot.app.theme == "keyhole-light"),
    "no-hits": State(asked("zzqqxx", "enter"), lambda pilot: explore(pilot).query_one(ResultList).rows == []),
    "bad-regex": State(asked("/backoff(/"), lambda pilot: explore(pilot).query_one("#problem").display),
    "bad-filter": State(asked("backoff lang:pythn"), lambda pilot: explore(pilot).query_one("#problem").display),
    "why": State(asked("backoff", "enter", "x"), lambda pilot: "ranked 1st" in view_of(pilot).document.text),
    "why-not": State(why_not, lambda pilot: "not indexed: secret" in view_of(pilot).document.text),
    "help": State(asked("backoff", "enter", "question_mark"), lambda pilot: len(pilot.app.screen_stack) == 2),
    "jump": State(asked("backoff", "enter", "ctrl+o"), lambda pilot: len(pilot.app.screen.query(".jump-letter")) == 7),
    "palette": State(asked("backoff", "enter", "ctrl+p"), lambda pilot: len(pilot.app.screen_stack) == 2),
    "files": State(browsed, lambda pilot: files(pilot).opened is None),
    "files-narrow": State(browsed, lambda pilot: not view_of(pilot).display, MIDDLE),
    "skipped": State(passed_over, lambda pilot: view_of(pilot).document.text.startswith("○ .env")),
    "source": State(opened("src/acme/retry.py", 14), lambda pilot: view_of(pilot).document.is_numbered),
    "map": State(opened("src/acme/retry.py", 1, "]"), lambda pilot: "File Map" in view_of(pilot).document.text),
    "map-outline": State(
        opened("src/acme/retry.py", 1, *"dddd"), lambda pilot: str(files(pilot).level) == "outline", MIDDLE
    ),
    "symbols": State(opened("src/acme/retry.py", 1, "s"), lambda pilot: len(pilot.app.screen_stack) == 2),
}


@pytest.mark.parametrize("name", STATES)
def test_state(acme: Service, snap_compare: Compare, name: str) -> None:
    check(make_app(acme), snap_compare, STATES[name])


def check(app: KeyholeApp, snap_compare: Compare, state: State) -> None:
    facts: list[object] = []

    async def run_before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await state.steps(pilot)
        facts.append(state.fact(pilot))

    same = snap_compare(app, terminal_size=state.size, run_before=run_before)
    assert facts == [True]
    assert same


def test_left_out_results_below_the_line(acme: Service, snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    """A budget that even the shortest form of a page does not fit is smaller than any that can be asked for."""
    from keyhole.core.view.budget import limits

    monkeypatch.setattr(limits, "MIN_TOKENS", 100)

    async def steps(pilot: Pilot[None]) -> None:
        explore(pilot).search_state = SearchState(max_tokens=200)
        await ask(pilot, MANY, "enter", "c")

    state = State(steps, lambda pilot: len(explore(pilot).query_one(ResultList).rows) == 12 and left_out_of(pilot) > 0)
    check(make_app(acme), snap_compare, state)


def left_out_of(pilot: Pilot[None]) -> int:
    answer = explore(pilot).answer
    return len(answer.left_out) if answer else 0


def test_without_colour(acme: Service, snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    state = State(asked(MANY, "enter", detail=Detail.RICH, max_tokens=2_000), lambda pilot: bool(pilot.app.no_color))
    check(make_app(acme), snap_compare, state)


@dataclass(frozen=True)
class Held:
    """Index runs that wait until they are released."""

    gate: threading.Event

    def index(self, **_: object) -> None:
        self.gate.wait(10)
        raise StoreError("closed")


def test_first_run(tmp_path: Path, snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    root, gate = tmp_path / "acme", threading.Event()
    root.mkdir()
    service = make_service(root)
    monkeypatch.setattr(service, "index", Held(gate).index)
    app = make_app(service)

    async def run_before(pilot: Pilot[None]) -> None:
        await wait_for(pilot, lambda _: app.index_state.phase == Phase.INDEXING)
        app.post_message(Indexing(Progress(120, 340, 900, "src/acme/retry.py")))
        await wait_for(pilot, lambda _: app.index_state.progress.done == 120)
        await pilot.pause()

    with released(gate):
        assert snap_compare(app, terminal_size=LARGE, run_before=run_before)


@pytest.mark.parametrize("phase", [Phase.OPENING, Phase.INDEXING, Phase.WAITING])
def test_an_index_that_is_there_is_not_read_for_the_first_time(
    acme: Service, monkeypatch: pytest.MonkeyPatch, phase: Phase
) -> None:
    gate = threading.Event()
    monkeypatch.setattr(acme, "index", Held(gate).index)
    app = KeyholeApp(acme.root, lambda: opens_late(gate), watches=False) if phase == Phase.OPENING else make_app(acme)

    async def look() -> str:
        async with app.run_test(size=LARGE) as pilot:
            await wait_for(pilot, lambda _: phase == Phase.OPENING or app.index_state.phase != Phase.OPENING)
            if phase == Phase.WAITING:
                app.post_message(IndexNotice(IndexMessage(IndexEvent.WAITING, "in whatever words")))
            await wait_for(pilot, lambda _: app.index_state.phase == phase)
            await pilot.pause(0.05)
            assert app.index_state.phase == phase
            results = explore(pilot).query_one(ResultList)
            said = "\n".join(results.render_line(y).text for y in range(results.size.height))
            gate.set()
            return said

    with released(gate):
        said = asyncio.run(look())
    assert "Search as your agent does" in said
    assert "first time" not in said


def opens_late(gate: threading.Event) -> Service:
    gate.wait(10)
    raise StoreError("closed")


@contextmanager
def released(gate: threading.Event) -> Iterator[None]:
    try:
        yield
    finally:
        gate.set()


def test_an_empty_folder(tmp_path: Path, snap_compare: Compare) -> None:
    root = tmp_path / "empty"
    root.mkdir()
    check(
        make_app(make_service(root)), snap_compare, State(asked(""), lambda pilot: explorer(pilot).status is not None)
    )


def test_an_index_that_cannot_be_used(acme: Service, snap_compare: Compare) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        pilot.app.post_message(IndexingFailed(StoreError("there is no room to write; free some, then press r")))
        await pilot.pause(0.05)

    check(make_app(acme), snap_compare, State(steps, lambda pilot: explorer(pilot).index_state.phase == Phase.FAILED))


def test_an_index_that_another_process_is_writing(tmp_path: Path, snap_compare: Compare) -> None:
    root = tmp_path / "acme"
    root.mkdir()
    (root / "a.py").write_text("def first(): pass\n")
    service = make_service(root)
    service.index()
    app = make_app(service)

    async def run_before(pilot: Pilot[None]) -> None:
        await wait_for(pilot, lambda _: app.index_state.phase == Phase.WAITING)
        explore(pilot).query_one(QueryLine).value = "first"
        await wait_for(pilot, lambda pilot: results_of(pilot).rows and explore(pilot).is_settled)
        await pilot.pause()

    with writer_lock(service.folder, wait=False):
        assert snap_compare(app, terminal_size=LARGE, run_before=run_before)
