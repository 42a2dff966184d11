"""The explorer: typing, pages, explanations, files, and the index in the background."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from driving import (
    MIDDLE,
    answer_of,
    ask,
    drive,
    explore,
    make_app,
    make_service,
    press,
    results_of,
    settle,
    wait_for,
)
from textual.binding import Binding
from textual.dom import DOMNode
from textual.pilot import Pilot
from textual.widgets import Input, Tree

from keyhole.core.service import Service
from keyhole.core.types.choices import Detail, Format
from keyhole.core.types.search_results import SearchResult
from keyhole.core.types.view_requests import SearchRequest
from keyhole.core.view.budget import limits
from keyhole.core.view.budget.tokens import estimate_tokens
from keyhole.core.view.lists.hit_text import hit_text
from keyhole.tui.app import KeyholeApp
from keyhole.tui.document import Document
from keyhole.tui.index_state import Phase
from keyhole.tui.screens.explore import ExploreScreen
from keyhole.tui.screens.files import FilesScreen
from keyhole.tui.screens.help import HelpScreen, sections
from keyhole.tui.screens.references_screen import ReferencesScreen
from keyhole.tui.screens.traffic import TrafficScreen
from keyhole.tui.search_state import SearchState
from keyhole.tui.widgets.gauge import Gauge
from keyhole.tui.widgets.lens_line import LensLine
from keyhole.tui.widgets.line_view import LineView
from keyhole.tui.widgets.query_line import QueryLine
from keyhole.tui.widgets.reference_list import ReferenceList
from keyhole.tui.widgets.results import ResultList
from keyhole.tui.widgets.row_list import RowList

WIDE_QUERY = "handle event limit:50"
# The first words of the help texts.
VERBS = {
    *(
        "Add",
        "Cancel",
        "Check",
        "Compare",
        "Complete",
        "Copy",
        "Explain",
        "Find",
        "Follow",
        "Go",
        "Jump",
        "Lower",
        "Mark",
    ),
    *("Move", "Open", "Pause", "Preview", "Quit", "Raise", "Replay", "Run", "Scroll", "Show", "Start", "Switch"),
    *("Choose", "Give", "Make", "Save", "Suspend", "View", "Wrap", "Zoom"),
}


# Typing


def test_filters_are_completed_with_tab(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, *"backoff lang:p")
        await press(pilot, "tab")
        assert explore(pilot).query_one(QueryLine).value == "backoff lang:python"
        assert answer_of(pilot).request.language == "python"
        await press(pilot, "tab")
        assert results_of(pilot).has_focus

    drive(make_app(acme), steps)


def test_arrows_look_through_the_results_while_typing(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "handle event", "down", "down", "up")
        assert results_of(pilot).highlighted == 1
        assert explore(pilot).query_one(QueryLine).has_focus
        row = explore(pilot).row
        assert row
        assert explore(pilot).query_one(LineView).document.text == (acme.root / row.hit.path).read_text()

    drive(make_app(acme), steps)


def test_only_the_newest_question_is_answered(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    search_page = Service.search_page

    def slow(self: Service, request: SearchRequest, known: SearchResult | None) -> Any:
        asked.append(request.query)
        return search_page(self, request, known)

    monkeypatch.setattr(Service, "search_page", slow)

    async def steps(pilot: Pilot[None]) -> None:
        screen = explore(pilot)
        for line in ("a", "ba", "bac", "back", "backo", "backoff"):
            screen.search_state = SearchState(line)
            screen._search()
        await settle(pilot)
        assert answer_of(pilot).request.query == "backoff"
        assert asked == ["a", "backoff"]

    drive(make_app(acme), steps)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("/(/", "a ( is never closed"),
        ("backoff lang:klingon", "unknown language 'klingon'"),
        ("backoff mode:fuzzy", "unknown mode 'fuzzy'"),
        ("backoff path:nowhere", "no indexed file matches path 'nowhere'"),
    ],
)
def test_a_problem_stands_below_the_line_and_the_results_stay(acme: Service, line: str, problem: str) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff")
        before = results_of(pilot).rows
        await ask(pilot, line)
        shown = explore(pilot).query_one("#problem")
        assert shown.display
        assert problem in str(shown.render())
        assert results_of(pilot).rows == before != []
        await ask(pilot, "backoff")
        assert not shown.display

    drive(make_app(acme), steps)


# Pages, budget and what was left out


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
        page = explore(pilot).search_state.page
        await press(pilot, "p")
        assert explore(pilot).search_state.page == page - 1

    drive(make_app(acme), steps)


def test_what_was_left_out_is_shown_below_a_line_with_its_cost(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    # So few files always fit into the smallest budget.
    monkeypatch.setattr(limits, "MIN_TOKENS", 100)

    async def steps(pilot: Pilot[None]) -> None:
        explore(pilot).search_state = SearchState(max_tokens=200)
        await ask(pilot, WIDE_QUERY, "enter")
        answer = answer_of(pilot)
        assert answer.left_out
        assert results_of(pilot).rows == list(answer.shown)
        assert f"─── Left out: {len(answer.left_out)} results, " in lines_of(results_of(pilot))
        await press(pilot, "c")
        assert results_of(pilot).rows == list(answer.rows)
        assert lines_of(results_of(pilot)).count(" left out") == len(answer.left_out)
        whole = acme.search_page(SearchRequest("handle event", limit=50))[0]
        costs = [estimate_tokens(hit_text(hit, Detail.COMPACT)) for hit in whole.hits[len(answer.shown) :]]
        assert [row.tokens for row in answer.left_out] == costs
        await press(pilot, "n")
        assert answer_of(pilot).request.offset == len(answer.shown)

    drive(make_app(acme), steps)


def lines_of(results: ResultList) -> str:
    """Everything in the list, as text."""
    width = results.size.width
    return "\n".join(line.plain for number in range(results._count) for line in results.draw(number, width))


def test_left_out_and_shortened_are_told_apart(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MIN_TOKENS", 100)
    said: list[str] = []

    async def steps(pilot: Pilot[None]) -> None:
        monkeypatch.setattr(explore(pilot), "notify", lambda text, **_: said.append(text))
        for line, state in [
            ("backoff", SearchState()),
            ("handle event limit:2", SearchState()),
            ("handle event limit:10", SearchState(detail=Detail.RICH, max_tokens=800)),
        ]:
            explore(pilot).search_state = state
            await ask(pilot, line, "enter", "c")
        answer = answer_of(pilot)
        shortened = [row for row in answer.rows if row.is_shortened]
        assert shortened
        assert not answer.left_out
        assert lines_of(results_of(pilot)).count(" shortened") == len(shortened)
        assert " left out" not in lines_of(results_of(pilot))
        assert said == [
            "Complete: nothing was shortened or left out.",
            "Nothing was shortened or left out. More pages: press n.",
            f"Nothing was left out. Shortened: {len(shortened)} results; press s to see one in full.",
        ]

    drive(make_app(acme), steps)


def test_every_shortened_result_can_be_shown_in_full(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next page begins after what is shortened; `s` opens that, and `p` goes back."""
    monkeypatch.setattr(limits, "MIN_TOKENS", 100)
    said: list[str] = []

    async def steps(pilot: Pilot[None]) -> None:
        monkeypatch.setattr(explore(pilot), "notify", lambda text, **_: said.append(text))
        explore(pilot).search_state = SearchState(detail=Detail.RICH, max_tokens=800)
        await ask(pilot, "handle event limit:10", "enter")
        first = answer_of(pilot)
        places = [row.place for row in first.rows]
        shortened = [row.is_shortened for row in first.rows].index(True)
        # The cursor is on a result in full, so the first shortened one is meant; then on the last one.
        for keys, position in [((), shortened), (("G",), len(places) - 1)]:
            await press(pilot, *keys, "s")
            row = answer_of(pilot).rows[0]
            assert (row.place, row.is_shortened) == (places[position], False)
            assert answer_of(pilot).request.offset == position
            await press(pilot, "p")
            assert [row.place for row in answer_of(pilot).rows] == places
        assert said == []

    drive(make_app(acme), steps)


