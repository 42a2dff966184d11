"""The finder: files and symbols by some letters of their names, from any screen."""

import asyncio
import threading
from pathlib import Path

import pytest
from driving import (
    LARGE,
    drive,
    explore,
    explorer,
    files,
    make_app,
    make_service,
    press,
    settle,
    wait_for,
    wait_until,
)
from textual.pilot import Pilot
from textual.widgets import Input, Static

from keyhole.core.service import Service
from keyhole.core.types.inventory import Progress
from keyhole.tui.index_state import Phase
from keyhole.tui.messages import Indexing
from keyhole.tui.names_to_find import BOTH, FILES, SYMBOLS, NamesToFind, read_files, read_symbols
from keyhole.tui.screens.finder import FinderScreen
from keyhole.tui.screens.references_screen import ReferencesScreen
from keyhole.tui.widgets.finder_list import FinderList, marked_name
from keyhole.tui.widgets.line_view import LineView
from keyhole.tui.widgets.reference_preview import ReferencePreview


def finder(pilot: Pilot[None]) -> FinderScreen:
    assert isinstance(pilot.app.screen, FinderScreen)
    return pilot.app.screen


def list_of(pilot: Pilot[None]) -> FinderList:
    return finder(pilot).query_one(FinderList)


def names_in(pilot: Pilot[None]) -> list[str]:
    return [name.text for name in list_of(pilot).found.names]


def frame_of(pilot: Pilot[None]) -> str:
    box, count = finder(pilot).query_one("#finder"), finder(pilot).query_one("#finder-count", Static)
    return f"{box.border_title} {box.border_subtitle} {count.render()}"


async def type_in(pilot: Pilot[None], text: str) -> None:
    finder(pilot).query_one(Input).value = text
    await settle(pilot)


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyhole.tui.screens.finder.PREVIEW_SECONDS", 0.001)


async def find(pilot: Pilot[None], text: str) -> None:
    """Open the best match of a text."""
    await press(pilot, "ctrl+t")
    await type_in(pilot, text)
    await press(pilot, "enter")


def opened_in(pilot: Pilot[None]) -> str:
    opened = files(pilot).opened
    return opened.path if opened else ""


