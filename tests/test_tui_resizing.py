"""Panes are resized by key and by mouse, within bounds, and keep their sizes."""

from pathlib import Path

import pytest
from acme import write_acme
from driving import ask, drive, explorer, files, make_app, make_service, press, settle
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.widget import Widget

from keyhole.core.service import Service
from keyhole.tui.screens.panes import PanesScreen
from keyhole.tui.screens.resizable import LEAST_HEIGHT, LEAST_WIDTH


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return make_service(write_acme(tmp_path / "acme"))


def screen_of(pilot: Pilot[None]) -> PanesScreen:
    assert isinstance(pilot.app.screen, PanesScreen)
    return pilot.app.screen


def panes(pilot: Pilot[None]) -> tuple[Widget, Widget]:
    return screen_of(pilot).list_pane, screen_of(pilot).view


def widths(pilot: Pilot[None]) -> tuple[int, int]:
    first, second = panes(pilot)
    return first.region.width, second.region.width


async def drag(pilot: Pilot[None], start: Offset, end: Offset) -> None:
    """Press the mouse button at a place, move to another and release it."""
    assert await pilot.mouse_down(offset=start) is not None
    await pilot.hover(offset=end)
    await pilot.mouse_up(offset=end)
    await settle(pilot)


async def go_explore(pilot: Pilot[None]) -> None:
    await ask(pilot, "retry", "enter")


async def go_files(pilot: Pilot[None]) -> None:
    explorer(pilot).open_file("src/acme/retry.py", 8)
    await settle(pilot)
    await press(pilot, "escape")


async def go_traffic(pilot: Pilot[None]) -> None:
    await press(pilot, "escape", "3")


async def go_references(pilot: Pilot[None]) -> None:
    await ask(pilot, "RetryPolicy mode:symbol", "enter", "u")


KEYS = {"{": "left_curly_bracket", "}": "right_curly_bracket"}
SCREENS = {"explore": go_explore, "files": go_files, "traffic": go_traffic, "references": go_references}


@pytest.mark.parametrize("name", SCREENS)
def test_keys_and_the_mouse_resize_the_panes_of_every_screen(service: Service, name: str) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await SCREENS[name](pilot)
        await resize_by_key(pilot, name)
        await resize_by_mouse(pilot)

    drive(make_app(service), steps)


async def resize_by_key(pilot: Pilot[None], name: str) -> None:
    usual = widths(pilot)
    await press(pilot, "right_curly_bracket")
    wider = widths(pilot)
    assert wider[0] > usual[0]
    assert sum(wider) == sum(usual)
    screen_of(pilot).view.focus()
    await press(pilot, "right_curly_bracket", "right_curly_bracket")
    assert widths(pilot)[1] > usual[1]
    assert explorer(pilot).pane_sizes[name] == pytest.approx(widths(pilot)[0] * 100 / sum(usual), abs=1)
    await press(pilot, "0")
    assert widths(pilot) == usual
    assert explorer(pilot).pane_sizes == {}


async def resize_by_mouse(pilot: Pilot[None]) -> None:
    """Drag each half of the border, and reset it with two clicks."""
    usual, (first, second) = widths(pilot), panes(pilot)
    for grip in (first.region.right - 1, second.region.x):
        place = Offset(grip, first.region.y + 3)
        await drag(pilot, place, place + Offset(10, 2))
        assert widths(pilot)[0] == pytest.approx(usual[0] + 10, abs=1)
        assert not pilot.app.screen.get_selected_text()
        assert pilot.app.mouse_captured is None
        await pilot.double_click(offset=Offset(second.region.x, first.region.y + 3))
        await settle(pilot)
        assert widths(pilot) == usual
    # Elsewhere, dragging moves nothing.
    inside = Offset(first.region.x + 8, first.region.y + 4)
    await drag(pilot, inside, inside + Offset(20, 0))
    assert widths(pilot) == usual


@pytest.mark.parametrize("size", [(100, 24), (200, 50)])
def test_no_pane_becomes_too_small(service: Service, size: tuple[int, int]) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await go_explore(pilot)
        for key, other in (("{", "}"), ("}", "{")):
            await pilot.press(*[KEYS[key]] * 16)
            await settle(pilot)
            edge = widths(pilot)
            assert min(edge) >= LEAST_WIDTH
            assert sum(edge) == size[0]
            # The size is kept in bounds, so one step back is seen at once.
            await press(pilot, KEYS[other])
            assert widths(pilot) != edge

    drive(make_app(service), steps, size)


@pytest.mark.parametrize("size", [(80, 24)])
def test_on_a_narrow_terminal_there_is_nothing_to_resize(service: Service, size: tuple[int, int]) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).pane_sizes["explore"] = 70
        await go_explore(pilot)
        await press(pilot, "right_curly_bracket")
        assert explorer(pilot).pane_sizes == {"explore": 70}
        assert panes(pilot)[0].region.width == size[0]
        await press(pilot, "enter")
        assert panes(pilot)[1].region.width == size[0]
        (notice,) = pilot.app._notifications
        assert "Only one pane" in notice.message

    drive(make_app(service), steps, size)


def test_a_zoomed_pane_is_as_wide_as_the_screen(service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await go_explore(pilot)
        await press(pilot, "right_curly_bracket")
        size = dict(explorer(pilot).pane_sizes)
        await press(pilot, "z", "right_curly_bracket")
        assert panes(pilot)[0].region.width == 120
        assert explorer(pilot).pane_sizes == size

    drive(make_app(service), steps)


@pytest.mark.parametrize("size", [(120, 36), (60, 16)])
def test_the_links_pane_gets_taller_and_lower(service: Service, size: tuple[int, int]) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await go_files(pilot)
        await press(pilot, "l")
        links, above = files(pilot).links, files(pilot).query_one("#panes")
        usual = links.region.height
        await pilot.press(*["right_curly_bracket"] * 6)
        await settle(pilot)
        assert links.region.height > usual
        assert above.region.height >= LEAST_HEIGHT - 1
        assert links.region.bottom == size[1] - 1
        await pilot.press(*["left_curly_bracket"] * 8)
        await settle(pilot)
        assert LEAST_HEIGHT <= links.region.height < usual
        grip = Offset(20, links.region.y)
        await drag(pilot, grip, grip - Offset(0, 2))
        assert links.region.y == pytest.approx(grip.y - 2, abs=1)
        await press(pilot, "l", "l")
        assert links.region.y == pytest.approx(grip.y - 2, abs=1)
        await press(pilot, "0")
        assert links.region.height == usual

    drive(make_app(service), steps, size)


def test_sizes_stay_when_screens_change_and_start_as_they_were_left(service: Service) -> None:
    app = make_app(service)
    app.pane_sizes["files"] = 65

    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape", "2")
        assert widths(pilot)[0] == pytest.approx(0.65 * 120, abs=1)
        await press(pilot, "1", "2")
        assert widths(pilot)[0] == pytest.approx(0.65 * 120, abs=1)
        assert explorer(pilot).state.last.pane_sizes == {"files": 65}

    drive(app, steps)


@pytest.mark.parametrize("share", [1, 5_000])
def test_any_size_from_a_file_leaves_room_for_both(service: Service, share: int) -> None:
    app = make_app(service)
    app.pane_sizes.update(files=share, links=share)

    async def steps(pilot: Pilot[None]) -> None:
        await go_files(pilot)
        await press(pilot, "l")
        assert min(widths(pilot)) >= LEAST_WIDTH
        assert sum(widths(pilot)) == 120
        assert files(pilot).links.region.bottom == 35
        assert files(pilot).query_one("#panes").region.height > 1

    drive(app, steps)