def test_the_first_result_of_a_page_is_shown_in_full_alone(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MIN_TOKENS", 100)
    said: list[str] = []

    async def steps(pilot: Pilot[None]) -> None:
        monkeypatch.setattr(explore(pilot), "notify", lambda text, **_: said.append(text))
        explore(pilot).search_state = SearchState(detail=Detail.RICH, max_tokens=220)
        await ask(pilot, "handle event", "enter")
        first = answer_of(pilot).rows[0]
        assert first.is_shortened
        await press(pilot, "s")
        (alone,) = answer_of(pilot).rows
        assert (alone.place, alone.is_shortened) == (first.place, False)
        await press(pilot, "s", "n")
        assert said == ["Nothing on this page is shortened."]
        assert (answer_of(pilot).request.offset, answer_of(pilot).request.limit) == (1, 1)
        explore(pilot).search_state = SearchState(detail=Detail.RICH, max_tokens=100)
        await ask(pilot, "RetryPolicy limit:1", "enter", "s")
        assert said[1:] == ["This result alone is over the budget. Press + to raise the budget, or o to open the file."]

    drive(make_app(acme), steps)


def test_the_json_tab_says_why_it_has_fewer_results(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MIN_TOKENS", 100)

    async def steps(pilot: Pilot[None]) -> None:
        note = explore(pilot).query_one(LensLine)
        explore(pilot).search_state = SearchState(max_tokens=1_200)
        await ask(pilot, WIDE_QUERY, "enter")
        explore(pilot).action_show_tab("JSON")
        await settle(pilot)
        shown = len(json.loads(explore(pilot).query_one(LineView).document.text)["results"])
        answer = answer_of(pilot)
        assert 0 < shown < len(answer.shown)
        assert str(note.render()) == (
            f"○ JSON takes more tokens: {shown} of {len(answer.rows)} results fit in 1,200 tokens."
            f" Next page: offset={shown}."
        )
        await press(pilot, "plus")
        rows = answer_of(pilot).rows
        shown = json.loads(explore(pilot).query_one(LineView).document.text)
        assert len(shown["results"]) == len(rows) == len(answer_of(pilot).shown)
        assert re.fullmatch(
            rf"○ JSON takes more tokens: \d+ of {len(rows)} results shortened to fit in 1,500 tokens.",
            str(note.render()),
        )
        # Choosing the tab again keeps the note; the other tabs have none.
        explore(pilot).action_show_tab("JSON")
        await settle(pilot)
        assert note.display
        for tab in ("Text", "Diff", "Preview"):
            explore(pilot).action_show_tab(tab)
            await settle(pilot)
            assert not note.display
        explore(pilot).action_show_tab("JSON")
        await ask(pilot, "backoff")
        assert not note.display

    drive(make_app(acme), steps)


def test_the_gauge_says_what_an_answer_lacks(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MIN_TOKENS", 100)

    async def steps(pilot: Pilot[None]) -> None:
        gauge = explore(pilot).query_one(Gauge)
        await ask(pilot, "backoff")
        assert "✓ complete" in str(gauge.render())
        explore(pilot).search_state = SearchState(detail=Detail.RICH, max_tokens=1_500)
        await ask(pilot, WIDE_QUERY)
        assert "◆ 96%  ▲ shortened" in str(gauge.render())
        explore(pilot).search_state = SearchState(max_tokens=200)
        await ask(pilot, "handle event")
        assert "▲ left out" in str(gauge.render())

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
        assert explore(pilot).search_state.page == 2
        await click(pilot, "#gauge", "▸", 0)
        assert explore(pilot).search_state.detail == Detail.RICH
        place = results_of(pilot).rows[1].hit
        await click(pilot, "#results", f"{place.path.rpartition('/')[2]}:", 3)
        assert results_of(pilot).highlighted == 1
        await click(pilot, "#results", f"{place.path.rpartition('/')[2]}:", 3)
        assert explore(pilot).query_one(LineView).has_focus
        await click(pilot, "#view", "Text", 0)
        assert explore(pilot).tab == "Text"
        await click(pilot, "TopBar", "2 Files", 0)
        assert pilot.app.current_mode == "files"

    drive(make_app(acme), steps)


# Explanations


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


# Jumping, help and palette


def test_letters_lead_to_every_pane_and_every_tab(acme: Service) -> None:
    async def letters(pilot: Pilot[None]) -> dict[str, str]:
        """Return the text on the screen right after each letter."""
        behind = [strip.text for strip in pilot.app.screen_stack[0]._compositor.render_strips()]
        labels = pilot.app.screen.query(".jump-letter")
        return {str(label.render()).strip(): behind[label.region.y][label.region.x + 1 :][:8] for label in labels}

    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter", "ctrl+o")
        found = await letters(pilot)
        assert list(found) == list("asdfghj")
        assert [text.split()[0] for text in list(found.values())[3:]] == ["Preview", "Text", "JSON", "Diff"]
        await press(pilot, "g")
        assert explore(pilot).tab == "Text"
        await press(pilot, "ctrl+o", "a")
        assert isinstance(pilot.app.focused, QueryLine)
        await press(pilot, "ctrl+o", "d")
        assert isinstance(pilot.app.focused, LineView)
        await press(pilot, "ctrl+o", "escape")
        assert isinstance(pilot.app.focused, LineView)
        await press(pilot, "2", "ctrl+o", "a")
        assert isinstance(pilot.app.focused, Tree)

    drive(make_app(acme), steps)


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


def test_help_ends_with_quitting(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        for line, keys in (("", ()), ("backoff", ("enter",)), ("backoff", ("enter", "enter"))):
            await ask(pilot, line, *keys)
            (title, keys_everywhere) = sections(pilot.app.screen)[-1]
            assert title == "Everywhere"
            assert [text for _, text in keys_everywhere][-2:] == ["Quit the explorer", "Quit the explorer immediately"]
            await press(pilot, "escape")

    drive(make_app(acme), steps)


@pytest.mark.parametrize(
    "owner",
    [
        KeyholeApp,
        ExploreScreen,
        FilesScreen,
        TrafficScreen,
        ReferencesScreen,
        LineView,
        QueryLine,
        RowList,
        ReferenceList,
    ],
)
def test_labels_are_a_verb_and_help_is_a_sentence(owner: type[DOMNode]) -> None:
    for binding in owner.BINDINGS:
        assert isinstance(binding, Binding)
        assert len(binding.description.split()) <= 2, binding
        assert binding.description[0].isupper(), binding
        assert binding.tooltip[0].isupper(), binding
        assert not binding.tooltip.endswith("."), binding
        assert binding.tooltip.split()[0].rstrip(",") in VERBS, binding


# The index


def test_changed_files_are_noticed(tmp_path: Path) -> None:
    root = tmp_path / "watched"
    root.mkdir()
    (root / "a.py").write_text("def first(): pass\n")
    service = make_service(root)
    app = KeyholeApp(root, lambda: service)

    async def steps() -> None:
        async with app.run_test(size=(120, 36)) as pilot:
            await wait_for(pilot, lambda _: app.index_state.phase == Phase.CURRENT)
            assert app.index_state.is_watching
            explore(pilot).query_one(QueryLine).value = "second"
            (root / "b.py").write_text("def second(): pass\n")
            await wait_for(pilot, lambda pilot: results_of(pilot).rows)
            assert [row.hit.path for row in results_of(pilot).rows] == ["b.py"]

    asyncio.run(steps())


def test_a_workspace_that_cannot_be_opened_ends_with_a_message(tmp_path: Path) -> None:
    (tmp_path / "keyhole.toml").write_text("nonsense = 1\n")
    app = KeyholeApp(tmp_path, lambda: Service.open(tmp_path))

    async def steps() -> None:
        async with app.run_test() as pilot:
            await wait_for(pilot, lambda _: app.return_code is not None)

    asyncio.run(steps())
    assert app.return_code == 2


def test_one_pane_at_a_time_when_it_is_narrow(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter")
        view, results = explore(pilot).query_one(LineView), results_of(pilot)
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