def test_from_every_screen_to_a_file_and_to_a_symbol(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        for mode, text, path in [
            ("explore", "acretry", "src/acme/retry.py"),
            ("files", "readme", "README.md"),
            ("traffic", "acretry", "src/acme/retry.py"),
        ]:
            pilot.app.switch_mode(mode)
            await settle(pilot)
            await find(pilot, text)
            assert (pilot.app.current_mode, opened_in(pilot)) == ("files", path)
            assert files(pilot).query_one("#view", LineView).has_focus
        # A symbol opens at its line.
        await press(pilot, "ctrl+t", "shift+tab")
        await type_in(pilot, "RetryPolicy.backoff")
        name = list_of(pilot).name_under_cursor
        assert name
        assert name.kind
        assert name.place.line > 1
        await press(pilot, "enter")
        opened = files(pilot).opened
        assert opened
        assert (opened.path, opened.marked.start) == name.place
        # From references, which are closed.
        await press(pilot, "u")
        assert isinstance(pilot.app.screen, ReferencesScreen)
        await find(pilot, "readme")
        assert pilot.app.screen_stack == [files(pilot)]
        assert opened_in(pilot) == "README.md"
        assert explorer(pilot).last_trail

    drive(make_app(acme), steps)


def test_typing_marks_counts_and_previews(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "ctrl+t")
        every = list_of(pilot).found
        assert every.count == every.total > 20
        assert f"{every.count} of {every.total}" in frame_of(pilot)
        await type_in(pilot, "acretry")
        found, preview = list_of(pilot).found, finder(pilot).query_one(ReferencePreview)
        assert names_in(pilot)[0] == "src/acme/retry.py"
        assert f"{found.count} of {every.total}" in frame_of(pilot)
        name = marked_name(found.names[0], "acretry")
        marked = [name.plain[span.start : span.end] for span in name.spans if "primary" in str(span.style)]
        assert (name.plain, marked) == ("src/acme/retry.py", ["ac", "retry"])
        assert preview.document.text.startswith('"""Retries with growing delays."""')
        # Below the best one are others, and the preview follows the cursor.
        await type_in(pilot, "retry")
        await press(pilot, "down")
        second = list_of(pilot).name_under_cursor
        assert second == list_of(pilot).found.names[1]
        assert str(preview.border_subtitle).startswith(second.place.path)
        await press(pilot, "up", "up")
        assert list_of(pilot).highlighted == len(names_in(pilot)) - 1
        await press(pilot, "pageup", "pagedown", "escape")
        assert pilot.app.screen is explore(pilot)

    drive(make_app(acme), steps)


def test_files_symbols_or_both(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape", "2", "f")
        assert finder(pilot).scope == FILES
        assert all(not name.kind for name in list_of(pilot).found.names)
        of_files = list_of(pilot).found.total
        await press(pilot, "tab")
        assert finder(pilot).scope == SYMBOLS
        assert all(name.kind for name in list_of(pilot).found.names)
        of_symbols = list_of(pilot).found.total
        await press(pilot, "tab")
        assert (finder(pilot).scope, list_of(pilot).found.total) == (BOTH, of_files + of_symbols)
        await press(pilot, "shift+tab", "shift+tab")
        assert finder(pilot).scope == FILES
        # The names of the tabs can be clicked.
        await pilot.click("#finder", offset=(11, 0))
        await settle(pilot)
        assert finder(pilot).scope == BOTH
        await press(pilot, "ctrl+t")
        assert len(pilot.app.screen_stack) == 2

    drive(make_app(acme), steps)


def test_nothing_found_says_what_to_try(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "ctrl+t", "tab")
        await type_in(pilot, "zzqqxx")
        assert list_of(pilot)._notice[0] == "[bold]○ No file matches[/]"
        assert list_of(pilot)._notice[-1] == "· Press tab to look for files and symbols."
        assert "0 of " in frame_of(pilot)
        await press(pilot, "enter", "down", "pagedown")
        assert isinstance(pilot.app.screen, FinderScreen)
        # There is one finder at a time, and none above another dialog.
        await press(pilot, "ctrl+t")
        assert len(pilot.app.screen_stack) == 2
        assert finder(pilot).query_one(ReferencePreview).document.text == ""

    drive(make_app(acme), steps)


def test_a_click_selects_and_another_one_opens(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "ctrl+t")
        await type_in(pilot, "acme .py")
        await pilot.click("#finder-list", offset=(3, 2))
        await settle(pilot)
        name = list_of(pilot).name_under_cursor
        assert list_of(pilot).highlighted == 2
        await pilot.click("#finder-list", offset=(3, 2))
        await settle(pilot)
        assert name
        assert opened_in(pilot) == name.place.path

    drive(make_app(acme), steps, size=LARGE)


def test_enter_waits_for_the_last_letters(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever types fast and presses Enter gets the best match of what was typed, not of what was on the screen."""
    gate = threading.Event()
    find = NamesToFind.find

    def find_late(names: NamesToFind, typed: str, scope: str) -> object:
        gate.wait(20)
        return find(names, typed, scope)

    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "ctrl+t")
        monkeypatch.setattr(NamesToFind, "find", find_late)
        await pilot.press(*"acre", "enter")
        assert isinstance(pilot.app.screen, FinderScreen)
        gate.set()
        await wait_until(pilot, lambda pilot: not isinstance(pilot.app.screen, FinderScreen))
        assert opened_in(pilot) == "src/acme/retry.py"

    drive(make_app(acme), steps)


def test_the_names_follow_the_index(tmp_path: Path) -> None:
    root = tmp_path / "growing"
    root.mkdir()
    (root / "first.py").write_text("def one(): pass\n")
    service = make_service(root)

    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "ctrl+t")
        assert names_in(pilot) == ["first.py", "one"]
        (root / "second.py").write_text("def two(): pass\n")
        explorer(pilot).index_again()
        await wait_for(pilot, lambda pilot: names_in(pilot) == ["first.py", "second.py", "one", "two"])
        await settle(pilot)
        # While files are being indexed, the frame says so and the names are read again by themselves.
        pilot.app.post_message(Indexing(Progress(1, 100, 0, "third.py")))
        await wait_for(pilot, lambda pilot: explorer(pilot).index_state.phase == Phase.INDEXING)
        await type_in_without_settling(pilot, "t")
        await wait_for(pilot, lambda pilot: "Indexing…" in frame_of(pilot))

    drive(make_app(service), steps)


async def type_in_without_settling(pilot: Pilot[None], text: str) -> None:
    finder(pilot).query_one(Input).value = text
    await pilot.pause(0)


def test_it_waits_for_a_workspace_that_opens_late(acme: Service) -> None:
    gate = threading.Event()

    def open_late() -> Service:
        gate.wait(20)
        return acme

    app = make_app(acme)
    app._open_service = open_late

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+t")
        await wait_for(pilot, lambda pilot: list_of(pilot)._notice == ("Reading the names…",))
        gate.set()
        await wait_until(pilot, names_in)

    async def run() -> None:
        async with app.run_test(size=LARGE) as pilot:
            await steps(pilot)

    asyncio.run(run())


def test_files_that_are_too_large_to_index_are_found(tmp_path: Path) -> None:
    root = tmp_path / "large"
    root.mkdir()
    (root / "small.py").write_text("def one(): pass\n")
    (root / "large.txt").write_text("a line of text\n" * 100_000)
    service = make_service(root)
    service.index()
    names = read_symbols(service, read_files(service))
    assert [name.text for name in names.find("", FILES).names] == ["large.txt", "small.py"]
    assert [name.text for name in names.find("", SYMBOLS).names] == ["one"]


def test_an_empty_workspace_has_no_names(tmp_path: Path) -> None:
    root = tmp_path / "empty"
    root.mkdir()
    names = read_symbols(make_service(root), read_files(make_service(root)))
    assert names.find("x", BOTH).total == 0


def test_a_star_is_a_glob() -> None:
    names = NamesToFind(["a_test.go", "src/b_test.go", "src/b.go", "src/deep/c.py"], [])
    assert [name.text for name in names.find("*_test.go", FILES).names] == ["a_test.go", "src/b_test.go"]
    assert [name.text for name in names.find("src/**/*.py", FILES).names] == ["src/deep/c.py"]
    found = names.find("*.go sb", BOTH)
    assert ([name.text for name in found.names], found.count) == (["src/b.go", "src/b_test.go"], 2)


def test_hidden_characters_of_a_name_are_escapes() -> None:
    (name,) = NamesToFind(["src/\u202eevil\x1b.py"], []).find("evil", FILES).names
    assert marked_name(name, "evil").plain == "src/\\u202eevil\\x1b.py"
