"""References in the explorer: opening them, switching the relation, following callers, pages, errors and pictures."""

import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from driving import (
    LARGE,
    MIDDLE,
    ask,
    drive,
    explorer,
    files,
    make_app,
    press,
    settle,
    wait_for,
    wait_until,
)
from textual.binding import Binding
from textual.pilot import Pilot
from textual.widgets import OptionList
from uses import write_uses

from keyhole.core.errors import DeadlineError, ErrorKind, QueryError
from keyhole.core.links.requests import ReferenceRelation, ReferencesRequest, RelationRequest
from keyhole.core.service import Service
from keyhole.core.types.choices import Format
from keyhole.core.types.index import IndexVersion
from keyhole.tui.history import Place
from keyhole.tui.palette_commands import offered_commands
from keyhole.tui.reference_trail import TrailStep
from keyhole.tui.screens import references_screen as screen_module
from keyhole.tui.screens.explore import ExploreScreen
from keyhole.tui.screens.files import FilesScreen
from keyhole.tui.screens.help import HelpScreen
from keyhole.tui.screens.pick import PickScreen
from keyhole.tui.screens.references_screen import ReferencesScreen
from keyhole.tui.widgets import links_pane as pane_module
from keyhole.tui.widgets.answer_banner import Banner
from keyhole.tui.widgets.line_view import LineView
from keyhole.tui.widgets.links_pane import LinksPane
from keyhole.tui.widgets.reference_list import ReferenceList
from keyhole.tui.widgets.trail_line import TrailLine

Steps = Callable[[Pilot[None]], Awaitable[None]]
Compare = Callable[..., bool]
PRICES, CART, MAIN = "shop/prices.py", "shop/cart.py", "main.py"
WITH_TAX, ITEM, PRICE, LABEL, TOTAL, UNUSED = (
    Place(PRICES, 6),
    Place(PRICES, 11),
    Place(PRICES, 17),
    Place(PRICES, 21),
    Place(CART, 12),
    Place(CART, 26),
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return write_uses(tmp_path_factory.mktemp("uses") / "shop")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return write_uses(tmp_path_factory.mktemp("many") / "shop", callers=130)


def screen_of(pilot: Pilot[None]) -> ReferencesScreen:
    assert isinstance(pilot.app.screen, ReferencesScreen)
    return pilot.app.screen


def list_of(pilot: Pilot[None]) -> ReferenceList:
    return screen_of(pilot).query_one(ReferenceList)


def titles(pilot: Pilot[None]) -> list[str]:
    return [f"{row.first} {row.note}" for row in list_of(pilot).rows if row.is_title]


def rows(pilot: Pilot[None]) -> list[str]:
    return [row.first.strip() for row in list_of(pilot).rows if not row.is_title]


def said(pilot: Pilot[None]) -> str:
    """The text in the list, without line breaks."""
    found = list_of(pilot)
    return " ".join(" ".join(found.render_line(y).text for y in range(found.size.height)).split())


def trail(pilot: Pilot[None]) -> list[str]:
    return [step.name for step in screen_of(pilot).trail]


def preview_of(pilot: Pilot[None]) -> LineView:
    return screen_of(pilot).query_one(LineView)


async def show(pilot: Pilot[None], place: Place, *keys: str) -> None:
    explorer(pilot).show_references(TrailStep(place))
    await settle(pilot)
    await press(pilot, *keys)


# Opening


def test_the_references_of_a_result_are_grouped_by_certainty(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "price mode:symbol path:shop/prices.py", "enter", "u")
        assert titles(pilot) == ["certain 3", "by name 1"]
        assert rows(pilot) == [f"{PRICES}:23", f"{PRICES}:31", f"{PRICES}:35", f"{CART}:14"]
        assert [row.note for row in list_of(pilot).rows if not row.is_title] == ["call"] * 4
        assert preview_of(pilot).document.marked == range(23, 24)
        await press(pilot, "end")
        assert preview_of(pilot).document.marked == range(14, 15)
        assert preview_of(pilot).document.text == (shop.root / CART).read_text()

    drive(make_app(shop), steps)


def test_a_reference_that_is_only_likely_says_so(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, LABEL)
        assert titles(pilot) == ["certain 1", "likely 1"]

    drive(make_app(shop), steps)


def test_enter_opens_a_reference_and_a_key_reopens_the_list(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, PRICE, "down", "enter")
        assert isinstance(pilot.app.screen, FilesScreen)
        opened = files(pilot).opened
        assert opened is not None
        assert (opened.path, opened.marked) == (PRICES, range(31, 32))
        await press(pilot, "U")
        assert list_of(pilot).highlighted == 2
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, FilesScreen)

    drive(make_app(shop), steps)


