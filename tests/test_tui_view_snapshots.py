"""Snapshots of views: marks, wrapped text, the header, the find line, and text selected with the mouse."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from driving import LARGE, MIDDLE, answer_of, ask, explore, explorer, files, make_app, press, settle
from textual.geometry import Offset
from textual.pilot import Pilot

from keyhole.core.service import Service
from keyhole.core.types.choices import Detail
from keyhole.core.view.budget import limits
from keyhole.tui.document import Document
from keyhole.tui.screens import explore as explore_module
from keyhole.tui.search_state import SearchState
from keyhole.tui.widgets.line_view import LineView
from keyhole.tui.widgets.view_line import ViewLine

SMALLEST = (60, 16)
LONG = "A paragraph of prose that is one long line, as many people write them: wrapped where the view ends. " * 3
TEXT = f"# Notes\n\n{LONG}\n\n\tdef tab(self):\x1b[31m red \u202e right to left 数据库 👩\u200d🚀\n\n{LONG}\n"


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    # The workspace is small, so only a budget that is too small for agents shortens something.
    monkeypatch.setattr(limits, "MIN_TOKENS", 100)
    monkeypatch.setattr(explore_module, "DEBOUNCE_SECONDS", 0.001)
    monkeypatch.delenv("NO_COLOR", raising=False)


@dataclass(frozen=True)
class State:
    """A state of a view: how to reach it, and a fact that holds there."""

    steps: Callable[[Pilot[None]], Awaitable[None]]
    fact: Callable[[Pilot[None]], object]
    size: tuple[int, int] = LARGE
    theme: str = "keyhole-dark"
    has_colours: bool = True


def view_of(pilot: Pilot[None]) -> LineView:
    return pilot.app.screen.query_one(LineView)


def asked(line: str, *keys: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, line, *keys)

    return steps


def opened(path: str, line: int, *keys: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file(path, line)
        await settle(pilot)
        await press(pilot, *keys)

    return steps


def shown(document: Document, *keys: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    async def steps(pilot: Pilot[None]) -> None:
        view = explore(pilot).query_one(LineView)
        view.show(document)
        view.focus()
        await press(pilot, *keys)

    return steps


async def select(pilot: Pilot[None]) -> None:
    await opened("src/acme/retry.py", 1)(pilot)
    view = view_of(pilot)
    await pilot.mouse_down(view, offset=Offset(9, 3))
    await pilot.hover(view, offset=Offset(14, 7))
    await pilot.mouse_up(view, offset=Offset(14, 7))
    await settle(pilot)
    explorer(pilot).clear_notifications()
    await pilot.pause()


async def show_in_full(pilot: Pilot[None]) -> None:
    explore(pilot).search_state = SearchState(detail=Detail.RICH, max_tokens=800)
    await ask(pilot, "handle event limit:10", "enter", "s")


def is_finding(pilot: Pilot[None]) -> bool:
    return view_of(pilot).is_finding and bool(pilot.app.screen.query(ViewLine))


STATES = {
    "marks": State(asked("retry policy", "enter"), lambda pilot: view_of(pilot).document.marks),
    "marks-light": State(
        asked("retry policy", "enter"), lambda pilot: view_of(pilot).document.marks, theme="keyhole-light"
    ),
    "marks-without-colours": State(asked("retry policy", "enter"), lambda pilot: pilot.app.no_color, has_colours=False),
    "exact-line": State(
        asked(r"/attempt\w*/", "enter", "j", "j"), lambda pilot: len(view_of(pilot).document.marked) == 1
    ),
    "wrapped": State(shown(Document(TEXT, is_numbered=True, wraps=True)), lambda pilot: view_of(pilot).is_wrapping),
    "not-wrapped": State(
        shown(Document(TEXT, is_numbered=True, wraps=True), "w"), lambda pilot: not view_of(pilot).is_wrapping, MIDDLE
    ),
    "header": State(
        opened("src/acme/retry.py", 1, "ctrl+d", *"jjjj"), lambda pilot: len(view_of(pilot).header) == 2, (100, 16)
    ),
    "finding": State(asked("backoff", "enter", "enter", "ctrl+f", *"self", "enter"), is_finding),
    "finding-narrow": State(asked("backoff", "enter", "enter", "ctrl+f", *"self"), is_finding, MIDDLE),
    "finding-smallest": State(asked("backoff", "enter", "enter", "ctrl+f", *"self"), is_finding, SMALLEST),
    "finding-nothing": State(asked("backoff", "enter", "enter", "ctrl+f", *"selfish"), is_finding, MIDDLE),
    "going-to-line": State(
        opened("src/acme/retry.py", 1, "colon", "x", "enter"), lambda pilot: pilot.app.screen.query(ViewLine)
    ),
    "gone-to-line": State(
        opened("src/acme/retry.py", 1, "colon", "3", "0", "enter"), lambda pilot: view_of(pilot).current_line == 30
    ),
    "shown-in-full": State(show_in_full, lambda pilot: answer_of(pilot).request.offset),
    "selected": State(select, lambda pilot: files(pilot).view.text_selection, (100, 20)),
}


@pytest.mark.parametrize("name", STATES)
def test_state(name: str, acme: Service, snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> None:
    state = STATES[name]
    if not state.has_colours:
        monkeypatch.setenv("NO_COLOR", "1")
    app: Any = make_app(acme)
    app.theme = state.theme

    async def steps(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await state.steps(pilot)
        assert state.fact(pilot)

    assert snap_compare(app, terminal_size=state.size, run_before=steps)
