"""The explorer's list of calls, without a screen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_calls import CLIENTS, NOON

from keyhole.core.errors import QueryError
from keyhole.core.journal.reader import Changes, Mark
from keyhole.core.service import Service
from keyhole.core.types.calls import Call
from keyhole.core.types.choices import Detail
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.call_filter import CallFilter
from keyhole.tui.call_filter_line import read_filter
from keyhole.tui.call_log import CallLog
from keyhole.tui.call_text import is_same_request, replay_diff, search_of
from keyhole.tui.search_state import SearchState, next_budget
from keyhole.tui.status_words import WORDS


def made(number: int, status: CallStatus = CallStatus.COMPLETE, change: int = 0, arguments: str = "{}") -> Call:
    client = CLIENTS[number % 3]
    facts = {"client_version": "1", "tool": "search_code", "arguments": arguments, "budget": 4_000}
    return Call(number, change or number, NOON, 1, "stdio", client, status=status, **facts)  # type: ignore[arg-type]


def batch(*calls: Call, is_reset: bool = False) -> Changes:
    return Changes(calls, Mark(1, calls[-1].change if calls else 0), is_reset)


def flat(most: int = 2_000) -> CallLog:
    """A log that shows all calls in the order of time."""
    log = CallLog(most)
    log.group(False)
    return log


def ids(log: CallLog) -> list[int]:
    return [call.id for call in log.shown]


def test_the_newest_is_first_and_a_call_that_ends_keeps_its_place() -> None:
    log = flat()
    log.apply(batch(made(1, CallStatus.PENDING), made(2, CallStatus.PENDING)))
    log.apply(batch(made(1, change=3)))
    assert ids(log) == [2, 1]
    assert log.shown[1].status == CallStatus.COMPLETE


@given(st.lists(st.integers(1, 60), max_size=200), st.integers(1, 20))
def test_it_holds_the_newest_however_they_come(numbers: list[int], most: int) -> None:
    log = flat(most)
    for number in numbers:
        log.apply(batch(made(number)))
    newest = sorted(set(numbers), reverse=True)[:most]
    # A call that was dropped may end later; it must not replace a newer one.
    assert ids(log) == newest


def test_a_pause_holds_the_list_and_counts_what_waits() -> None:
    log = flat()
    log.apply(batch(made(1)))
    log.see()
    log.pause(True)
    log.apply(batch(made(2, CallStatus.PENDING), made(1, change=3)))
    log.apply(batch(made(2, change=4), made(3)))
    assert (ids(log), log.new) == ([1], 2)
    log.pause(False)
    assert (ids(log), log.new) == ([3, 2, 1], 2)
    log.see()
    assert log.new == 0


def test_a_long_pause_is_bounded() -> None:
    log = flat(10)
    log.pause(True)
    for number in range(1, 500):
        log.apply(batch(made(number)))
    assert len(log._held) < 40
    log.pause(False)
    assert ids(log) == list(range(499, 489, -1))


def test_clearing_the_journal_removes_its_calls() -> None:
    log = flat()
    log.apply(batch(made(1), made(2)))
    log.apply(batch(made(1, change=9), is_reset=True))
    assert ids(log) == [1]


def test_filters_are_read_from_the_line_and_names_may_be_short() -> None:
    log = flat()
    log.apply(batch(made(1), made(2), made(3, CallStatus.ERROR)))
    assert read_filter("client:visual status:error retry", log.words) == CallFilter(
        client="Visual Studio Code", status=CallStatus.ERROR, text="retry"
    )
    assert read_filter("tool:sea", log.words) == CallFilter(tool="search_code")
    assert read_filter("tool:", log.words) == CallFilter()
    with pytest.raises(QueryError, match="unknown status 'gone'"):
        read_filter("status:gone", log.words)
    log.show_only(CallFilter(status=CallStatus.ERROR))
    assert ids(log) == [3]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("#39", [39]),
        ("12:04:26", [39]),
        ("map 2,586", [7]),
        ("backoff limit=1 left out", [37]),
        ("Visual partial", [38, 26, 14]),
        ("waste:repeated tool:map", [35, 31, 23]),
        ("wasted map", [35, 31, 23]),
        ("conversation:1 map", [31, 19, 7]),
        ("time:12:04 tool:read", [38]),
        ("time:2026-08-07T12:04 tool:read", [38]),
        ("used:40-50% status:complete", [21, 20]),
        ("call:7", [7]),
    ],
)
@pytest.mark.usefixtures("in_greenwich")
def test_the_filter_takes_what_the_columns_show(agents_service: Service, line: str, shown: list[int]) -> None:
    log = flat()
    log.apply(agents_service.journal_reader().poll())
    log.show_only(read_filter(line, log.words))
    assert ids(log) == shown


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("waste:gone", "unknown waste 'gone'"),
        ("time:noon", "use time:14:05"),
        ("used:all", "use used:90-100%"),
        ("call:x", "call: takes the number of a call"),
    ],
)
def test_a_filter_that_is_none_says_what_to_write(line: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        read_filter(line, CallLog().words)


@pytest.mark.parametrize("status", list(CallStatus))
def test_the_filter_takes_every_status_that_the_column_shows(status: CallStatus) -> None:
    log = flat()
    shown, _ = WORDS[status]
    for word in (shown[2:], shown[2:].replace(" ", "-"), shown[2:].upper(), shown[2:6]):
        assert read_filter(f"retry status:{word}", log.words) == CallFilter(status=status, text="retry"), word


def test_a_lost_call_is_found_by_that_word() -> None:
    log = flat()
    log.apply(batch(made(1), made(2, CallStatus.PENDING)))
    log.show_only(read_filter("status:lost", log.words))
    assert ids(log) == [2]


@pytest.mark.parametrize(
    ("arguments", "state", "is_same"),
    [
        ('{"query": "a b"}', SearchState("a b", max_tokens=4_000), True),
        (
            '{"query": "a", "language": "py", "include_tests": false, "detail_level": "rich", "max_tokens": 1234}',
            SearchState("a lang:py tests:no", Detail.RICH, 1_234),
            True,
        ),
        ('{"query": "a", "offset": 8, "limit": 8}', SearchState("a limit:8", max_tokens=4_000, offsets=(0, 8)), True),
        ('{"query": "a  b"}', SearchState("a  b", max_tokens=4_000), False),
        ('{"query": "a", "cursor": "x"}', SearchState("a", max_tokens=4_000), False),
        ('{"query": "a", "line_numbers": false}', SearchState("a", max_tokens=4_000), False),
        ('{"query": "a", "line_numbers": true, "output": "lines"}', SearchState("a", max_tokens=4_000), True),
        ('{"query": "/a/", "context_lines": 2}', SearchState("/a/", max_tokens=4_000), False),
        ('{"query": "a", "max_tokens": "many"}', SearchState("a"), True),
        ("{}", SearchState(max_tokens=4_000), False),
    ],
)
def test_a_call_is_asked_again_in_the_search_line(arguments: str, state: SearchState, is_same: bool) -> None:
    call = made(1, arguments=arguments)
    assert search_of(call) == state
    assert is_same_request(search_of(call), call) == is_same


@pytest.mark.parametrize(
    ("tokens", "smaller", "larger"),
    [(4_000, 3_000, 6_000), (1_234, 1_000, 1_500), (50, 1_000, 1_000), (99_999, 25_000, 25_000)],
)
def test_a_budget_between_two_goes_to_its_neighbours(tokens: int, smaller: int, larger: int) -> None:
    assert (next_budget(tokens, -1), next_budget(tokens, 1)) == (smaller, larger)


def test_a_replay_is_compared_with_what_was_sent() -> None:
    text, note = replay_diff("one\ntwo\n", "one\nthree\n")
    assert "-two\n+three\n" in text
    assert "tokens" in note
    assert replay_diff("one\n", "one\n")[0] == "The answers are identical.\n"