def test_without_earlier_references_there_is_nothing_to_reopen(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "with_tax", "enter", "U")
        assert isinstance(pilot.app.screen, ExploreScreen)

    drive(make_app(shop), steps)


def test_a_marked_symbol_in_files_has_references(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file(PRICES, 6)
        await settle(pilot)
        await press(pilot, "u")
        assert trail(pilot) == ["with_tax"]
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, FilesScreen)

    drive(make_app(shop), steps)


def test_without_a_marked_line_files_asks_for_the_symbol(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file(PRICES, 6)
        await settle(pilot)
        # The marked line is out of view, and the class Discounted is at its top.
        await press(pilot, *"jjjjjjjjjjjjjjjjjjjjjj", "u")
        assert isinstance(pilot.app.screen, PickScreen)
        await press(pilot, "enter")
        assert trail(pilot) == ["Discounted"]

    drive(make_app(shop), steps, size=(100, 20))


def test_the_list_of_symbols_still_goes_to_one(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file(PRICES, 6)
        await settle(pilot)
        await press(pilot, "s")
        assert pilot.app.screen.query_one(OptionList).highlighted == 1
        await press(pilot, "enter")
        opened = files(pilot).opened
        assert opened is not None
        assert opened.marked == range(6, 9)

    drive(make_app(shop), steps)


def test_a_click_marks_a_line_of_the_source(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file(PRICES, 1)
        await settle(pilot)
        await pilot.click("#view", offset=(10, 17))
        await settle(pilot)
        assert files(pilot).view.document.marked == range(17, 18)
        await press(pilot, "u")
        assert trail(pilot) == ["Item.price"]

    drive(make_app(shop), steps)


def test_without_a_file_or_a_result_the_key_opens_nothing(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "zzqqxx", "enter", "u")
        assert isinstance(pilot.app.screen, ExploreScreen)
        await press(pilot, "escape", "2", "u")
        assert isinstance(pilot.app.screen, FilesScreen)

    drive(make_app(shop), steps)


# Relations


def test_keys_and_arrows_switch_the_relation(shop: Service) -> None:
    def relation(pilot: Pilot[None]) -> str:
        return str(screen_of(pilot).step.relation)

    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, WITH_TAX)
        for key, expected in {"c": "callers", "C": "callees", "h": "hierarchy", "u": "references"}.items():
            await press(pilot, key)
            assert relation(pilot) == expected
        for key, expected in [("right", "callers"), ("left", "references"), ("left", "hierarchy")]:
            await press(pilot, key)
            assert relation(pilot) == expected
        await pilot.click("#references", offset=(16, 0))
        await settle(pilot)
        assert relation(pilot) == "callers"
        assert trail(pilot) == ["with_tax"]

    drive(make_app(shop), steps)


def test_callers_callees_and_relatives(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, WITH_TAX, "c")
        assert rows(pilot) == ["Cart.total", "Item.price", "Bundle.price"]
        assert [row.note for row in list_of(pilot).rows][-1] == "2 calls"
        await show(pilot, Place(CART, 16), "C")
        assert titles(pilot) == ["certain 1", "likely 1"]
        assert rows(pilot) == ["Cart.total", "Item.label"]
        await show(pilot, ITEM, "h")
        assert titles(pilot) == ["subclass 1"]
        assert rows(pilot) == ["class Discounted"]
        await show(pilot, PRICE, "h")
        assert titles(pilot) == ["overridden by 1"]
        await show(pilot, Place(CART, 21), "c")
        assert rows(pilot) == ["top level"]
        await press(pilot, "enter")
        opened = files(pilot).opened
        assert opened is not None
        assert (opened.path, opened.marked) == (MAIN, range(8, 9))

    drive(make_app(shop), steps)


def test_enter_follows_callers_and_two_keys_go_back(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, WITH_TAX, "c", "enter")
        assert (trail(pilot), rows(pilot)) == (["with_tax", "Cart.total"], ["Cart.lines"])
        await press(pilot, "enter")
        assert (trail(pilot), rows(pilot)) == (["with_tax", "Cart.total", "Cart.lines"], ["checkout"])
        line = screen_of(pilot).query_one(TrailLine)
        assert line.display
        assert str(line.render()) == "with_tax callers → Cart.total callers → Cart.lines"
        await press(pilot, "backspace")
        assert (trail(pilot), rows(pilot)) == (["with_tax", "Cart.total"], ["Cart.lines"])
        await press(pilot, "escape", "down", "enter", "escape")
        # The cursor is where it was.
        assert list_of(pilot).highlighted == 2
        assert trail(pilot) == ["with_tax"]
        assert not line.display
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, ExploreScreen)

    drive(make_app(shop), steps)


def test_a_click_on_the_trail_goes_back_to_a_step(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, WITH_TAX, "c", "enter", "enter")
        await pilot.click(TrailLine, offset=(4, 0))
        await settle(pilot)
        assert trail(pilot) == ["with_tax"]

    drive(make_app(shop), steps)


def test_a_click_selects_a_row_and_a_second_one_follows_it(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, WITH_TAX, "c")
        await pilot.click("#references", offset=(8, 6))
        await settle(pilot)
        assert list_of(pilot).highlighted == 2
        await pilot.click("#references", offset=(8, 6))
        await settle(pilot)
        assert trail(pilot) == ["with_tax", "Item.price"]
        # A title cannot be selected.
        await pilot.click("#references", offset=(8, 1))
        await settle(pilot)
        assert list_of(pilot).highlighted == 1

    drive(make_app(shop), steps)


# Pages, tabs and other keys


def test_many_references_have_pages(many: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, WITH_TAX)
        assert titles(pilot) == ["certain 100 of 135"]
        assert "Page 1 · 135 results" in str(list_of(pilot).border_subtitle)
        await press(pilot, "n")
        assert titles(pilot) == ["certain 35 of 135"]
        assert screen_of(pilot).step.page == 2
        await press(pilot, "n")
        assert screen_of(pilot).step.page == 2
        await press(pilot, "p")
        assert titles(pilot) == ["certain 100 of 135"]
        await press(pilot, "p")
        assert screen_of(pilot).step.page == 1
        await press(pilot, "c", "n")
        assert titles(pilot) == ["certain 33 of 133"]
        await press(pilot, "C")
        assert screen_of(pilot).step.page == 1

    drive(make_app(many), steps)


@pytest.mark.parametrize("relation", ReferenceRelation)
def test_the_tabs_have_the_bytes_that_an_agent_gets(shop: Service, relation: ReferenceRelation) -> None:
    place = ITEM if relation == ReferenceRelation.HIERARCHY else WITH_TAX

    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).show_references(TrailStep(place, relation))
        await settle(pilot)
        request = screen_of(pilot).step.request
        await press(pilot, "]")
        view = shop.relation_view(request)
        assert preview_of(pilot).document.text == view.text
        banner = screen_of(pilot).query_one(Banner)
        # A function that calls nothing has no callees; then the list says so.
        assert banner.display == bool(view.page.total)
        assert banner.text == (view.banner if banner.display else "")
        await press(pilot, "y")
        assert pilot.app.clipboard == view.text
        await press(pilot, "]")
        shown = json.loads(preview_of(pilot).document.text)
        as_json = ReferencesRequest(
            path=place.path, line=place.line, relation=relation, depth=request.depth, format=Format.JSON
        )
        assert shown | {"latency_ms": 0} == json.loads(shop.relation_view(as_json).text) | {"latency_ms": 0}
        await press(pilot, "y", "[", "[")
        assert pilot.app.clipboard.startswith("{")
        assert preview_of(pilot).document.is_numbered

    drive(make_app(shop), steps)


