"""Snapshots of the palette, of the list of themes and of a theme of the user's own; each also asserts a fact."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest
from driving import LARGE, MIDDLE, ask, explorer, make_app, press, settle, type_at_once
from textual.pilot import Pilot

from keyhole.core.service import Service
from keyhole.tui.screens import explore as explore_module
from keyhole.tui.screens.palette_screen import PaletteScreen
from keyhole.tui.screens.theme_screen import ThemeScreen
from keyhole.tui.user_choices import choices_from

Steps = Callable[[Pilot[None]], Awaitable[None]]
SMALLEST = (60, 16)
MINE = {"primary": "#c2185b", "background": "#fffdf5", "foreground": "#222222", "dark": False}


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore_module, "DEBOUNCE_SECONDS", 0.001)
    monkeypatch.delenv("NO_COLOR", raising=False)


@dataclass(frozen=True)
class State:
    """A state: how to reach it, and a fact that holds there."""

    steps: Steps
    fact: Callable[[Pilot[None]], object]
    size: tuple[int, int] = LARGE
    theme: str = ""


def typed(text: str, *recent: str) -> Steps:
    """Open the palette from the search line, and type a text."""

    async def steps(pilot: Pilot[None]) -> None:
        for name in reversed(recent):
            explorer(pilot).state.add_command(name)
        await type_at_once(pilot, "ctrl+p", *text)

    return steps


async def themes(pilot: Pilot[None]) -> None:
    await ask(pilot, "backoff")
    await type_at_once(pilot, "ctrl+p", *"choose a theme", "enter")
    await press(pilot, *["down"] * 5)


async def results(pilot: Pilot[None]) -> None:
    await ask(pilot, "backoff", "enter")


def titles(pilot: Pilot[None]) -> list[str]:
    screen = pilot.app.screen
    assert isinstance(screen, PaletteScreen)
    return [command.title for command in screen.rows.commands]


STATES = {
    "palette-from-the-line": State(typed(""), lambda pilot: len(titles(pilot)) > 60, MIDDLE),
    "palette-recent": State(
        typed("", "Files/find-file", "Traffic/serve"), lambda pilot: titles(pilot)[0] == "Find a file by name"
    ),
    "palette-typed": State(typed("copy"), lambda pilot: "Copy" in titles(pilot)[0], SMALLEST),
    "palette-none": State(typed("qqqq"), lambda pilot: titles(pilot) == [], MIDDLE),
    "themes": State(themes, lambda pilot: isinstance(pilot.app.screen, ThemeScreen) and pilot.app.theme == "nord"),
    "own-theme": State(results, lambda pilot: pilot.app.theme == "mine", theme="mine"),
    "line-smallest": State(settle, lambda pilot: pilot.app.current_mode == "explore", SMALLEST),
}


@pytest.mark.parametrize("name", STATES)
def test_state(acme: Service, snap_compare: Callable[..., bool], name: str) -> None:
    state, app = STATES[name], make_app(acme)
    if state.theme:
        app.use_choices(choices_from({"theme": state.theme, "themes": {state.theme: MINE}}))

    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await state.steps(pilot)
        await settle(pilot)
        assert state.fact(pilot)

    assert snap_compare(app, run_before=before, terminal_size=state.size)
