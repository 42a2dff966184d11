"""Views of text: wrapping, finding, going to lines, marks, selecting with the mouse, and coming back."""

from pathlib import Path
from threading import current_thread
from typing import Any

import pytest
from driving import MIDDLE, ask, drive, explore, explorer, files, make_app, make_service, results_of, settle
from driving import press as press_each
from textual.content import Content
from textual.events import Key
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.widgets import Input, Static, Tree

from keyhole.core.index.rows import SymbolEntry
from keyhole.core.service import Service
from keyhole.core.types.view_requests import SearchRequest
from keyhole.tui import source_colours
from keyhole.tui.document import Document
from keyhole.tui.hit_marks import opening_line
from keyhole.tui.screens.help import HelpScreen
from keyhole.tui.screens.references_screen import ReferencesScreen
from keyhole.tui.sticky_header import enclosing
from keyhole.tui.widgets.file_tree import FileTree
from keyhole.tui.widgets.line_view import LineView
from keyhole.tui.widgets.links_pane import LinksPane
from keyhole.tui.widgets.reference_list import ReferenceList
from keyhole.tui.widgets.view_line import ViewLine

PROSE = "\n".join(f"{number} " + "words of some length " * (number % 9) for number in range(1, 501))
CODE = (
    "class Big:\n" + "\n".join(f"    def method_{n}(self):\n        return {n}\n" for n in range(200)) + "\nlast = 1\n"
)


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys one after the other, and wait for the last one only."""
    await pilot.press(*keys)
    await settle(pilot)


def view_of(pilot: Pilot[None]) -> LineView:
    return pilot.app.screen.query_one(LineView)


def rows_of(view: LineView) -> list[str]:
    return [view.render_line(y).text.rstrip() for y in range(view.scrollable_content_region.height)]


def note_of(pilot: Pilot[None]) -> str:
    return str(pilot.app.screen.query_one(".view-line--note", Static).visual)


async def show(pilot: Pilot[None], document: Document, line: int = 1) -> LineView:
    """Show a document on the Explore screen, with the focus in the view."""
    view = explore(pilot).query_one(LineView)
    view.show(document, line=line)
    view.focus()
    await pilot.pause()
    return view


@pytest.fixture
def large(tmp_path: Path) -> Service:
    root = tmp_path / "large"
    root.mkdir()
    (root / "big.py").write_text(CODE)
    (root / "user.py").write_text("from big import Big\n\n\ndef use():\n    return Big().method_7()\n")
    (root / "notes.md").write_text("# Notes\n\n" + PROSE + "\n\n[big](big.py)\n")
    for number in range(40):
        (root / f"other_{number:02}.py").write_text(f"value = {number}\n")
    return make_service(root)


# Wrapping


def test_w_wraps_long_lines_and_stays_at_the_same_line(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        view = await show(pilot, Document(PROSE, is_numbered=True), line=300)
        assert view.top_line > 280
        await press(pilot, "j", "j")
        top = view.top_line
        await press(pilot, "w")
        assert (view.top_line, view.is_wrapping, view.max_scroll_x) == (top, True, 0)
        assert all(cell_is_free for cell_is_free in (len(row) <= view.size.width for row in rows_of(view)))
        assert "".join(rows_of(view)).count("words of some length") >= 20
        await press(pilot, "w")
        assert (view.top_line, view.is_wrapping) == (top, False)

    drive(make_app(acme), steps)


def test_every_row_of_a_wrapped_text_is_reached_in_order(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        text = "\n".join(PROSE.splitlines()[:150])
        view = await show(pilot, Document(text, wraps=True))
        assert {row[:1] for row in rows_of(view)} == {" ", "↪"}
        seen = rows_of(view)
        while not view.is_vertical_scroll_end:
            view.scroll_relative(y=1, animate=False)
            seen.append(rows_of(view)[-1])
        assert " ".join(" ".join(row[1:] for row in seen).split()) == " ".join(text.split())
        # The same rows upwards, into lines that were only estimated before.
        await show(pilot, Document("", wraps=True))
        await show(pilot, Document(text, wraps=True))
        await press(pilot, "G")
        last = rows_of(view)
        assert last == seen[-len(last) :]
        back = list(reversed(last))
        while view.scroll_offset.y:
            view.scroll_relative(y=-1, animate=False)
            back.append(rows_of(view)[0])
        assert list(reversed(back)) == seen

    drive(make_app(acme), steps, size=(100, 20))


def test_a_resize_stays_at_the_same_line(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        view = await show(pilot, Document(PROSE, wraps=True), line=200)
        await press(pilot, "pagedown")
        top = view.top_line
        for width in (110, 140, 100, 120):
            await pilot.resize_terminal(width, 36)
            await settle(pilot)
            assert view.top_line == top

    drive(make_app(acme), steps)


def test_prose_and_answers_are_wrapped_and_code_is_not(large: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file("notes.md", 1)
        await settle(pilot)
        assert view_of(pilot).is_wrapping
        files(pilot).open("big.py")
        await settle(pilot)
        assert not view_of(pilot).is_wrapping
        await press(pilot, "1")
        await ask(pilot, "method", "enter", "]")
        assert view_of(pilot).is_wrapping
        await press(pilot, "]")
        assert view_of(pilot).is_wrapping

    drive(make_app(large), steps)


def test_a_line_that_continues_is_marked_and_scrolled_to(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        view = await show(pilot, Document("x" * 30 + "y" * 70 + "end\nshort", is_numbered=True))
        assert [row[-1] for row in rows_of(view)[:2]] == ["»", "t"]
        await press(pilot, *["right"] * 9)
        assert rows_of(view)[0].endswith("end")
        assert rows_of(view)[0].startswith(" 1 ")
        await press(pilot, "left")
        assert view.scroll_offset.x == view.max_scroll_x - 8
        await pilot.mouse_down(view)
        await press(pilot, *["left"] * 9)
        assert view.scroll_offset.x == 0

    drive(make_app(acme), steps, size=(120, 20))


def test_wide_and_hidden_characters_keep_to_the_width(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        text = "数据库" * 40 + "\n\tif x:\x1b[31m\u202e👩\u200d🚀❤\ufe0f" + "\t" * 20 + "end\n"
        for wraps in (True, False):
            view = await show(pilot, Document(text, is_numbered=True, wraps=wraps))
            width = view.scrollable_content_region.width
            strips = [view.render_line(y) for y in range(12)]
            assert {strip.cell_length for strip in strips} == {width}
            assert "\x1b" not in "".join(strip.text for strip in strips)
            assert any("\\x1b[31m" in strip.text for strip in strips)

    drive(make_app(acme), steps)


def test_a_wrapped_document_of_any_length_costs_what_is_on_the_screen(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        view = await show(pilot, Document("some words " * 30 + "\n", wraps=True))
        text = ("some words " * 30 + "\n") * 100_000
        view = await show(pilot, Document(text, is_numbered=True, wraps=True), line=50_000)
        assert len(view._shown_lines) <= 500
        assert view.is_in_view(range(50_000, 50_001))
        await press(pilot, "G")
        assert view.is_in_view(range(100_000, 100_001))
        assert len(view._shown_lines) <= 1_000
        await press(pilot, "g")
        assert view.top_line == 1

    drive(make_app(acme), steps)


# Going to lines


def test_a_line_is_gone_to_by_its_number(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        key = "colon"
        view = await show(pilot, Document(PROSE, is_numbered=True))
        await press(pilot, key)
        assert note_of(pilot) == "of 500 lines"
        await press(pilot, *"abc", "enter")
        assert note_of(pilot) == "Type a number from 1 to 500"
        await press(pilot, "ctrl+u", *"321", "enter")
        assert (view.current_line, view.has_focus) == (321, True)
        assert not pilot.app.screen.query(ViewLine)
        await press(pilot, "ctrl+g", *"99999999999999", "enter")
        assert view.current_line == 500
        await press(pilot, key, "1", "escape")
        assert (view.current_line, view.has_focus) == (500, True)
        await press(pilot, key, "enter")
        assert (view.current_line, len(pilot.app.screen.query(ViewLine))) == (500, 0)

    drive(make_app(acme), steps)


def test_half_pages_and_ends(large: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        view = await show(pilot, Document(PROSE, is_numbered=True))
        half = view.scrollable_content_region.height // 2
        await press(pilot, "ctrl+d", "ctrl+d", "ctrl+u")
        assert view.scroll_offset.y == half
        await press(pilot, "end")
        assert view.is_vertical_scroll_end
        await press(pilot, "home", "down", "down", "up")
        assert view.scroll_offset.y == 1
        await ask(pilot, "value limit:30")
        await press(pilot, "escape", "ctrl+d")
        results = results_of(pilot)
        results.focus()
        await press(pilot, "g", "ctrl+d")
        moved = results.highlighted
        assert moved == results.scrollable_content_region.height // 4
        await press(pilot, "ctrl+d", "ctrl+u")
        assert results.highlighted == moved
        await press(pilot, "2")
        tree = files(pilot).query_one(FileTree)
        tree.focus()
        await press(pilot, "g", "j", "j", "k")
        assert tree.cursor_line == 1
        await press(pilot, "ctrl+d")
        assert tree.cursor_line == 1 + tree.scrollable_content_region.height // 2
        await press(pilot, "G")
        assert tree.cursor_line == tree.last_line == 42
        assert tree.scroll_offset.y == tree.max_scroll_y
        await press(pilot, "ctrl+u", "home")
        assert (tree.cursor_line, tree.scroll_offset.y) == (0, 0)

    drive(make_app(large), steps)


def test_help_scrolls_too(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape", "question_mark")
        assert isinstance(pilot.app.screen, HelpScreen)
        box = pilot.app.screen.query_one("#help")
        assert box.max_scroll_y > 4
        await press(pilot, "G")
        assert box.scroll_y == box.max_scroll_y
        await press(pilot, "g", "j", "j", "k")
        assert box.scroll_y == 1
        await press(pilot, "ctrl+d")
        assert box.scroll_y > 1
        await press(pilot, "ctrl+u", "ctrl+u")
        assert box.scroll_y == 0

    drive(make_app(acme), steps, size=(80, 20))


# Finding


def test_a_text_is_found_while_it_is_typed(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        lines = ["start", *["x"] * 200, "Here", *["x"] * 50, "here", *["x"] * 300, "THERE"]
        view = await show(pilot, Document("\n".join(lines), is_numbered=True))
        await press(pilot, "ctrl+f", *"he")
        assert (view.current_line, note_of(pilot)) == (202, "1 of 3")
        await press(pilot, "enter")
        assert (view.current_line, note_of(pilot)) == (253, "2 of 3")
        await press(pilot, "f3", "f3")
        assert (view.current_line, note_of(pilot)) == (202, "1 of 3")
        await press(pilot, "shift+f3")
        assert (view.current_line, note_of(pilot)) == (554, "3 of 3")
        # A capital letter makes case count.
        await press(pilot, "backspace", "backspace", "H")
        assert (view.current_line, note_of(pilot)) == (202, "1 of 2")
        await press(pilot, *"zz")
        assert (view.current_line, note_of(pilot)) == (202, "No matches")
        top = view.scroll_offset
        await press(pilot, "escape")
        assert (view.has_focus, view.scroll_offset, view.is_finding) == (True, top, False)
        assert not pilot.app.screen.query(ViewLine)

    drive(make_app(acme), steps)


def test_what_is_typed_right_after_the_key_is_what_is_found(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        view = await show(pilot, Document("one\ntwo\nzero\nzero", is_numbered=True))
        # Without the find line, `z` would zoom and `e` open an editor.
        for key in ("ctrl+f", *"zero", "enter"):
            pilot.app.post_message(Key(key, key if len(key) == 1 else None))
        await settle(pilot)
        await pilot.pause(0.1)
        await settle(pilot)
        assert pilot.app.screen.query_one("ViewLine Input", Input).value == "zero"
        assert (view.current_line, note_of(pilot)) == (4, "2 of 2")
        for key in ("escape", "colon", "2", "enter", "j"):
            pilot.app.post_message(Key(key, key if len(key) == 1 else ":" if key == "colon" else None))
        await pilot.pause(0.1)
        await settle(pilot)
        assert (view.current_line, view.has_focus) == (2, True)

    drive(make_app(acme), steps)


def test_the_last_text_is_found_again_and_escape_unmarks_it(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        view = await show(pilot, Document("one\ntwo\none\ntwo\none", is_numbered=True))
        await press(pilot, "f3")
        assert pilot.app.screen.query(ViewLine)
        await press(pilot, *"one", "enter", "escape", "f3")
        assert (view.is_finding, view.current_line) == (True, 3)
        await press(pilot, "f3")
        assert view.current_line == 5
        await press(pilot, "escape")
        assert (view.is_finding, view.has_focus) == (False, True)
        await press(pilot, "escape")
        assert results_of(pilot).has_focus
        view.focus()
        # What was found last is there to be typed over.
        await press(pilot, "ctrl+f", *"two")
        assert pilot.app.screen.query_one("ViewLine Input", Input).value == "two"
        assert note_of(pilot) == "1 of 2"

    drive(make_app(acme), steps)


def test_a_match_far_to_the_right_comes_into_view(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        view = await show(pilot, Document("x" * 500 + "needle" + "x" * 500))
        await press(pilot, "ctrl+f", *"needle")
        assert "needle" in rows_of(view)[0]
        await press(pilot, "escape", "w", "ctrl+f", *"needle")
        assert any("needle" in row for row in rows_of(view))

    drive(make_app(acme), steps)


def test_finding_goes_on_in_another_text(large: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file("big.py", 1)
        await settle(pilot)
        await press(pilot, "ctrl+f", *"value")
        assert note_of(pilot) == "No matches"
        files(pilot).open("other_07.py")
        await settle(pilot)
        assert note_of(pilot) == "1 of 1"

    drive(make_app(large), steps)


def test_a_text_is_found_in_a_narrow_terminal(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter", "enter")
        await press(pilot, "ctrl+f", *"self")
        view = explore(pilot).query_one(LineView)
        line = pilot.app.screen.query_one(ViewLine)
        assert view.display
        assert (line.region.y, line.region.x, line.region.width) == (
            view.region.bottom - 1,
            view.region.x + 1,
            view.region.width - 2,
        )
        await pilot.resize_terminal(60, 16)
        await settle(pilot)
        assert (line.region.y, line.region.width) == (view.region.bottom - 1, view.region.width - 2)
        await press(pilot, "escape")
        assert view.has_focus

    drive(make_app(acme), steps, size=MIDDLE)


# Marks and the header


def test_a_result_is_marked_and_opened_at_its_line(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "/2\\*\\*att/", "enter")
        view = explore(pilot).query_one(LineView)
        assert (view.current_line, view.document.marked) == (16, range(16, 17))
        row = next(row for row in rows_of(view) if row.startswith(" 16"))
        assert row.startswith(" 16▎")
        assert view.document.marks.spans(view.document.lines[15], 16) == [(27, 33)]  # type: ignore[union-attr]
        await ask(pilot, "retry policy", "enter")
        marked = results_of(pilot).draw(0, 60)
        assert any("underline" in str(span.style) for line in marked for span in line.spans)
        await press(pilot, "o")
        opened = files(pilot).query_one(LineView)
        assert opened.document.marks
        assert opened.current_line == explore_line(pilot)

    def explore_line(pilot: Pilot[None]) -> int:
        pilot.app.switch_mode("explore")
        row = explore(pilot).row
        assert row
        return row.hit.line

    drive(make_app(acme), steps)


def test_a_result_with_a_quoted_part_opens_where_that_is(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, 'policy "policy.allows(attempt)"', "enter")
        assert explore(pilot).query_one(LineView).current_line == 30

    drive(make_app(acme), steps)


def test_the_opening_line_is_that_of_the_hit_without_quotes(acme: Service) -> None:
    acme.index()
    (hit, *_) = acme.search_page(SearchRequest("RetryPolicy"))[0].hits
    assert opening_line(hit, SearchRequest("RetryPolicy"), []) == hit.line


def entry(depth: int, name: str, start: int, end: int) -> SymbolEntry:
    return SymbolEntry(depth, name, "class", f"class {name}", start, end, "")


def test_the_header_shows_what_encloses_the_lines_in_view(large: Service) -> None:
    symbols = [entry(0, "A", 2, 9), entry(1, "B", 3, 5), entry(1, "C", 7, 9), entry(0, "D", 11, 12)]
    names = {line: [symbol.name for symbol in enclosing(symbols, line)] for line in range(1, 14)}
    assert names == {
        1: [],
        2: [],
        3: ["A"],
        4: ["A", "B"],
        5: ["A", "B"],
        6: ["A"],
        7: ["A"],
        8: ["A", "C"],
        9: ["A", "C"],
        10: [],
        11: [],
        12: ["D"],
        13: [],
    }

    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file("big.py", 1)
        await settle(pilot)
        view = view_of(pilot)
        assert rows_of(view)[0].endswith("class Big:")
        await press(pilot, "j")
        assert rows_of(view)[:2] == ["   2 class Big ▸ def method_0(self)", "   3         return 0"]
        assert view.top_line == view.current_line == 3
        await press(pilot, "j", "j")
        # Between two methods only the class is around.
        assert rows_of(view)[:2] == ["   1 class Big", "   5     def method_1(self):"]
        # A click on it goes to the definition.
        await pilot.click(view, offset=(12, 1))
        assert view.current_line == 1
        # Outside of definitions, the header takes no line.
        await press(pilot, "G")
        assert view.header
        view.show(Document(view.document.text + "x = 1\n" * 50, is_numbered=True, symbols=view.document.symbols))
        await press(pilot, "G")
        assert (view.header, rows_of(view)[0].split()[1:]) == ([], ["x", "=", "1"])

    drive(make_app(large), steps, size=(120, 20))


# The mouse


async def drag(pilot: Pilot[None], view: LineView, start: tuple[int, int], end: tuple[int, int]) -> None:
    corner = Offset(1, 1)
    await pilot.mouse_down(view, offset=corner + start)
    await pilot.hover(view, offset=corner + end)
    await pilot.mouse_up(view, offset=corner + end)
    await pilot.pause()


def test_what_is_selected_with_the_mouse_is_copied_exactly(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        view = await show(pilot, Document("first line\n\tindented\x1b\nlast line", is_numbered=True, lexer="text"))
        await drag(pilot, view, (3 + 6, 0), (3 + 3, 2))
        assert pilot.app.clipboard == "line\n\tindented\x1b\nlast"
        # From the numbers on, whole lines; tabs and hidden characters are one character each.
        await drag(pilot, view, (1, 1), (3 + 4, 1))
        assert pilot.app.clipboard == "\ti"
        await drag(pilot, view, (3 + 11, 1), (3 + 13, 1))
        assert pilot.app.clipboard == "d\x1b"
        # Clicks select nothing, and another text has nothing selected.
        pilot.app.copy_to_clipboard("before")
        await pilot.click(view, offset=(8, 2), times=3)
        assert (pilot.app.clipboard, view.current_line, view.text_selection) == ("before", 2, None)
        await drag(pilot, view, (3, 0), (3 + 4, 0))
        assert view.text_selection
        await show(pilot, Document("other"))
        assert pilot.app.clipboard == "first"
        assert not pilot.app.screen.selections

    drive(make_app(acme), steps)


def test_a_selection_over_wrapped_rows_is_the_text_of_the_file(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        text = "some words " * 20 + "\nnext"
        view = await show(pilot, Document(text, wraps=True))
        await drag(pilot, view, (1 + 5, 0), (1 + 3, 3))
        copied = pilot.app.clipboard
        assert copied.startswith("words some")
        assert copied in text
        assert len(copied) > 100
        await pilot.pause()
        await drag(pilot, view, (1, 0), (1 + 1, 4))
        assert "\n" not in pilot.app.clipboard or pilot.app.clipboard in text

    drive(make_app(acme), steps)


# Coming back


def test_history_restores_tab_cursor_and_scroll(large: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file("big.py", 100)
        await settle(pilot)
        view = view_of(pilot)
        await press_each(pilot, "ctrl+d", "j")
        there = view.place
        files(pilot).open("notes.md")
        await settle(pilot)
        await press_each(pilot, "]", "ctrl+d")
        assert files(pilot).tab == "Map"
        on_map = view.place
        await press_each(pilot, "<")
        assert (files(pilot).tab, files(pilot).opened.path, view.place) == ("Source", "big.py", there)  # type: ignore[union-attr]
        await press_each(pilot, ">")
        assert (files(pilot).tab, files(pilot).opened.path, view.place) == ("Map", "notes.md", on_map)  # type: ignore[union-attr]
        # Each tab of a file is where it was.
        await press_each(pilot, "<", "]", "[")
        assert (files(pilot).tab, view.place) == ("Source", there)

    drive(make_app(large), steps)


def test_places_in_one_file_are_come_back_to(large: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file("big.py", 100)
        await settle(pilot)
        view = view_of(pilot)
        files(pilot).open("big.py", range(400, 401))
        await settle(pilot)
        await press_each(pilot, "ctrl+d")
        second = view.place
        await press_each(pilot, "<")
        assert view.current_line == 100
        await press_each(pilot, "j")
        first = view.place
        await press_each(pilot, ">")
        assert view.place == second
        await press_each(pilot, "<")
        assert view.place == first

    drive(make_app(large), steps)


def test_the_file_stays_visible_in_the_tree_when_links_open(large: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        tree = files_tree(pilot)
        tree.focus()
        await press_each(pilot, "G", "enter", "l")
        assert files(pilot).query_one(LinksPane).display
        assert tree.scroll_offset.y <= tree.cursor_line < tree.scroll_offset.y + tree.scrollable_content_region.height

    def files_tree(pilot: Pilot[None]) -> Tree[object]:
        return files(pilot).query_one(Tree)

    async def start(pilot: Pilot[None]) -> None:
        await press_each(pilot, "escape", "2")
        await steps(pilot)

    drive(make_app(large), start, size=(120, 24))


def test_screens_are_as_they_were_left(large: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "method", "enter", "j", "enter", "ctrl+d")
        view, results = explore(pilot).query_one(LineView), results_of(pilot)
        before = view.place, results.highlighted, explore(pilot).tab
        await press_each(pilot, "o")
        assert pilot.app.current_mode == "files"
        await press_each(pilot, "1", "3", "4", "1")
        assert (view.place, results.highlighted, explore(pilot).tab) == before
        await press_each(pilot, "]", "2", "1")
        assert explore(pilot).tab == "Text"

    drive(make_app(large), steps)


def test_the_trail_of_references_restores_tab_cursor_and_scroll(large: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file("big.py", 23)
        await settle(pilot)
        await press_each(pilot, "u")
        screen = pilot.app.screen
        assert isinstance(screen, ReferencesScreen)
        await press_each(pilot, "c")
        rows, view = screen.query_one(ReferenceList), screen.query_one(LineView)
        assert rows.row
        await press_each(pilot, "v", "w")
        view.focus()
        await press_each(pilot, "colon", "2", "enter")
        rows.focus()
        before = rows.highlighted, view.place, screen.tab
        await press_each(pilot, "enter")
        assert len(screen.trail) == 2
        await press_each(pilot, "]", "escape")
        assert len(screen.trail) == 1
        assert (rows.highlighted, view.place, screen.tab) == before

    drive(make_app(large), steps)


# Colours


def test_opening_a_file_colours_nothing_in_the_interface(large: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Colouring a screen takes longer than a key may wait, so a worker does it."""
    threads: list[str] = []
    colour = source_colours.coloured

    def noted(*arguments: Any) -> list[Content]:
        threads.append(current_thread().name)
        return colour(*arguments)

    monkeypatch.setattr(source_colours, "coloured", noted)

    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "method_150", "enter")
        assert "def method_150" in "".join(rows_of(view_of(pilot)))
        await press(pilot, "t")
        explorer(pilot).open_file("big.py", 300)
        await settle(pilot)
        assert threads
        assert "MainThread" not in threads

    drive(make_app(large), steps)