def test_the_call_of_an_agent_can_be_copied(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, WITH_TAX, "c", "Y")
        params = json.loads(pilot.app.clipboard)["params"]
        assert params == {"name": "find_references", "arguments": {"path": PRICES, "line": 6, "relation": "callers"}}

    drive(make_app(shop), steps)


def test_places_can_be_read_opened_and_edited(shop: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    edited: list[tuple[str, int]] = []

    async def steps(pilot: Pilot[None]) -> None:
        monkeypatch.setattr(explorer(pilot), "edit", lambda path, line: edited.append((path, line)))
        await show(pilot, WITH_TAX, "c", "v")
        assert preview_of(pilot).has_focus
        await press(pilot, "escape", "e", "z")
        assert list_of(pilot).has_focus
        assert not preview_of(pilot).display
        await press(pilot, "escape")
        assert preview_of(pilot).display
        await press(pilot, "o")
        opened = files(pilot).opened
        assert opened is not None
        assert (opened.path, opened.marked) == (CART, range(14, 15))

    drive(make_app(shop), steps)
    assert edited == [(CART, 14)]


def test_a_preview_that_was_hidden_shows_its_line_below_the_top_until_the_user_scrolls(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, PRICE)
        view = preview_of(pilot)
        assert not view.display
        await press(pilot, "v")
        assert view.scroll_offset.y == 22 - int(view.size.height * 0.2) < 22
        await pilot.resize_terminal(80, 16)
        await settle(pilot)
        assert view.scroll_offset.y == 22 - int(view.size.height * 0.2)
        await press(pilot, "k")
        before = view.scroll_offset.y
        await pilot.resize_terminal(80, 20)
        await settle(pilot)
        assert view.scroll_offset.y == before

    drive(make_app(shop), steps, MIDDLE)


def test_no_key_is_left_out() -> None:
    tested = {
        "backspace",
        "c",
        "C",
        "e",
        "enter",
        "escape",
        "h",
        "left",
        # Tested in test_tui_bundles.py.
        "m",
        "M",
        "n",
        "o",
        "p",
        "r",
        "right",
        "u",
        "v",
        "y",
        "Y",
    }
    tested |= {"left_square_bracket", "right_square_bracket", "z"}
    # Tested in test_tui_git.py and test_tui_resizing.py.
    tested |= {"b", "left_curly_bracket", "right_curly_bracket", "0"}
    bindings = (*ReferencesScreen.BINDINGS, *ReferenceList.BINDINGS)
    assert {key for binding in bindings for key in binding.key.split(",")} == tested  # type: ignore[union-attr]


def test_help_and_palette_list_the_keys(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, WITH_TAX)
        offered = {command.title for command in offered_commands(explorer(pilot))}
        for binding in (*ReferencesScreen.BINDINGS, *ReferenceList.BINDINGS):
            assert isinstance(binding, Binding)
            assert binding.tooltip in offered or binding.id == "select"
        await press(pilot, "question_mark")
        assert isinstance(pilot.app.screen, HelpScreen)

    drive(make_app(shop), steps)


# Nothing to show


def test_nothing_found_says_what_to_try_and_shows_the_definition(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, UNUSED, "c")
        assert said(pilot).startswith("○ No callers · Nothing found: no callers of unused in 5 files. ·")
        assert "relation=references lists every use" in said(pilot)
        assert "Press ← or → for another relation." in said(pilot)
        assert preview_of(pilot).document.marked == range(26, 27)
        # Keys that need a row do nothing.
        await press(pilot, "enter", "o", "n", "p")
        assert trail(pilot) == ["unused"]

    drive(make_app(shop), steps)


def test_nothing_found_in_an_incomplete_index_says_yet(shop: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IndexVersion, "incomplete", "the index is being built, 3 of 9 files so far")

    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, UNUSED, "c")
        assert said(pilot).startswith("◌ No callers yet · Nothing found yet: the index is being built, 3 of 9 files")

    drive(make_app(shop), steps)


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        (Place(PRICES, 1), f"✗ no definition at {PRICES}:1; press esc and choose a line inside a definition"),
        (Place("gone.py", 1), "✗ gone.py is not an indexed file; press 2 to see why it is skipped"),
    ],
)
def test_an_error_says_what_to_do(shop: Service, place: Place, problem: str) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, place)
        assert said(pilot) == problem
        await press(pilot, "y", "]", "escape")
        assert isinstance(pilot.app.screen, ExploreScreen)

    drive(make_app(shop), steps)


