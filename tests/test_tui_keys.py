"""What each key of the explorer does; every binding is tested."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from driving import (
    answer_of,
    ask,
    drive,
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
from textual.dom import DOMNode
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widgets import Tree

from keyhole.core.service import Service
from keyhole.core.syntax.parser_process import ParserProcess
from keyhole.core.types.choices import Detail, MapLevel
from keyhole.core.types.source_files import SkipReason
from keyhole.tui.app import KeyholeApp
from keyhole.tui.screens.explore import ExploreScreen
from keyhole.tui.screens.files import FilesScreen
from keyhole.tui.screens.finder import FinderScreen
from keyhole.tui.screens.help import HelpScreen
from keyhole.tui.screens.jump import JumpScreen
from keyhole.tui.screens.palette_screen import PaletteScreen
from keyhole.tui.screens.pick import PickScreen
from keyhole.tui.screens.references_screen import ReferencesScreen
from keyhole.tui.screens.why import WhyScreen
from keyhole.tui.screens.workspaces_screen import WorkspacesScreen
from keyhole.tui.search_state import SearchState
from keyhole.tui.widgets.line_view import LineView
from keyhole.tui.widgets.query_line import QueryLine, SearchLine
from keyhole.tui.widgets.results import ResultList

Check = Callable[[Pilot[None]], object]


def doing(*keys: str, then: Check) -> tuple[tuple[str, ...], Check]:
    """Press some keys before the tested one."""
    return keys, then


def lens_of(pilot: Pilot[None]) -> str:
    lens = explore(pilot).lens
    return lens.profile.id if lens else "raw"


Row = Check | tuple[tuple[str, ...], Check]
# What holds after each key, pressed on the first of ten results.
EXPLORE: dict[str, Row] = {
    "slash": lambda pilot: isinstance(pilot.app.focused, QueryLine),
    "f": lambda pilot: {hit.path for hit in answer_of(pilot).result.hits} == {answer_of(pilot).request.path},
    "y": lambda pilot: pilot.app.clipboard == answer_of(pilot).view.text,
    "Y": lambda pilot: json.loads(pilot.app.clipboard)["params"]["arguments"]["query"] == "handle event",
    "d": lambda pilot: answer_of(pilot).request.detail_level == Detail.RICH,
    "D": lambda pilot: answer_of(pilot).request.detail_level == Detail.MINIMAL,
    "minus": lambda pilot: answer_of(pilot).request.max_tokens == 15_000,
    "plus": lambda pilot: answer_of(pilot).request.max_tokens == 25_000,
    "equals_sign": lambda pilot: answer_of(pilot).request.max_tokens == 25_000,
    "n": lambda pilot: answer_of(pilot).request.offset == 10,
    "p": doing("n", then=lambda pilot: answer_of(pilot).request.offset == 0),
    "c": lambda pilot: explore(pilot).shows_left_out,
    "x": lambda pilot: isinstance(pilot.app.screen, WhyScreen),
    "o": lambda pilot: files(pilot).opened and files(pilot).query_one(LineView).has_focus,
    "u": lambda pilot: isinstance(pilot.app.screen, ReferencesScreen),
    "U": doing("u", "escape", then=lambda pilot: isinstance(pilot.app.screen, ReferencesScreen)),
    "right_square_bracket": lambda pilot: explore(pilot).tab == "Text",
    "left_square_bracket": lambda pilot: explore(pilot).tab == "Diff",
    "v": lambda pilot: explore(pilot).tab == "Diff",
    "z": lambda pilot: not explore(pilot).query_one(LineView).display,
    "escape": doing("enter", then=lambda pilot: results_of(pilot).has_focus),
    "enter": lambda pilot: explore(pilot).query_one(LineView).has_focus,
    "j": lambda pilot: results_of(pilot).highlighted == 1,
    "k": lambda pilot: results_of(pilot).highlighted == 9,
    "down": lambda pilot: results_of(pilot).highlighted == 1,
    "up": lambda pilot: results_of(pilot).highlighted == 9,
    "pagedown": lambda pilot: results_of(pilot).highlighted == 9,
    "pageup": doing("end", then=lambda pilot: results_of(pilot).highlighted == 0),
    "end": lambda pilot: results_of(pilot).highlighted == 9,
    "home": doing("j", "j", then=lambda pilot: results_of(pilot).highlighted == 0),
    "G": lambda pilot: results_of(pilot).highlighted == 9,
    "g": doing("G", then=lambda pilot: results_of(pilot).highlighted == 0),
    "1": doing("2", then=lambda pilot: pilot.app.current_mode == "explore"),
    "2": lambda pilot: pilot.app.current_mode == "files",
    "3": lambda pilot: pilot.app.current_mode == "traffic",
    "4": lambda pilot: pilot.app.current_mode == "stats",
    "alt+1": doing("alt+2", then=lambda pilot: pilot.app.current_mode == "explore"),
    "alt+2": lambda pilot: pilot.app.current_mode == "files",
    "alt+3": lambda pilot: pilot.app.current_mode == "traffic",
    "alt+4": lambda pilot: pilot.app.current_mode == "stats",
    "a": lambda pilot: explore(pilot).tab == "Text" and lens_of(pilot) == "claude",
    "A": lambda pilot: explore(pilot).tab == "Text" and lens_of(pilot) == "qwen",
    "ctrl+o": lambda pilot: isinstance(pilot.app.screen, JumpScreen),
    "question_mark": lambda pilot: isinstance(pilot.app.screen, HelpScreen),
    "f1": lambda pilot: isinstance(pilot.app.screen, HelpScreen),
    "t": lambda pilot: pilot.app.theme == "keyhole-light",
    "ctrl+t": lambda pilot: isinstance(pilot.app.screen, FinderScreen),
    "W": lambda pilot: isinstance(pilot.app.screen, WorkspacesScreen),
    "ctrl+p": lambda pilot: isinstance(pilot.app.screen, PaletteScreen),
}
# What holds after each key, pressed in the view of a file.
FILES: dict[str, Row] = {
    "f": lambda pilot: isinstance(pilot.app.screen, FinderScreen),
    "slash": lambda pilot: isinstance(pilot.app.screen, FinderScreen),
    "s": lambda pilot: isinstance(pilot.app.screen, PickScreen),
    "u": lambda pilot: isinstance(pilot.app.screen, ReferencesScreen),
    "U": doing("u", "escape", then=lambda pilot: isinstance(pilot.app.screen, ReferencesScreen)),
    "right_square_bracket": lambda pilot: files(pilot).tab == "Map",
    "left_square_bracket": lambda pilot: files(pilot).tab == "Map",
    "d": lambda pilot: (files(pilot).tab, files(pilot).level) == ("Map", MapLevel.FULL),
    "D": lambda pilot: (files(pilot).tab, files(pilot).level) == ("Map", MapLevel.TRUNCATED),
    "minus": lambda pilot: (files(pilot).tab, files(pilot).max_tokens) == ("Map", 15_000),
    "plus": lambda pilot: (files(pilot).tab, files(pilot).max_tokens) == ("Map", 25_000),
    "equals_sign": lambda pilot: (files(pilot).tab, files(pilot).max_tokens) == ("Map", 25_000),
    "y": lambda pilot: pilot.app.clipboard.startswith('"""Retries with growing delays."""'),
    "z": lambda pilot: not files(pilot).query_one(Tree).display,
    "escape": lambda pilot: files(pilot).query_one(Tree).has_focus,
    "j": lambda pilot: files(pilot).query_one(LineView).scroll_offset.y == 1,
    "k": doing("j", "j", then=lambda pilot: files(pilot).query_one(LineView).scroll_offset.y == 1),
    "G": lambda pilot: files(pilot).query_one(LineView).scroll_offset.y > 1,
    "g": doing("G", then=lambda pilot: files(pilot).query_one(LineView).scroll_offset.y == 0),
}
# Tested separately: here, in test_tui.py or test_tui_links.py, or through a terminal.
ELSEWHERE = {
    "s",
    "e",
    "q",
    "ctrl+q",
    "ctrl+c",
    "ctrl+z",
    "n",
    "p",
    "l",
    "i",
    "r",
    "less_than_sign",
    "greater_than_sign",
}
# Tested in test_tui_git.py and test_tui_resizing.py.
ELSEWHERE |= {"b", "0", "left_curly_bracket", "right_curly_bracket"}
# Tested in test_tui_views.py.
ELSEWHERE |= {"ctrl+d", "ctrl+u", "left", "right", "up", "down", "home", "end", "w", "ctrl+f", "f3", "shift+f3"}
ELSEWHERE |= {"shift+enter", "colon", "ctrl+g"}
# Tested in test_tui_bundles.py.
ELSEWHERE |= {"m", "M", "B"}
# Tested in test_token_costs.py.
ELSEWHERE |= {"h"}
LINE = {"enter", "tab", "down", "up"}
# Tested in test_tui_remembering.py.
HISTORY = {"ctrl+up", "ctrl+down", "ctrl+r", "ctrl+s"}


async def press_and_check(pilot: Pilot[None], key: str, row: Row) -> None:
    before, check = row if isinstance(row, tuple) else ((), row)
    await press(pilot, *before, key)
    assert check(pilot), key


def test_every_key_in_explore(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        for key, row in EXPLORE.items():
            await start_over(pilot)
            screen = explore(pilot)
            await ask(pilot, "")
            screen.tab, screen.shows_left_out, screen.search_state, screen.lens = "Preview", False, SearchState(), None
            screen.remove_class("-zoomed")
            screen.query_one(QueryLine).focus()
            await ask(pilot, "handle event", "enter")
            await press_and_check(pilot, key, row)

    drive(make_app(acme), steps)


def test_every_key_in_files(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        for key, row in FILES.items():
            await start_over(pilot)
            explorer(pilot).open_file("src/acme/retry.py", 1)
            await settle(pilot)
            screen = files(pilot)
            screen.level, screen.max_tokens = MapLevel.AUTO, 20_000
            screen.remove_class("-zoomed")
            await press_and_check(pilot, key, row)

    drive(make_app(acme), steps, size=(100, 20))


@pytest.mark.parametrize("mode", ["1", "2"])
def test_r_finds_what_has_changed(tmp_path: Path, mode: str) -> None:
    """Nothing watches the files here, so only an index run can find the second one."""
    root = tmp_path / "still"
    root.mkdir()
    (root / "first.py").write_text("x = 1\n")

    def known(pilot: Pilot[None]) -> list[str]:
        return [file.path for file in explorer(pilot).inventory.files]

    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape", mode)
        (root / "second.py").write_text("x = 2\n")
        await press(pilot, "j")
        assert known(pilot) == ["first.py"]
        await pilot.press("r")
        await wait_for(pilot, lambda pilot: known(pilot) == ["first.py", "second.py"])

    drive(make_app(make_service(root)), steps)


# A worker that ends at its first file, as one whose grammar crashes does.
CRASHING = """
import os, signal, sys
from keyhole.core.syntax.parser_worker import READY, read_frame, write_frame
write_frame(sys.stdout.buffer, READY)
read_frame(sys.stdin.buffer)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_r_parses_again_what_could_not_be_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "crashed"
    root.mkdir()
    (root / "first.py").write_text("x = 1\n")
    service = make_service(root)
    crashing = ParserProcess((sys.executable, "-P", "-c", CRASHING))
    with monkeypatch.context() as patched:
        patched.setattr("keyhole.core.index.pool.shared_parser", lambda: crashing)
        assert service.index().unparsed == 1

    def unparsed(pilot: Pilot[None]) -> int:
        status = explorer(pilot).status
        return status.skipped.get(SkipReason.UNPARSED, 0) if status else 0

    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape")
        # The run at the start is automatic, and does not try again.
        assert unparsed(pilot) == 1
        # The second request comes while the first run is under way, and must not be lost.
        explorer(pilot).index_again()
        await pilot.press("r")
        await wait_for(pilot, lambda pilot: unparsed(pilot) == 0)

    drive(make_app(service), steps)


