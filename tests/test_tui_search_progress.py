"""Between a search and its answer: old results are marked, pages wait; and notes on what was done with the line."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from driving import answer_of, ask, drive, explore, make_app, press, results_of, settle, wait_for
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content
from textual.pilot import Pilot

from keyhole.core.service import Service
from keyhole.tui import search_progress
from keyhole.tui.query_syntax import FILTERS, unknown_filters
from keyhole.tui.widgets.query_line import QueryLine
from keyhole.tui.widgets.search_note import SearchNote

MANY = "handle event limit:3"


class HeldSearches:
    """Searches that wait until they are released."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldSearches]:
    held, search_page = HeldSearches(), Service.search_page

    def wait(self: Service, *arguments: Any) -> Any:
        assert held.gate.wait(60)
        return search_page(self, *arguments)

    monkeypatch.setattr(Service, "search_page", wait)
    yield held
    held.gate.set()


def subtitle(pilot: Pilot[None]) -> str:
    return Content.from_markup(str(results_of(pilot).border_subtitle)).plain


async def type_line(pilot: Pilot[None], line: str) -> None:
    explore(pilot).query_one(QueryLine).value = line
    await wait_for(pilot, lambda pilot: explore(pilot)._is_searching)


def test_results_of_an_older_search_are_marked_until_the_answer_is_there(acme: Service, held: HeldSearches) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, MANY)
        assert subtitle(pilot).startswith("Page 1")
        held.gate.clear()
        await type_line(pilot, "backoff")
        await wait_for(pilot, lambda pilot: explore(pilot)._progress.is_marked)
        assert subtitle(pilot) == "◌ searching for the new query"
        assert results_of(pilot).rows
        held.gate.set()
        await settle(pilot)
        assert not explore(pilot)._progress.is_marked
        assert subtitle(pilot).startswith("Page 1")

    drive(make_app(acme), steps)


def test_an_answer_that_comes_at_once_is_not_marked(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_progress, "MARK_SECONDS", 60)

    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, MANY)
        await ask(pilot, "backoff")
        assert explore(pilot)._progress._timer is None

    drive(make_app(acme), steps)


def test_the_same_search_again_marks_nothing(acme: Service, held: HeldSearches) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, MANY)
        held.gate.clear()
        explore(pilot)._search()
        assert explore(pilot)._progress._timer is None
        held.gate.set()
        await settle(pilot)

    drive(make_app(acme), steps)


def test_pages_wait_for_the_answer_to_the_new_query(acme: Service, held: HeldSearches) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "retry limit:1", "enter", "n", "n")
        assert answer_of(pilot).request.offset == 2
        held.gate.clear()
        await type_line(pilot, MANY)
        # The old answer's offsets mean nothing for the new query.
        for key in ("n", "n", "p", "n"):
            await pilot.press(key)
        assert explore(pilot).search_state.offsets == (0,)
        held.gate.set()
        await settle(pilot)
        assert answer_of(pilot).request.query == "handle event"
        assert explore(pilot).search_state.offsets == (0, 3, 6)
        assert answer_of(pilot).request.offset == 6

    drive(make_app(acme), steps)


def test_pages_beyond_the_last_one_are_forgotten(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff limit:1", "enter", "p", "p", "p")
        assert explore(pilot).search_state.page == 1
        await press(pilot, "n")
        assert explore(pilot).search_state.page == 2

    drive(make_app(acme), steps)


# Notes


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("retry limit:100000", "limit:100,000 is over the maximum: 50 results a page."),
        ("retry author:ann", "Searching for the text author:ann. Filters: lang: path: kind: role:"),
        ("retry limit:5", ""),
        ("std::vector", ""),
        ("http://example.org", ""),
        ("a:b", ""),
        ('"author:ann"', ""),
        ("/author:ann/", ""),
        ("author:ann mode:regex", ""),
        ("{key:value}", ""),
    ],
)
def test_what_was_done_with_the_line_is_said(acme: Service, line: str, said: str) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, line)
        note = explore(pilot).query_one(SearchNote)
        assert str(note.render()).startswith(said)
        assert note.display == bool(said)
        await ask(pilot, "")
        assert not note.display

    drive(make_app(acme), steps)


@given(st.sampled_from(FILTERS), st.text("abc:/.", min_size=1, max_size=5))
def test_a_known_filter_is_never_unknown(name: str, value: str) -> None:
    assert not any(word.startswith(f"{name}:") for word in unknown_filters(f"word {name}:{value}"))