def test_an_error_after_an_answer_replaces_it(shop: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = shop.relation_page

    def fails(request: RelationRequest) -> object:
        if isinstance(request, ReferencesRequest) and request.relation == ReferenceRelation.CALLEES:
            raise QueryError("2 definitions are called 'x'", ErrorKind.AMBIGUOUS_SYMBOL)
        return answer(request)

    monkeypatch.setattr(shop, "relation_page", fails)

    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, WITH_TAX, "C")
        assert said(pilot).startswith("✗ 2 definitions are called 'x'; press esc")
        assert preview_of(pilot).document.text == ""
        assert not screen_of(pilot).query_one(Banner).display
        await press(pilot, "c")
        assert len(rows(pilot)) == 3
        assert screen_of(pilot).query_one(Banner).display

    drive(make_app(shop), steps)


class Gate:
    """Holds answers about callers until it is opened, or until they are cancelled."""

    def __init__(self, service: Service) -> None:
        self.answer = service.relation_page
        self.opened = threading.Event()
        self.cancelled = 0
        # Work that doesn't look at its deadline ends late.
        self.is_deaf = False

    def relation_page(self, request: RelationRequest) -> object:
        from keyhole.core.deadline import check_time

        while isinstance(request, ReferencesRequest) and request.relation == ReferenceRelation.CALLERS:
            try:
                check_time()
            except DeadlineError:
                self.cancelled += 1
                if not self.is_deaf:
                    raise
            if self.opened.wait(0.005):
                break
        return self.answer(request)