async def start_over(pilot: Pilot[None]) -> None:
    """Close dialogs and references, and go to the first screen."""
    while isinstance(pilot.app.screen, ModalScreen | ReferencesScreen):
        pilot.app.pop_screen()
        await pilot.pause()
    pilot.app.switch_mode("explore")
    await pilot.pause()


def keys_of(owner: type[DOMNode]) -> set[str]:
    return {key for binding in owner.BINDINGS for key in binding.key.split(",")}  # type: ignore[union-attr]


def test_no_binding_is_left_out() -> None:
    for tested, owners in [
        (set(EXPLORE), (KeyholeApp, ExploreScreen, ResultList)),
        (set(FILES), (FilesScreen, LineView)),
        (LINE, (QueryLine,)),
        (HISTORY, (SearchLine,)),
    ]:
        for owner in owners:
            assert keys_of(owner) <= tested | ELSEWHERE, owner


def test_keys_that_terminals_confuse_are_not_bound() -> None:
    screens = (KeyholeApp, ExploreScreen, FilesScreen, ReferencesScreen, PickScreen, WhyScreen)
    for owner in (*screens, QueryLine, ResultList, LineView):
        assert not keys_of(owner) & {"ctrl+m", "ctrl+h", "ctrl+i", "ctrl+j"}


@pytest.mark.parametrize(("key", "code"), [("q", 0), ("ctrl+c", 130), ("ctrl+q", 0)])
def test_leaving(acme: Service, key: str, code: int) -> None:
    app = make_app(acme)

    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter")
        await pilot.press(key)

    drive(app, steps)
    assert app.return_code == code
