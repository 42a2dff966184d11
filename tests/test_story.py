"""Conversations of agents: which calls belong together, which follows which, and which were wasted."""

import json
from typing import Any

import pytest

from keyhole.core.journal.story import LONGEST_BREAK, Conversation, Waste, conversations
from keyhole.core.types.calls import Call
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.asked_text import asked_text, short_tool

NOON = 1_786_104_000.0
A, B = "src/a.py", "src/b.py"


def made(number: int, tool: str, shown: list[list[object]] | None = None, **facts: Any) -> Call:
    given: dict[str, Any] = {
        "session": "s",
        "response_bytes": 100,
        "tokens": 10,
        "status": CallStatus.COMPLETE,
        **facts,
    }
    return Call(
        id=number,
        change=number,
        started=given.pop("started", NOON + number),
        process=given.pop("process", 1),
        transport=given.pop("transport", "stdio"),
        client=given.pop("client", "agent"),
        client_version="1",
        tool=tool,
        arguments=json.dumps(given.pop("arguments", {})),
        shown=json.dumps(shown) if shown else "",
        **given,
    )


def search(number: int, *paths: str, query: str = "retry", **facts: Any) -> Call:
    return made(number, "search_code", [[path] for path in paths], arguments={"query": query}, **facts)


def read(number: int, path: str, first: int = 1, last: int = 50, version: str = "v1", **facts: Any) -> Call:
    arguments = {"path": path, "start_line": first}
    return made(number, "read_file", [[path, first, last, version]], arguments=arguments, **facts)


def told(*calls: Call) -> Conversation:
    (found,) = conversations(calls)
    return found


def wastes(*calls: Call) -> list[Waste | None]:
    return [step.waste for step in told(*calls).steps]


@pytest.mark.parametrize(
    ("other", "count"),
    [
        ({}, 1),
        ({"session": "t"}, 2),
        ({"client": "other"}, 2),
        ({"started": NOON + 1 + LONGEST_BREAK}, 1),
        ({"started": NOON + 2 + LONGEST_BREAK}, 2),
        # A journal of 0.1.0 has no sessions.
        ({"session": "", "process": 2}, 2),
    ],
)
def test_a_conversation_is_one_connection_without_a_long_break(other: dict[str, Any], count: int) -> None:
    first = search(1, **{"session": other["session"], "process": 1} if other.get("session") == "" else {})
    assert len(conversations([first, search(2, **other)])) == count


def test_over_http_processes_share_the_calls_of_a_client() -> None:
    calls = [search(number, transport="http", session="", process=number % 2) for number in range(1, 5)]
    assert [len(found.steps) for found in conversations(calls)] == [4]


def test_a_search_a_map_and_a_read_are_a_chain() -> None:
    mapped = made(2, "map_file", [[A]], arguments={"path": f"./{A}"})
    found = told(search(1, A, B), mapped, read(3, A), read(4, A, 51, 99), read(5, B), read(6, "src/c.py"))
    assert [(step.follows, step.depth) for step in found.steps] == [(0, 0), (1, 1), (2, 2), (3, 3), (1, 1), (0, 0)]


def test_another_page_follows_the_first_and_the_path_of_a_search_is_only_a_filter() -> None:
    second = made(2, "search_code", [[B]], arguments={"query": "retry", "offset": 10, "limit": 20})
    filtered = made(3, "search_code", [[A]], arguments={"query": "other", "path": A})
    assert [step.follows for step in told(search(1, A), second, filtered).steps] == [0, 1, 0]


def test_the_same_call_with_the_same_answer_is_repeated() -> None:
    found = told(search(1, A), search(2, A), search(3, A, response_bytes=101), search(4, status=CallStatus.PENDING))
    assert [step.waste for step in found.steps] == [Waste.NOT_FOLLOWED, Waste.REPEATED, Waste.NOT_FOLLOWED, None]
    assert (found.steps[1].same_as, found.wasted_tokens, found.tokens) == (1, 30, 40)
    failed = [made(number, "map_file", arguments={"path": "x"}, status=CallStatus.ERROR) for number in (1, 2)]
    assert wastes(*failed) == [None, Waste.REPEATED]


def test_lines_are_already_read_only_if_all_of_them_were_and_the_file_is_the_same() -> None:
    calls = [read(1, A, 1, 50), read(2, A, 51, 80), read(3, A, 20, 70), read(4, A, 70, 90), read(5, A, 2, 9, "v2")]
    assert wastes(*calls) == [None, None, Waste.ALREADY_READ, None, None]
    assert told(*calls).steps[2].same_as == 2
    both = made(6, "read_file", [[A, 1, 9, "v1"], [B, 1, 9, "v1"]], arguments={"paths": [A, B]})
    assert wastes(*calls, both)[-1] is None


def test_a_search_is_not_followed_if_the_client_went_on_to_another_one() -> None:
    assert wastes(search(1, A), search(2, B, query="other")) == [Waste.NOT_FOLLOWED, None]
    # Both may be followed later, and a search without results has nothing to follow.
    assert wastes(search(1, A), search(2, B, query="other"), read(3, A)) == [None, None, None]
    assert wastes(search(1), search(2, B, query="other")) == [None, None]


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("search_code", {"query": "retry backoff", "limit": 5, "format": "text"}, "retry backoff limit=5"),
        ("search_code", {"query": "a\nb", "language": "py", "include_tests": False}, "a\\nb lang=py tests=no"),
        ("read_file", {"path": A, "start_line": 40, "max_lines": 41}, f"{A}:40-80"),
        ("read_file", {"path": A, "start_line": 40}, f"{A}:40-"),
        ("read_file", {"paths": [A, B]}, f"{A}, {B}"),
        ("map_file", {"path": A, "symbol": "Client", "level": "full"}, f"{A} Client level=full"),
        ("find_references", {"symbol": "Client.send", "relation": "callers"}, "Client.send relation=callers"),
        ("find_references", {"path": A, "line": 7}, f"{A}:7"),
        ("get_tree", {"pattern": "*.py", "path": "src"}, "*.py in src"),
        ("get_tree", {}, "."),
        ("index_status", {}, ""),
        ("resources/read", {"uri": "keyhole://file/a"}, "keyhole://file/a"),
        ("their_tool", {"a": [1, "b"]}, 'a=[1, "b"]'),
        ("search_code", {"query": 7, "path": ""}, "query=7 path="),
        ("read_file", {"path": A, "start_line": "many", "paths": "x"}, A),
    ],
)
def test_a_row_says_what_was_asked(tool: str, arguments: dict[str, object], text: str) -> None:
    assert asked_text(made(1, tool, arguments=arguments)) == text


def test_what_was_asked_fits_any_width() -> None:
    call = made(1, "map_file", arguments={"path": "a/long/path/to/some/file.py", "level": "full"})
    assert all(len(asked_text(call, width)) <= width for width in range(4, 60))
    assert asked_text(call, 12).endswith("le.py")
    assert short_tool("search_code") == "search"
    assert short_tool("other") == "other"