@pytest.fixture
def gate(shop: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate = Gate(shop)
    monkeypatch.setattr(shop, "relation_page", gate.relation_page)
    monkeypatch.setattr(screen_module, "SAY_SEARCHING_AFTER", 0.01)
    # Only cancelling ends a request early enough for a test.
    monkeypatch.setattr(screen_module, "LONGEST_WAIT", 600)
    monkeypatch.setattr(pane_module, "LONGEST_WAIT", 600)
    yield gate
    gate.opened.set()


def test_a_slow_answer_says_searching(shop: Service, gate: Gate) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, WITH_TAX)
        await pilot.press("c")
        await wait_for(pilot, lambda pilot: said(pilot) == "Searching…")
        # There is nothing to follow or open meanwhile.
        await pilot.press("enter", "o", "n")
        assert trail(pilot) == ["with_tax"]
        gate.opened.set()
        await wait_until(pilot, lambda pilot: len(rows(pilot)) == 3)

    drive(make_app(shop), steps)


def test_rows_of_the_answer_before_are_not_followed(shop: Service, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen_module, "SAY_SEARCHING_AFTER", 600)

    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, WITH_TAX)
        await pilot.press("c", "enter")
        await pilot.pause(0.05)
        assert len(rows(pilot)) == 4
        gate.opened.set()
        await wait_until(pilot, lambda pilot: len(rows(pilot)) == 3)
        assert trail(pilot) == ["with_tax"]

    drive(make_app(shop), steps)


def test_an_answer_to_an_earlier_request_is_not_shown(shop: Service, gate: Gate) -> None:
    gate.is_deaf = True

    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, WITH_TAX)
        await pilot.press("c", "u")
        await wait_for(pilot, lambda pilot: gate.cancelled and len(rows(pilot)) == 4)
        gate.opened.set()
        await settle(pilot)
        assert len(rows(pilot)) == 4

    drive(make_app(shop), steps)


def test_a_newer_request_stops_the_one_before(shop: Service, gate: Gate) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, WITH_TAX)
        await pilot.press("c", "h", "u")
        await settle(pilot)
        await wait_for(pilot, lambda _: gate.cancelled == 1)
        assert len(rows(pilot)) == 4

    drive(make_app(shop), steps)


def test_closing_stops_the_request(shop: Service, gate: Gate) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, WITH_TAX)
        await pilot.press("c", "escape")
        await wait_for(pilot, lambda _: gate.cancelled == 1)
        assert isinstance(pilot.app.screen, ExploreScreen)

    drive(make_app(shop), steps)


