"""The Text tab: what is drawn on an answer shows where the budget went, and is never part of the text."""

from collections.abc import Callable

import pytest
from driving import LARGE, MIDDLE, ask, drive, explore, make_app, press, settle
from test_tui_snapshots import MANY, Compare, State, asked, check
from textual.geometry import Offset
from textual.pilot import Pilot

from keyhole.core.service import Service
from keyhole.core.types.choices import Detail
from keyhole.core.types.completeness import Completeness
from keyhole.core.view.budget import limits
from keyhole.tui.screens import explore as explore_module
from keyhole.tui.screens.explore import ExploreScreen
from keyhole.tui.search_state import SearchState
from keyhole.tui.widgets.answer_view import AnswerView
from keyhole.tui.widgets.budget_bar import BudgetBar
from keyhole.tui.widgets.results import ResultList

TINY = (60, 16)


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore_module, "DEBOUNCE_SECONDS", 0.001)
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture
def _small_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MIN_TOKENS", 100)


async def show_text(pilot: Pilot[None], *, detail: Detail = Detail.RICH, tokens: int = 2_000) -> AnswerView:
    explore(pilot).search_state = SearchState(detail=detail, max_tokens=tokens)
    await ask(pilot, MANY, "enter", "]")
    return explore(pilot).query_one(AnswerView)


def marked_result(screen: ExploreScreen) -> int | None:
    document = screen.query_one(AnswerView).document
    return document.layout.result_at(document.marked.start - 1) if document.layout and document.marked else None


def test_the_selected_result_is_marked_and_stays_in_view(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        view = await show_text(pilot)
        screen = explore(pilot)
        for number in range(len(screen.query_one(ResultList).rows)):
            assert marked_result(screen) == number
            assert view.is_in_view(range(view.document.marked.start, view.document.marked.start + 1))
            await press(pilot, "j")
        top = view.scroll_offset
        await press(pilot, "k", "j")
        assert view.scroll_offset == top

    drive(make_app(acme), steps)


def test_a_click_in_the_text_or_the_bar_selects_the_result(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        view = await show_text(pilot, detail=Detail.COMPACT, tokens=1_000)
        screen, layout = explore(pilot), view.document.layout
        assert layout
        row = next(y for y in range(view.size.height) if view.locate(y).line == layout.results[3].start)
        await pilot.click(view, offset=(12, 1 + row))
        await settle(pilot)
        assert screen.query_one(ResultList).highlighted == 3 == marked_result(screen)
        assert view.current_line == layout.results[3].start + 1
        bar = screen.query_one(BudgetBar)
        segment = str(bar.render()).index("▓")
        await pilot.click(bar, offset=(2 + segment, 0))
        await settle(pilot)
        assert screen.query_one(ResultList).highlighted == marked_result(screen) == 0

    drive(make_app(acme), steps)


@pytest.mark.usefixtures("_small_budgets")
def test_drawn_rows_are_not_part_of_what_is_copied_found_or_selected(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        view = await show_text(pilot, detail=Detail.COMPACT, tokens=200)
        screen = explore(pilot)
        assert screen.answer
        text = screen.answer.view.text
        shown = [view.render_line(y).text for y in range(view.size.height)]
        drawn = next(y for y, row in enumerate(shown) if "left out here" in row)
        gap = screen.answer.view.gaps[-1]
        assert f"left out here: {gap.numbers}, next page {gap.next}" in shown[drawn]
        assert "left out here" not in text
        await press(pilot, "y")
        assert pilot.app.clipboard == text == view.document.text
        # From the last line over the drawn row: only the line is copied.
        await pilot.mouse_down(view, offset=Offset(1 + view.gutter_width, drawn))
        await pilot.hover(view, offset=Offset(30, drawn + 1))
        await pilot.mouse_up(view, offset=Offset(30, drawn + 1))
        await pilot.pause()
        assert pilot.app.clipboard
        assert text.splitlines()[view.locate(drawn - 1).line].endswith(pilot.app.clipboard)
        view.focus()
        await press(pilot, "ctrl+f", *"left out here")
        assert not view.found_in(view.locate(drawn - 1).line)

    drive(make_app(acme), steps)


def test_the_figures_of_the_bar_add_up_to_the_budget(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await show_text(pilot)
        bar, view = explore(pilot).query_one(BudgetBar), explore(pilot).answer
        assert view
        *spent, free, _ = (int(figure.rpartition(" ")[2].replace(",", "")) for figure in bar.figures())
        assert sum(spent) == view.view.truncation.estimated_tokens
        assert sum(spent) + free == 2_000
        assert len(str(bar.render())) == bar.content_size.width
        await press(pilot, "]")
        assert not bar.display

    drive(make_app(acme), steps)


def gaps_are(*lacks: Completeness) -> Callable[[Pilot[None]], object]:
    def fact(pilot: Pilot[None]) -> object:
        answer = explore(pilot).answer
        return answer is not None and [gap.lacks for gap in answer.view.gaps] == list(lacks)

    return fact


SHORTENED = asked(MANY, "enter", "]", "j", "j", detail=Detail.RICH, max_tokens=2_000)
READING = asked(MANY, "enter", "]", "j", "enter", detail=Detail.RICH, max_tokens=2_000)
LEFT_OUT = asked(MANY, "enter", "]", "enter", detail=Detail.COMPACT, max_tokens=200)
LIGHT = asked(MANY, "enter", "]", "j", "t", detail=Detail.RICH, max_tokens=2_000)
LINES = asked("/def \\w+/ limit:30", "enter", "]", detail=Detail.RICH, max_tokens=2_000)
STATES = {
    "shortened": State(SHORTENED, gaps_are(Completeness.SHORTENED)),
    "shortened-80": State(READING, gaps_are(Completeness.SHORTENED), MIDDLE),
    "shortened-60": State(READING, gaps_are(Completeness.SHORTENED), TINY),
    "left-out": State(LEFT_OUT, gaps_are(Completeness.SHORTENED, Completeness.LEFT_OUT)),
    "left-out-60": State(LEFT_OUT, gaps_are(Completeness.SHORTENED, Completeness.LEFT_OUT), TINY),
    "light": State(LIGHT, lambda pilot: not pilot.app.current_theme.dark),
    "lines": State(LINES, gaps_are(Completeness.SHORTENED), LARGE),
}


@pytest.mark.usefixtures("_small_budgets")
@pytest.mark.parametrize("name", STATES)
def test_text_state(acme: Service, snap_compare: Compare, name: str) -> None:
    check(make_app(acme), snap_compare, STATES[name])


def test_text_without_colour(acme: Service, snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    check(make_app(acme), snap_compare, State(SHORTENED, lambda pilot: bool(pilot.app.no_color)))
