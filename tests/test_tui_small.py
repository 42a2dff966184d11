"""A terminal that becomes too small and large again: the focus is where it was, and no key acts unseen."""

import pytest
from driving import LARGE, SMALL, ask, drive, explore, explorer, make_app, press, settle
from textual.pilot import Pilot

from keyhole.core.service import Service
from keyhole.tui.widgets.query_line import QueryLine


async def shrink_and_grow(pilot: Pilot[None], *keys: str, size: tuple[int, int] = SMALL) -> None:
    """Make the terminal too small, press keys, and make it large again."""
    await pilot.resize_terminal(*size)
    await settle(pilot)
    for key in keys:
        await pilot.press(key)
    await pilot.resize_terminal(*LARGE)
    await settle(pilot)


@pytest.mark.parametrize("size", [SMALL, (30, 40), (120, 5), (1, 1)])
def test_typing_continues_where_it_was(acme: Service, size: tuple[int, int]) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        line = explore(pilot).query_one(QueryLine)
        await pilot.press(*"retr")
        await shrink_and_grow(pilot, size=size)
        assert pilot.app.focused is line
        await pilot.press(*"y q")
        await settle(pilot)
        assert line.value == "retry q"
        assert pilot.app.is_running

    drive(make_app(acme), steps)


@pytest.mark.parametrize("place", ["results", "files", "traffic", "help", "palette"])
def test_every_place_gets_its_focus_back(acme: Service, place: str) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "retry", "enter")
        keys = {"results": (), "files": ("2",), "traffic": ("3",), "help": ("question_mark",), "palette": ("ctrl+p",)}
        await press(pilot, *keys[place])
        before, screens = pilot.app.focused, list(pilot.app.screen_stack)
        await shrink_and_grow(pilot, "j", "s", "4", "ctrl+p", "escape", "enter")
        assert list(pilot.app.screen_stack) == screens
        assert pilot.app.focused is before
        assert before is not None

    drive(make_app(acme), steps)


def test_no_key_acts_while_nothing_is_shown(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        theme = pilot.app.theme
        await ask(pilot, "retry", "enter")
        await shrink_and_grow(pilot, "t", "q", "2")
        assert pilot.app.is_running
        assert (pilot.app.theme, pilot.app.current_mode) == (theme, "explore")

    drive(make_app(acme), steps)


def test_it_can_be_left_while_nothing_is_shown(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await pilot.resize_terminal(*SMALL)
        await pilot.press("ctrl+q")
        await pilot.pause()
        assert explorer(pilot)._exit

    drive(make_app(acme), steps)


def test_a_start_in_a_small_terminal(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await pilot.resize_terminal(*LARGE)
        await settle(pilot)
        assert pilot.app.focused is explore(pilot).query_one(QueryLine)

    drive(make_app(acme), steps, SMALL)