def test_the_list_follows_changes_of_files(tmp_path: Path) -> None:
    service = write_uses(tmp_path / "shop")

    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, WITH_TAX, "c", "down")
        (service.root / "more.py").write_text("from shop.prices import with_tax\n\n\ndef more():\n    with_tax(9)\n")
        await pilot.press("r")
        await wait_until(pilot, lambda pilot: len(rows(pilot)) == 4)
        assert list_of(pilot).highlighted == 2

    drive(make_app(service), steps)


def test_an_older_index_says_that_references_are_missing(shop: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IndexVersion, "missing_names_note", "references are missing in 3 files")

    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, WITH_TAX)
        notes = screen_of(pilot).query_one("#notes")
        assert notes.display
        assert "Note: references are missing in 3 files." in str(notes.render())
        await press(pilot, "h")
        assert "· references are missing in 3 files" in said(pilot)

    drive(make_app(shop), steps)


# The links pane


def pane_of(pilot: Pilot[None]) -> LinksPane:
    return files(pilot).query_one(LinksPane)


def pane_rows(pilot: Pilot[None]) -> list[str]:
    return [f"{row.text} {row.note}".strip() for row in pane_of(pilot).rows]


async def open_links(pilot: Pilot[None], place: Place) -> None:
    explorer(pilot).open_file(*place)
    await settle(pilot)
    await press(pilot, "l")


