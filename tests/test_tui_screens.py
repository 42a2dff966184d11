"""Going to another screen works from anywhere, and the top line says how."""

import re
from collections.abc import Callable, Iterable

import pytest
from driving import LARGE, MIDDLE, ask, drive, explore, make_app, press, settle, type_at_once
from test_tui_terminal import Terminal, root, start
from textual._compositor import Compositor
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.pilot import Pilot
from textual.screen import ModalScreen

from keyhole.core.service import Service
from keyhole.tui.app import KeyholeApp
from keyhole.tui.widgets.bars import TopBar
from keyhole.tui.widgets.query_line import QueryLine

__all__ = ["root", "start"]

SCREENS = {"1": "explore", "2": "files", "3": "traffic", "4": "stats"}
SMALLEST = (60, 16)


def top_line(pilot: Pilot[None]) -> str:
    return str(pilot.app.screen.query_one(TopBar).render())


def test_alt_and_a_digit_open_screens_while_text_is_typed(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        for digit, mode in SCREENS.items():
            pilot.app.switch_mode("explore")
            await settle(pilot)
            explore(pilot).query_one(QueryLine).focus()
            await type_at_once(pilot, "x", f"alt+{digit}")
            assert pilot.app.current_mode == mode
        assert explore_line(pilot) == "xxxx"

    drive(make_app(acme), steps)


def test_the_first_picture_is_styled_and_drawn_once(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_app(acme)
    drawn_early: list[bool] = []
    styled_together: list[int] = []
    draw, style = Compositor.render_update, Stylesheet.update_nodes

    def count_drawn(self: Compositor, *parts: object, **options: object) -> object:
        drawn_early.append(not app.is_set_up)
        return draw(self, *parts, **options)  # type: ignore[arg-type]

    def count_styled(self: Stylesheet, nodes: Iterable[DOMNode], animate: bool = False) -> None:
        nodes = list(nodes)
        styled_together.append(len(nodes))
        style(self, nodes, animate)

    monkeypatch.setattr(Compositor, "render_update", count_drawn)
    monkeypatch.setattr(Stylesheet, "update_nodes", count_styled)
    # The app closes as soon as it is drawn.
    monkeypatch.setattr(KeyholeApp, "_start", lambda app: app.exit())
    app.run(headless=True, size=LARGE)
    assert drawn_early
    assert not any(drawn_early)
    # The app with its screen, and the line that gets the focus; never all widgets again.
    assert max(styled_together) == 2


def explore_line(pilot: Pilot[None]) -> str:
    pilot.app.switch_mode("explore")
    return explore(pilot).query_one(QueryLine).value


@pytest.mark.parametrize(
    "opening", [["ctrl+p"], ["escape", "2", "f"], ["escape", "question_mark"], ["escape", "ctrl+o"]]
)
def test_dialogs_close_when_another_screen_is_opened(acme: Service, opening: list[str]) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, *opening)
        assert isinstance(pilot.app.screen, ModalScreen)
        await press(pilot, "alt+3")
        assert pilot.app.current_mode == "traffic"
        # Nothing is left open on the screen that was there before.
        await press(pilot, "alt+1", "alt+2")
        assert not any(isinstance(screen, ModalScreen) for screen in pilot.app.screen_stack)

    drive(make_app(acme), steps)


@pytest.mark.parametrize("size", [LARGE, MIDDLE, SMALLEST])
def test_the_top_line_shows_the_keys_that_work(acme: Service, size: tuple[int, int]) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        alt = r"alt\+" if size == LARGE else ""
        assert re.search(rf"alt\+1 Explore +{alt}2 Files +{alt}3 Traffic +{alt}4 Stats", top_line(pilot))
        await ask(pilot, "backoff", "enter")
        assert re.search(r"[ …] 1 Explore +2 Files +3 Traffic +4 Stats", top_line(pilot))
        assert "alt" not in top_line(pilot)
        await press(pilot, "slash")
        assert "alt+1 Explore" in top_line(pilot)
        assert len(top_line(pilot)) == size[0]

    drive(make_app(acme), steps, size)


def test_alt_and_a_digit_in_a_terminal(start: Callable[..., Terminal]) -> None:
    """Most terminals send Escape before the digit; those with the newer protocol, the numbers of the key and of Alt."""
    terminal = start()
    terminal.shows("✓ current")
    terminal.send_and_see("\x1b3", b"No calls yet")
    terminal.send_and_see("\x1b1", b"What an agent would get")
    terminal.send_and_see("\x1b[51;3u", b"No calls yet")
