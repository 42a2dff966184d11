"""The explorer: what keys do, and that what it shows is what an agent gets."""

import asyncio
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from driving import MIDDLE, ask, drive, explore, explorer, files, make_app, make_service, press, settle
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Tree

from keyhole.core.service import Service
from keyhole.core.types import Detail, Format, MapLevel, MapRequest, SearchRequest
from keyhole.core.view import limits
from keyhole.core.view.hit import hit_text
from keyhole.core.view.tokens import estimate_tokens
from keyhole.tui.app import KeyholeApp
from keyhole.tui.asking import Asking
from keyhole.tui.index_state import Phase
from keyhole.tui.screens.explore import ExploreScreen
from keyhole.tui.screens.files import FilesScreen
from keyhole.tui.screens.help import HelpScreen
from keyhole.tui.screens.pick import PickScreen
from keyhole.tui.screens.why import WhyScreen
from keyhole.tui.widgets.banner import Banner
from keyhole.tui.widgets.gauge import Gauge
from keyhole.tui.widgets.line_view import Document, LineView
from keyhole.tui.widgets.query_line import QueryLine
from keyhole.tui.widgets.results import ResultList

WIDE_QUERY = "handle event limit:50"


# The same bytes


@pytest.mark.parametrize("detail", list(Detail))
@pytest.mark.parametrize("budget", [1_000, 20_000])
def test_the_text_tab_has_the_bytes_that_an_agent_gets(acme: Service, detail: Detail, budget: int) -> None:
    request = SearchRequest("handle event", limit=50, detail_level=detail, max_tokens=budget)

    async def steps(pilot: Pilot[None]) -> None:
        screen = explore(pilot)
        screen.asking = Asking(detail=detail, max_tokens=budget)
        await ask(pilot, WIDE_QUERY, "enter", "]")
        view = screen.query_one(LineView)
        assert view.document.text == acme.search_view(request).text
        rows = [view.render_line(y).text.rstrip() for y in range(view.size.height)]
        width = view.scrollable_content_region.width
        lines = view.document.text.split("\n")
        assert rows[:8] == [f" {line}".expandtabs(4)[:width].rstrip() for line in lines[:8]]

    drive(make_app(acme), steps)


def test_the_banner_is_the_views_own(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        for line, request in [
            (WIDE_QUERY, SearchRequest("handle event", limit=50, max_tokens=20_000)),
            ("nothing_like_this", SearchRequest("nothing_like_this", max_tokens=20_000)),
        ]:
            await ask(pilot, line)
            banner = explore(pilot).query_one(Banner)
            expected = acme.search_view(request).banner
            assert banner.text == expected
            shown = " ".join(strip.text.strip() for strip in banner.render_lines(banner.size.region))
            assert expected in shown

    drive(make_app(acme), steps)


def test_the_json_tab_has_the_same_facts(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter", "]", "]")
        shown = json.loads(explore(pilot).query_one(LineView).document.text)
        request = SearchRequest("backoff", max_tokens=20_000, format=Format.JSON)
        expected = json.loads(acme.search_view(request).text)
        assert shown | {"latency_ms": 0} == expected | {"latency_ms": 0}

    drive(make_app(acme), steps)