def test_the_links_pane_shows_who_calls_the_marked_symbol(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await open_links(pilot, WITH_TAX)
        assert pane_rows(pilot)[:5] == [
            "called by 3 with_tax",
            f"{CART}:14 Cart.total, certain",
            f"{PRICES}:19 Item.price, certain",
            f"{PRICES}:43 Bundle.price, certain",
            "incoming 1",
        ]
        assert "Links · called by 3 · incoming 1" in str(pane_of(pilot).border_title)
        # The cursor starts on the first link, as without callers.
        assert pane_of(pilot).highlighted == 5
        await press(pilot, "home", "enter")
        opened = files(pilot).opened
        assert opened is not None
        assert (opened.path, opened.marked) == (CART, range(14, 15))
        # The place is in a method, whose callers are shown now.
        assert pane_rows(pilot)[:2] == ["called by 1 Cart.total", f"{CART}:18 Cart.lines, certain"]

    drive(make_app(shop), steps)


def test_without_a_marked_symbol_it_shows_who_calls_those_of_the_file(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await open_links(pilot, Place(CART, 1))
        assert pane_rows(pilot)[:6] == [
            "called: 5 of 6 symbols",
            "Cart called by 1: CART",
            "Cart.__init__ called by 1: CART",
            "Cart.total called by 1: Cart.lines",
            "Cart.lines called by 1: checkout",
            "checkout called by 1: top level",
        ]
        await press(pilot, "home", "enter")
        assert isinstance(pilot.app.screen, ReferencesScreen)
        assert (trail(pilot), screen_of(pilot).step.relation) == (["Cart"], ReferenceRelation.CALLERS)

    drive(make_app(shop), steps)


def test_more_callers_are_one_key_away(many: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await open_links(pilot, WITH_TAX)
        assert pane_rows(pilot)[0] == "called by 133 with_tax"
        assert pane_rows(pilot)[6] == "▾ 128 more"
        await press(pilot, "home", *["down"] * 5, "enter")
        assert titles(pilot) == ["certain 100 of 133"]

    drive(make_app(many), steps)


def test_a_file_without_code_has_no_callers(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await open_links(pilot, Place("README.md", 1))
        assert not any("called" in row for row in pane_rows(pilot))
        assert str(pane_of(pilot).border_title) == "Links"

    drive(make_app(shop), steps)


def test_callers_that_come_late_leave_the_cursor_on_its_link(shop: Service, gate: Gate) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file(*TOTAL)
        await settle(pilot)
        await pilot.press("l")
        await wait_for(pilot, lambda pilot: len(pane_rows(pilot)) == 4)
        assert pane_rows(pilot)[0] == "internal 1"
        await pilot.press("end")
        before = pane_of(pilot).rows[pane_of(pilot).highlighted or 0]
        gate.opened.set()
        await settle(pilot)
        assert pane_rows(pilot)[0] == "called by 1 Cart.total"
        assert pane_of(pilot).rows[pane_of(pilot).highlighted or 0] is before

    drive(make_app(shop), steps)


def test_callers_of_what_is_no_longer_selected_are_not_looked_for(shop: Service, gate: Gate) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file(*WITH_TAX)
        await settle(pilot)
        await pilot.press("l")
        # In the same file, only the callers are loaded again.
        files(pilot).go_to(PRICE)
        await wait_for(pilot, lambda _: gate.cancelled == 1)
        gate.opened.set()
        await settle(pilot)
        assert pane_rows(pilot)[0] == "called by 4 Item.price"

    drive(make_app(shop), steps)


def test_an_error_about_callers_leaves_the_links(shop: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = shop.relation_page

    def fails(request: RelationRequest) -> object:
        if isinstance(request, ReferencesRequest):
            raise DeadlineError("no answer within 10 seconds")
        return answer(request)

    monkeypatch.setattr(shop, "relation_page", fails)

    async def steps(pilot: Pilot[None]) -> None:
        await open_links(pilot, WITH_TAX)
        assert pane_rows(pilot)[:2] == ["called by: ✗ no answer within 10 seconds", "incoming 1"]

    drive(make_app(shop), steps)


# Pictures


def shown(place: Place, *keys: str) -> Steps:
    async def steps(pilot: Pilot[None]) -> None:
        await show(pilot, place, *keys)

    return steps


async def from_files(pilot: Pilot[None]) -> None:
    explorer(pilot).open_file(PRICES, 1)
    await settle(pilot)
    await press(pilot, *"jjjjjjjjjj", "u")


async def called_by(pilot: Pilot[None]) -> None:
    await open_links(pilot, WITH_TAX)


async def called_by_of_file(pilot: Pilot[None]) -> None:
    await open_links(pilot, Place(CART, 1))


WIDE = (120, 40)
NARROW = (60, 16)
STATES: dict[str, tuple[Steps, tuple[int, int]]] = {
    "references": (shown(PRICE), WIDE),
    "references-likely": (shown(LABEL, "end"), LARGE),
    "references-narrow": (shown(PRICE), MIDDLE),
    "references-smallest": (shown(PRICE, "end"), NARROW),
    "reading-narrow": (shown(PRICE, "v"), MIDDLE),
    "callers": (shown(WITH_TAX, "c"), WIDE),
    "callers-followed": (shown(WITH_TAX, "c", "enter", "enter"), WIDE),
    "callers-followed-narrow": (shown(WITH_TAX, "c", "enter", "enter"), MIDDLE),
    "callees": (shown(Place(CART, 16), "C"), WIDE),
    "hierarchy": (shown(Place(PRICES, 26), "h"), WIDE),
    "text": (shown(PRICE, "]"), WIDE),
    "nothing": (shown(UNUSED, "c"), WIDE),
    "nothing-narrow": (shown(UNUSED), MIDDLE),
    "error": (shown(Place(PRICES, 1)), WIDE),
    "help": (shown(PRICE, "question_mark"), WIDE),
    "light": (shown(PRICE, "t"), WIDE),
    "choose-symbol": (from_files, MIDDLE),
    "called-by": (called_by, WIDE),
    "called-by-narrow": (called_by, MIDDLE),
    "called-by-of-file": (called_by_of_file, WIDE),
}


@pytest.fixture
def _coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.mark.usefixtures("_coloured")
@pytest.mark.parametrize("name", STATES)
def test_state(shop: Service, snap_compare: Compare, name: str) -> None:
    steps, size = STATES[name]

    async def run_before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await steps(pilot)

    assert snap_compare(make_app(shop), terminal_size=size, run_before=run_before)


@pytest.mark.usefixtures("_coloured")
def test_a_second_page(many: Service, snap_compare: Compare) -> None:
    async def run_before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await show(pilot, WITH_TAX, "n")

    assert snap_compare(make_app(many), terminal_size=WIDE, run_before=run_before)


@pytest.mark.usefixtures("_coloured")
@pytest.mark.usefixtures("gate")
def test_searching(shop: Service, snap_compare: Compare) -> None:
    async def run_before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await show(pilot, WITH_TAX)
        await pilot.press("c")
        await wait_for(pilot, lambda pilot: said(pilot) == "Searching…")
        await pilot.pause()

    assert snap_compare(make_app(shop), terminal_size=WIDE, run_before=run_before)
