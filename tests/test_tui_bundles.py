"""Marking in the explorer, and the tray that shows what is marked and what it costs."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from driving import MIDDLE, ask, drive, explore, explorer, files, make_app, press, settle
from test_tui_snapshots import Compare, State, check
from textual.pilot import Pilot
from textual.widgets import Input, Tree

from keyhole.core.service import Service
from keyhole.core.types.bundle import Bundle, BundleItem, BundleRequest, BundleStyle
from keyhole.core.view.budget.tokens import estimate_tokens
from keyhole.tui.screens import explore as explore_module
from keyhole.tui.screens.bundle_screen import BundleList, BundleScreen
from keyhole.tui.screens.references_screen import ReferencesScreen
from keyhole.tui.widgets.gauge import Gauge
from keyhole.tui.widgets.line_view import LineView

TINY = (60, 16)
RETRY = "src/acme/retry.py"


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore_module, "DEBOUNCE_SECONDS", 0.001)
    monkeypatch.delenv("NO_COLOR", raising=False)


def marked(pilot: Pilot[None]) -> list[tuple[str, int, int, str]]:
    return [item.place for item in explorer(pilot).bundle.items]


def tray(pilot: Pilot[None]) -> BundleScreen:
    assert isinstance(pilot.app.screen, BundleScreen)
    return pilot.app.screen


def test_results_lines_and_symbols_are_marked_and_unmarked(unasked_service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter", "m")
        row = explore(pilot).row
        assert row
        result = (row.hit.path, row.hit.start_line, row.hit.end_line, "")
        assert marked(pilot) == [result]
        await press(pilot, "M")
        assert marked(pilot)[1] == (row.hit.path, 0, 0, row.hit.qualified_name)
        await press(pilot, "m")
        assert marked(pilot) == [(row.hit.path, 0, 0, row.hit.qualified_name)]
        await press(pilot, "M", "enter", "m")
        line = explore(pilot).view.current_line
        assert marked(pilot) == [(row.hit.path, line, line, "")]
        # What the explorer keeps is what agents get.
        assert unasked_service.marked_bundle() == explorer(pilot).bundle
        assert unasked_service.bundle_file.stat().st_mode & 0o077 == 0

    drive(make_app(unasked_service), steps)


def test_files_maps_and_references_can_be_marked(unasked_service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file(RETRY, 1)
        await settle(pilot)
        await press(pilot, "]", "m", "enter")
        assert [path for path, *_, symbol in marked(pilot) if symbol] == [RETRY]
        await press(pilot, "escape", "m")
        assert marked(pilot)[1] == (RETRY, 0, 0, "")
        tree = files(pilot).query_one(Tree)
        tree.move_cursor(next(node for node in tree.root.children if str(node.label).startswith("src")))
        await press(pilot, "m")
        inside = [file.path for file in explorer(pilot).inventory.files if file.path.startswith("src/")]
        assert {path for path, *_ in marked(pilot)} == set(inside)
        await press(pilot, "m")
        assert [path for path, *_, symbol in marked(pilot)] == [RETRY]
        await press(pilot, "1")
        await ask(pilot, "backoff", "enter", "u", "m")
        screen = pilot.app.screen
        assert isinstance(screen, ReferencesScreen)
        row = screen.query_one("#references").row  # type: ignore[attr-defined]
        assert marked(pilot)[-1] == (row.place.path, row.place.line, row.place.line, "")

    drive(make_app(unasked_service), steps)


def test_the_tray_shows_what_is_exported(unasked_service: Service, tmp_path: Path) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "handle event", "enter", "m", "j", "m", "j", "m", "B")
        screen = tray(pilot)
        bundle = explorer(pilot).bundle
        for style in BundleStyle:
            view = unasked_service.bundle_view(BundleRequest(bundle, style, max_tokens=20_000))
            assert screen.query_one(LineView).document.text == view.text
            await press(pilot, "y")
            assert pilot.app.clipboard == view.text
            gauge = screen.query_one(Gauge).view
            assert gauge
            assert gauge.truncation.estimated_tokens == estimate_tokens(view.text)
            await press(pilot, "f")
        assert explorer(pilot).bundle_tokens == estimate_tokens(screen.query_one(LineView).document.text)
        for name in ("list.toml", "text.md"):
            await press(pilot, "s")
            pilot.app.screen.query_one(Input).value = str(tmp_path / name)
            await press(pilot, "enter")
        assert (tmp_path / "text.md").read_text() == screen.query_one(LineView).document.text
        (tmp_path / "work").mkdir()
        await press(pilot, "x")
        assert len(marked(pilot)) == 2 == len(screen.query_one(BundleList).items)
        await press(pilot, "enter")
        assert pilot.app.current_mode == "files"

    drive(make_app(unasked_service), steps)
    from keyhole.core.view.bundles.bundle_file import parse_bundle

    assert len(parse_bundle((tmp_path / "list.toml").read_text(), "list").items) == 3


def test_marks_come_back_and_a_damaged_file_is_no_problem(unasked_service: Service) -> None:
    unasked_service.keep_bundle(Bundle((BundleItem(RETRY),)))

    async def steps(pilot: Pilot[None]) -> None:
        assert marked(pilot) == [(RETRY, 0, 0, "")]
        assert explorer(pilot).bundle_tokens

    drive(make_app(unasked_service), steps)
    unasked_service.bundle_file.write_text("items = 3")

    async def damaged(pilot: Pilot[None]) -> None:
        assert marked(pilot) == []
        await ask(pilot, "backoff", "enter", "m")
        assert len(marked(pilot)) == 1

    drive(make_app(unasked_service), damaged)


def with_marks(*keys: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).marking.toggle(BundleItem(RETRY), BundleItem("src/acme/handlers/paid.py", symbol="handle_paid"))
        await settle(pilot)
        explorer(pilot).marking.toggle(*(BundleItem(RETRY, line, line + 20) for line in range(1, 100, 4)))
        await settle(pilot)
        pilot.app.clear_notifications()
        await press(pilot, "escape", "B", *keys)

    return steps


async def with_signs(pilot: Pilot[None]) -> None:
    await ask(pilot, "handle event", "enter", "m", "j", "j", "M")
    pilot.app.clear_notifications()
    await settle(pilot)


def has_left_out(pilot: Pilot[None]) -> bool:
    view = tray(pilot).shown_view
    return view is not None and view.completeness == "left out"


LOW = ("minus",) * 9
STATES = {
    "tray": State(with_marks(), lambda pilot: tray(pilot).shown_view is not None),
    "tray-left-out": State(with_marks(*LOW, "G"), has_left_out),
    "tray-xml-80": State(with_marks("f", "f"), lambda pilot: tray(pilot).style_shown == "xml", MIDDLE),
    "tray-60": State(with_marks(*LOW), has_left_out, TINY),
    "tray-empty": State(lambda pilot: press(pilot, "escape", "B"), lambda pilot: tray(pilot).shown_view is None),
    "tray-light": State(lambda pilot: press(pilot, "escape", "t", "B"), lambda pilot: not pilot.app.current_theme.dark),
    "signs": State(with_signs, lambda pilot: len(marked(pilot)) == 2),
}


@pytest.mark.parametrize("name", STATES)
def test_bundle_state(unasked_service: Service, snap_compare: Compare, name: str) -> None:
    check(make_app(unasked_service), snap_compare, STATES[name])


def test_tray_without_colour(unasked_service: Service, snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    check(make_app(unasked_service), snap_compare, State(with_marks(*LOW), lambda pilot: bool(pilot.app.no_color)))