def test_the_map_tab_has_the_bytes_that_an_agent_gets(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file("src/acme/retry.py", 1)
        await settle(pilot)
        for level in (MapLevel.FULL, MapLevel.COMPACT):
            await press(pilot, "d")
            expected = acme.map_view(MapRequest("src/acme/retry.py", level, max_tokens=20_000))
            assert files(pilot).query_one(LineView).document.text == expected.text

    drive(make_app(acme), steps)


def test_costs_add_up_to_the_answer(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, WIDE_QUERY)
        answer = explore(pilot).answer
        assert answer
        total = answer.view.truncation.estimated_tokens
        rows = sum(row.tokens for row in answer.shown)
        # Each row is rounded up, and the frame around them costs something too.
        assert rows - len(answer.shown) <= total <= rows + 60
        assert explore(pilot).query_one(Gauge).share == pytest.approx(total / 20_000)

    drive(make_app(acme), steps)


# What each key does

Check = Callable[[Pilot[None]], object]


def table(screen: ExploreScreen) -> ResultList:
    return screen.query_one(ResultList)


EXPLORE: dict[str, Check] = {
    "slash": lambda pilot: isinstance(pilot.app.focused, QueryLine),
    "y": lambda pilot: pilot.app.clipboard == answer_of(pilot).view.text,
    "Y": lambda pilot: json.loads(pilot.app.clipboard)["params"]["arguments"]["query"] == "handle event",
    "d": lambda pilot: answer_of(pilot).request.detail_level == Detail.RICH,
    "D": lambda pilot: answer_of(pilot).request.detail_level == Detail.MINIMAL,
    "minus": lambda pilot: answer_of(pilot).request.max_tokens == 15_000,
    "plus": lambda pilot: answer_of(pilot).request.max_tokens == 25_000,
    "equals_sign": lambda pilot: answer_of(pilot).request.max_tokens == 25_000,
    "n": lambda pilot: answer_of(pilot).request.offset == 10,
    "p": lambda pilot: answer_of(pilot).request.offset == 0,
    "c": lambda pilot: explore(pilot).shows_cut,
    "x": lambda pilot: isinstance(pilot.app.screen, WhyScreen),
    "o": lambda pilot: files(pilot).opened and files(pilot).query_one(LineView).has_focus,
    "right_square_bracket": lambda pilot: explore(pilot).tab == "Text",
    "left_square_bracket": lambda pilot: explore(pilot).tab == "Diff",
    "v": lambda pilot: explore(pilot).tab == "Diff",
    "z": lambda pilot: not explore(pilot).query_one(LineView).display,
    "r": lambda pilot: explorer(pilot).index_state.phase == Phase.CURRENT,
    "escape": lambda pilot: table(explore(pilot)).has_focus,
    "enter": lambda pilot: explore(pilot).query_one(LineView).has_focus,
    "j": lambda pilot: table(explore(pilot)).highlighted == 1,
    "k": lambda pilot: table(explore(pilot)).highlighted == 9,
    "1": lambda pilot: pilot.app.current_mode == "explore",
    "2": lambda pilot: pilot.app.current_mode == "files",
    "question_mark": lambda pilot: isinstance(pilot.app.screen, HelpScreen),
    "f1": lambda pilot: isinstance(pilot.app.screen, HelpScreen),
    "t": lambda pilot: pilot.app.theme == "keyhole-light",
    "ctrl+p": lambda pilot: type(pilot.app.screen).__name__ == "CommandPalette",
}
FILES: dict[str, Check] = {
    "f": lambda pilot: isinstance(pilot.app.screen, PickScreen),
    "slash": lambda pilot: isinstance(pilot.app.screen, PickScreen),
    "s": lambda pilot: isinstance(pilot.app.screen, PickScreen),
    "right_square_bracket": lambda pilot: files(pilot).tab == "Map",
    "left_square_bracket": lambda pilot: files(pilot).tab == "Map",
    "d": lambda pilot: (files(pilot).tab, files(pilot).level) == ("Map", MapLevel.FULL),
    "D": lambda pilot: (files(pilot).tab, files(pilot).level) == ("Map", MapLevel.TRUNCATED),
    "minus": lambda pilot: (files(pilot).tab, files(pilot).max_tokens) == ("Map", 15_000),
    "plus": lambda pilot: (files(pilot).tab, files(pilot).max_tokens) == ("Map", 25_000),
    "equals_sign": lambda pilot: (files(pilot).tab, files(pilot).max_tokens) == ("Map", 25_000),
    "y": lambda pilot: pilot.app.clipboard.startswith('"""Retries with growing delays."""'),
    "z": lambda pilot: not files(pilot).query_one(Tree).display,
    "r": lambda pilot: explorer(pilot).index_state.phase == Phase.CURRENT,
    "escape": lambda pilot: files(pilot).query_one(Tree).has_focus,
    "j": lambda pilot: files(pilot).query_one(LineView).scroll_offset.y == 1,
    "k": lambda pilot: files(pilot).query_one(LineView).scroll_offset.y == 0,
    "G": lambda pilot: files(pilot).query_one(LineView).scroll_offset.y > 1,
    "g": lambda pilot: files(pilot).query_one(LineView).scroll_offset.y == 0,
}
# Tested on their own below.
ELSEWHERE = {"e", "q", "ctrl+c", "tab", "down", "up"}


def answer_of(pilot: Pilot[None]) -> Any:
    answer = explore(pilot).answer
    assert answer is not None
    return answer


def test_every_key_in_explore(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        for key, check in EXPLORE.items():
            await start_over(pilot)
            screen = explore(pilot)
            screen.tab, screen.shows_cut, screen.asking = "Preview", False, Asking()
            screen.remove_class("-zoomed")
            screen.query_one(QueryLine).focus()
            await ask(pilot, "")
            await ask(pilot, "handle event", "enter", key)
            assert check(pilot), key

    drive(make_app(acme), steps)


def test_every_key_in_files(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        for key, check in FILES.items():
            await start_over(pilot)
            explorer(pilot).open_file("src/acme/retry.py", 1)
            await settle(pilot)
            screen = files(pilot)
            screen.level, screen.max_tokens = MapLevel.AUTO, 20_000
            screen.remove_class("-zoomed")
            await press(pilot, key)
            assert check(pilot), key

    drive(make_app(acme), steps, size=(100, 20))


async def start_over(pilot: Pilot[None]) -> None:
    """Close what is open above the screens, and go to the first of them."""
    while isinstance(pilot.app.screen, ModalScreen):
        pilot.app.pop_screen()
        await pilot.pause()
    pilot.app.switch_mode("explore")
    await pilot.pause()


def test_no_binding_is_left_out() -> None:
    known = set(EXPLORE) | set(FILES) | ELSEWHERE
    for owner in (KeyholeApp, ExploreScreen, FilesScreen, QueryLine, ResultList, LineView):
        for binding in owner.BINDINGS:
            for key in binding.key.split(","):  # type: ignore[union-attr]
                assert key in known, (owner, key)


def test_keys_that_terminals_confuse_are_not_bound() -> None:
    for owner in (KeyholeApp, ExploreScreen, FilesScreen, QueryLine, ResultList, LineView, PickScreen, WhyScreen):
        keys = {key for binding in owner.BINDINGS for key in binding.key.split(",")}  # type: ignore[union-attr]
        assert not keys & {"ctrl+m", "ctrl+h", "ctrl+i", "ctrl+j"}


@pytest.mark.parametrize(("key", "code"), [("q", 0), ("ctrl+c", 130), ("ctrl+q", 0)])
def test_leaving(acme: Service, key: str, code: int) -> None:
    app = make_app(acme)

    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter")
        await pilot.press(key)

    drive(app, steps)
    assert app.return_code == code


def test_the_editor_opens_at_the_line(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", lambda command, **_: commands.append(command))
    monkeypatch.setenv("VISUAL", "nano")

    async def steps(pilot: Pilot[None]) -> None:
        monkeypatch.setattr(type(pilot.app), "suspend", lambda _: os.scandir(acme.root))  # any context manager
        await ask(pilot, "RetryPolicy.backoff", "enter", "e")

    drive(make_app(acme), steps)
    assert commands == [["nano", "+14", str(acme.root / "src/acme/retry.py")]]


def test_an_editor_that_does_not_start_is_no_disaster(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "/no/such/editor")

    async def steps(pilot: Pilot[None]) -> None:
        monkeypatch.setattr(type(pilot.app), "suspend", lambda _: os.scandir(acme.root))
        await ask(pilot, "backoff", "enter", "e")
        (notice,) = pilot.app._notifications
        assert "/no/such/editor cannot be opened" in notice.message

    drive(make_app(acme), steps)


# Typing


def test_filters_are_completed_with_tab(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, *"backoff lang:p")
        await press(pilot, "tab")
        assert explore(pilot).query_one(QueryLine).value == "backoff lang:python"
        assert answer_of(pilot).request.language == "python"
        await press(pilot, "tab")
        assert table(explore(pilot)).has_focus

    drive(make_app(acme), steps)


def test_arrows_look_through_the_results_while_typing(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "handle event", "down", "down", "up")
        assert table(explore(pilot)).highlighted == 1
        assert explore(pilot).query_one(QueryLine).has_focus
        row = explore(pilot).row
        assert row
        assert explore(pilot).query_one(LineView).document.text == (acme.root / row.hit.path).read_text()

    drive(make_app(acme), steps)


def test_only_the_newest_question_is_answered(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    search_page = Service.search_page

    def slow(self: Service, request: SearchRequest) -> Any:
        asked.append(request.query)
        return search_page(self, request)

    monkeypatch.setattr(Service, "search_page", slow)

    async def steps(pilot: Pilot[None]) -> None:
        screen = explore(pilot)
        for line in ("a", "ba", "bac", "back", "backo", "backoff"):
            screen.asking = Asking(line)
            screen._search()
        await settle(pilot)
        assert answer_of(pilot).request.query == "backoff"
        assert asked == ["a", "backoff"]

    drive(make_app(acme), steps)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("/(/", "missing )"),
        ("backoff lang:klingon", "unknown language 'klingon'"),
        ("backoff mode:fuzzy", "mode:fuzzy is not a mode"),
        ("backoff path:nowhere", "no indexed file matches path 'nowhere'"),
    ],
)
def test_a_problem_stands_below_the_line_and_the_results_stay(acme: Service, line: str, problem: str) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff")
        before = table(explore(pilot)).rows
        await ask(pilot, line)
        shown = explore(pilot).query_one("#problem")
        assert shown.display
        assert problem in str(shown.render())
        assert table(explore(pilot)).rows == before != []
        await ask(pilot, "backoff")
        assert not shown.display

    drive(make_app(acme), steps)


# Pages, budget and what was cut


def test_pages_go_on_where_the_answer_ended(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        seen: list[str] = []
        await ask(pilot, "handle event limit:5", "enter")
        while True:
            seen += [row.hit.path for row in answer_of(pilot).shown]
            if answer_of(pilot).next_offset is None:
                break
            await press(pilot, "n")
        whole = acme.search_view(SearchRequest("handle event", limit=50, format=Format.JSON))
        assert seen == [result["file_path"] for result in json.loads(whole.text)["results"]]
        page = explore(pilot).asking.page
        await press(pilot, "p")
        assert explore(pilot).asking.page == page - 1

    drive(make_app(acme), steps)


def test_what_was_cut_is_shown_below_a_line_with_its_cost(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    # So few files always fit into the smallest budget that can be asked for.
    monkeypatch.setattr(limits, "MIN_TOKENS", 100)

    async def steps(pilot: Pilot[None]) -> None:
        explore(pilot).asking = Asking(max_tokens=200)
        await ask(pilot, WIDE_QUERY, "enter")
        answer = answer_of(pilot)
        assert answer.cut
        assert table(explore(pilot)).rows == list(answer.shown)
        await press(pilot, "c")
        assert table(explore(pilot)).rows == list(answer.rows)
        whole = acme.search_page(SearchRequest("handle event", limit=50))[0]
        costs = [estimate_tokens(hit_text(hit, None, Detail.COMPACT)) for hit in whole.hits[len(answer.shown) :]]
        assert [row.tokens for row in answer.cut] == costs
        await press(pilot, "n")
        assert answer_of(pilot).request.offset == len(answer.shown)

    drive(make_app(acme), steps)


def test_the_gauge_has_a_word_for_each_standing(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        gauge = explore(pilot).query_one(Gauge)
        await ask(pilot, "backoff")
        assert gauge.standing == "✓ fits"
        explore(pilot).asking = Asking(detail=Detail.RICH, max_tokens=1_500)
        await ask(pilot, WIDE_QUERY)
        assert gauge.standing == "▲ cut"

    drive(make_app(acme), steps)


def test_the_mouse_turns_pages_changes_detail_and_picks_tabs(acme: Service) -> None:
    async def click(pilot: Pilot[None], selector: str, text: str, row: int) -> None:
        widget = explore(pilot).query_one(selector)
        line = widget.screen._compositor.render_strips()[widget.region.y + row % widget.region.height].text
        await pilot.click(offset=(line.index(text, widget.region.x), widget.region.y + row % widget.region.height))
        await settle(pilot)

    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "handle event", "enter")
        await click(pilot, "#results", "n ▸", -1)
        assert explore(pilot).asking.page == 2
        await click(pilot, "#gauge", "▸", 0)
        assert explore(pilot).asking.detail == Detail.RICH
        await click(pilot, "#view", "Text", 0)
        assert explore(pilot).tab == "Text"
        await click(pilot, "TopBar", "2 Files", 0)
        assert pilot.app.current_mode == "files"

    drive(make_app(acme), steps)


# Why


def test_why_explains_a_rank_and_an_absence(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter", "x")
        screen = pilot.app.screen
        text = screen.query_one(LineView)
        assert "ranked 1st of" in text.document.text
        for path, reason in [(".env", "not indexed: secret"), ("web/app.ts", "does not match"), ("../x", "outside")]:
            screen.query_one(Input).value = path
            await settle(pilot)
            assert reason in text.document.text
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, ExploreScreen)

    drive(make_app(acme), steps)


# Help and palette


def test_help_lists_every_binding_that_is_shown(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter", "question_mark")
        screen = pilot.app.screen
        assert isinstance(screen, HelpScreen)
        text = screen._content().plain
        for binding in (*ExploreScreen.BINDINGS, *KeyholeApp.BINDINGS):
            assert binding.tooltip in text  # type: ignore[union-attr]
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, ExploreScreen)

    drive(make_app(acme), steps)


def test_the_palette_does_what_the_keys_do(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter")
        commands = {command.title: command for command in pilot.app.get_system_commands(pilot.app.screen)}
        commands["Next level of detail: minimal, compact, rich, auto"].callback()
        await pilot.pause()
        await settle(pilot)
        assert explore(pilot).asking.detail == Detail.RICH

    drive(make_app(acme), steps)


# Files


def test_the_tree_tells_what_is_passed_over_and_why(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter", "2")
        tree = files(pilot).query_one(Tree)
        labels = [str(node.label) for node in tree.root.children]
        assert labels == [
            "src/  15",
            "tests/  1",
            "web/  1",
            ".gitignore",
            "README.md",
            "○ .env  secret",
            "○ debug.log  ignored",
            "○ package-lock.json  lockfile",
        ]
        tree.move_cursor(tree.root.children[5])
        await press(pilot, "enter")
        assert files(pilot).query_one(LineView).document.text.startswith("○ .env\n\nsecret: ")

    drive(make_app(acme), steps)


def test_a_symbol_is_jumped_to(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file("src/acme/retry.py", 1)
        await settle(pilot)
        await press(pilot, "s", *"allo", "enter")
        view = files(pilot).query_one(LineView)
        assert view.document.marked == range(18, 21)
        assert view.scroll_offset.y <= 17 < view.scroll_offset.y + view.size.height

    drive(make_app(acme), steps, size=(100, 20))


def test_a_file_is_found_by_a_part_of_its_name(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter", "2", "f", *"stor")
        assert pilot.app.screen.query_one(OptionList).option_count == 2
        await press(pilot, "down", "up", "enter")
        assert files(pilot).opened
        assert files(pilot).query_one(LineView).document.is_numbered

    drive(make_app(acme), steps)


def test_a_file_too_large_to_index_is_shown(tmp_path: Path) -> None:
    root = tmp_path / "big"
    root.mkdir()
    (root / "large.py").write_text("value = 1\n" * 120_000)
    (root / "small.py").write_text("value = 1\n")

    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file("large.py", 100_000)
        await settle(pilot)
        view = files(pilot).query_one(LineView)
        assert len(view.document.lines) == 120_000
        assert "100000 value = 1" in [view.render_line(y).text.strip() for y in range(view.size.height)]

    drive(make_app(make_service(root)), steps)


# The index


def test_changed_files_are_noticed(tmp_path: Path) -> None:
    root = tmp_path / "watched"
    root.mkdir()
    (root / "a.py").write_text("def first(): pass\n")
    service = make_service(root)
    app = KeyholeApp(root, lambda: service)

    async def steps() -> None:
        async with app.run_test(size=(120, 36)) as pilot:
            for _ in range(500):
                await pilot.pause(0.01)
                if app.index_state.phase == Phase.CURRENT:
                    break
            assert app.index_state.is_watching
            explore(pilot).query_one(QueryLine).value = "second"
            (root / "b.py").write_text("def second(): pass\n")
            for _ in range(1_000):
                await pilot.pause(0.01)
                if table(explore(pilot)).rows:
                    break
            assert [row.hit.path for row in table(explore(pilot)).rows] == ["b.py"]

    asyncio.run(steps())


def test_a_workspace_that_cannot_be_opened_ends_with_a_message(tmp_path: Path) -> None:
    (tmp_path / "keyhole.toml").write_text("nonsense = 1\n")
    app = KeyholeApp(tmp_path, lambda: Service.open(tmp_path))

    async def steps() -> None:
        async with app.run_test() as pilot:
            while app.return_code is None:
                await pilot.pause(0.01)

    asyncio.run(steps())
    assert app.return_code == 2


def test_one_pane_at_a_time_when_it_is_narrow(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter")
        view, results = explore(pilot).query_one(LineView), table(explore(pilot))
        assert (results.display, view.display) == (True, False)
        await press(pilot, "enter")
        assert (results.display, view.display) == (False, True)
        await press(pilot, "escape")
        assert (results.display, view.display) == (True, False)

    drive(make_app(acme), steps, size=MIDDLE)


def test_a_document_of_any_length_costs_what_is_on_the_screen(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        view = explore(pilot).query_one(LineView)
        view.show(Document("x = 1\n" * 200_000, lexer="python", is_numbered=True), line=150_000)
        await pilot.pause()
        assert len(view._contents) <= 2 * view.size.height
        assert len(view._strips) <= view.size.height + 1

    drive(make_app(acme), steps)
