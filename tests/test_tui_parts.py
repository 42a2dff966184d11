"""The parts of the explorer that need no screen."""

import json
from pathlib import Path

import pytest
from textual.content import Content

from keyhole.core.errors import QueryError
from keyhole.core.types.choices import Detail, Mode
from keyhole.core.types.index import IndexVersion
from keyhole.core.types.inventory import IndexedFile, Inventory
from keyhole.core.types.missing import NothingFound
from keyhole.core.types.search_results import Hit, SearchResult
from keyhole.core.types.source_files import Skip, SkipReason
from keyhole.core.types.view_requests import Query, SearchRequest
from keyhole.tui.answer import label_of
from keyhole.tui.call import json_rpc
from keyhole.tui.document import Document
from keyhole.tui.editor import editor_command
from keyhole.tui.folders import build_tree
from keyhole.tui.notices import nothing_found_lines
from keyhole.tui.query_syntax import Words, read_query
from keyhole.tui.screens.pick import Choice, matching
from keyhole.tui.search_state import BUDGETS, DETAILS, SearchState, Variant
from keyhole.tui.source_colours import coloured, lexer_of


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        ("retry backoff", SearchRequest("retry backoff")),
        ("retry lang:py backoff", SearchRequest("retry backoff", language="py")),
        ("lang:py path:src/net kind:class x", SearchRequest("x", language="py", path="src/net", kind="class")),
        ("role:docs x", SearchRequest("x", role="docs")),
        ("x role:-test,-fixture", SearchRequest("x", role="-test,-fixture")),
        ("mode:symbol tests:no limit:20 x", SearchRequest("x", mode=Mode.SYMBOL, include_tests=False, limit=20)),
        ("tests:yes x", SearchRequest("x")),
        ("x lang:", SearchRequest("x")),
        ("std::vector http://a path:", SearchRequest("std::vector http://a")),
        ("/lang:py/", SearchRequest("/lang:py/")),
        ("", SearchRequest("")),
    ],
)
def test_filters_are_read_from_the_line(line: str, request_: SearchRequest) -> None:
    assert read_query(line) == request_


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x mode:fuzzy", "unknown mode 'fuzzy'. Choose from: auto, hybrid, semantic, keyword, regex, symbol"),
        ("x tests:maybe", "unknown value tests:maybe; use tests:yes or tests:no"),
        ("x limit:many", "limit:many is not a number"),
    ],
)
def test_a_filter_that_means_nothing_is_an_error(line: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        read_query(line)


INVENTORY = Inventory(
    files=(
        IndexedFile("README.md", "markdown", 3),
        IndexedFile("src/a.py", "python", 5),
        IndexedFile("src/net/b.py", "python", 5),
    ),
    skips=(Skip("src/.env", SkipReason.SECRET, "why"), Skip("out", SkipReason.IGNORED, "why", is_dir=True)),
    kinds=("function", "class"),
)


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("retry la", "retry lang:"),
        ("retry lang:", "retry lang:python"),
        ("lang:m", "lang:markdown"),
        ("path:s", "path:src"),
        ("path:src/", "path:src/net"),
        ("kind:c", "kind:class"),
        ("mode:r", "mode:regex"),
        ("tests:", "tests:no"),
        ("lang:python", None),
        ("l", None),
        ("retry", None),
        ("nothing:", None),
    ],
)
def test_filters_are_completed_from_the_index(line: str, completed: str | None) -> None:
    assert Words.of(INVENTORY).complete(line) == completed


def test_the_tree_has_every_path_once() -> None:
    root = build_tree(INVENTORY)
    assert [file.path for file in root.files] == ["README.md"]
    assert [skip.path for skip in root.skips] == ["out"]
    source = root.folders["src"]
    assert (root.count, source.count, source.path) == (3, 2, "src")
    assert [skip.path for skip in source.skips] == ["src/.env"]
    assert source.folders["net"].files[0].path == "src/net/b.py"


def test_detail_goes_around_and_the_budget_does_not() -> None:
    state = SearchState("x")
    seen = [state.detail]
    for _ in DETAILS[1:]:
        state = state.with_detail(1)
        seen.append(state.detail)
    assert sorted(seen) == sorted(DETAILS)
    assert state.with_detail(1).detail == Detail.COMPACT
    assert state.with_budget(-99).max_tokens == BUDGETS[0]
    assert state.with_budget(99).max_tokens == BUDGETS[-1]


def test_pages_are_remembered_as_they_were_and_forgotten_with_the_question() -> None:
    state = SearchState("x").with_next_page(8).with_next_page(13)
    assert (state.page, state.request.offset) == (3, 13)
    assert state.with_previous_page().request.offset == 8
    assert state.with_previous_page().with_previous_page().with_previous_page().page == 1
    assert state.with_line("y").page == state.with_detail(1).page == state.with_budget(-1).page == 1


def test_other_ways_to_ask_are_all_other_ways() -> None:
    state = SearchState("x")
    variants = state.variants()
    assert Variant(detail=Detail.COMPACT) not in variants
    assert {other.detail for other in variants} >= set(DETAILS) - {Detail.COMPACT}
    assert all(other.of(state.request) != state.request for other in variants)


def test_the_call_leaves_defaults_out() -> None:
    request = SearchRequest("a\x1b", language="py", detail_level=Detail.RICH, max_tokens=4_000)
    message = json_rpc(request)
    assert "\x1b" not in message
    assert json.loads(message) == {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "search_code",
            "arguments": {"query": "a\x1b", "language": "py", "detail_level": "rich", "max_tokens": 4_000},
        },
    }


@pytest.mark.parametrize(
    ("environment", "command"),
    [
        ({}, ["vi", "+7", "/w/a b.py"]),
        ({"EDITOR": "nano"}, ["nano", "+7", "/w/a b.py"]),
        ({"EDITOR": "nano", "VISUAL": "code"}, ["code", "--wait", "--goto", "/w/a b.py:7"]),
        ({"EDITOR": "/usr/bin/code --wait -n"}, ["/usr/bin/code", "--wait", "-n", "--goto", "/w/a b.py:7"]),
        ({"EDITOR": "hx"}, ["hx", "/w/a b.py:7"]),
        ({"EDITOR": "pycharm"}, ["pycharm", "--wait", "--line", "7", "/w/a b.py"]),
        ({"EDITOR": "  "}, ["vi", "+7", "/w/a b.py"]),
    ],
)
def test_each_editor_is_told_the_line_in_its_own_way(environment: dict[str, str], command: list[str]) -> None:
    assert editor_command(Path("/w/a b.py"), 7, environment) == command


def test_colours_do_not_change_the_text() -> None:
    source = 'import os\n\n\ndef f(a):\n    """Doc\n    more\n    """\n    return "x"  # why\n\n'
    lines = source.split("\n")
    painted = coloured(lines, 0, len(lines), "python")
    assert [line.plain for line in painted] == lines
    assert any(span.style == "$secondary" for span in painted[3].spans)


def test_a_block_inside_a_docstring_is_coloured_from_outside_of_it() -> None:
    lines = ["def f():", '    """Doc', *["    words"] * 50, '    """', "    return 1", ""]
    painted = coloured(lines, 40, len(lines), "python")
    assert len(painted) == len(lines) - 40
    assert painted[0].spans[0].style == "$text-muted italic"
    assert "$text-muted italic" not in {span.style for span in painted[13].spans}


def test_a_long_docstring_is_coloured_from_the_definition_that_it_belongs_to() -> None:
    lines = ["class A:", "    def f():", '        """Doc', *["    words"] * 150, '    """', "    return 1", ""]
    painted = coloured(lines, 140, len(lines), "python", [0, 1])
    assert painted[0].spans[0].style == "$text-muted italic"
    assert "$secondary" in {span.style for span in painted[14].spans}


def test_control_characters_are_shown_and_not_sent() -> None:
    (line,) = coloured(["x = '\x1b[31m'"], 0, 1, "python")
    assert line.plain == "x = '\\x1b[31m'"


@pytest.mark.parametrize(("path", "lexer"), [("a/b.py", "python"), ("x.unknown", ""), ("Makefile", "make")])
def test_the_lexer_is_found_by_name(path: str, lexer: str) -> None:
    assert lexer_of(path) == lexer


@pytest.mark.parametrize(("text", "lines"), [("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\n\n", ["a", ""])])
def test_the_last_line_needs_no_end(text: str, lines: list[str]) -> None:
    assert Document(text).lines == lines


def test_what_is_typed_narrows_the_choices() -> None:
    choices = [Choice(name, "", name) for name in ("src/read.py", "docs/retry.md", "src/retry.py", "tests/a_retry.py")]
    assert [choice.name for choice in matching(choices, "retry")] == [
        "docs/retry.md",
        "src/retry.py",
        "tests/a_retry.py",
    ]
    assert [choice.name for choice in matching(choices, "src RE")] == ["src/read.py", "src/retry.py"]
    assert [choice.name for choice in matching(choices, "*TRY.py")] == ["src/retry.py", "tests/a_retry.py"]
    assert [choice.name for choice in matching(choices, "src/*.py re")] == ["src/read.py", "src/retry.py"]
    assert matching(choices, "") == choices


@pytest.mark.parametrize(
    ("kind", "signature", "label"),
    [
        ("class", "class Text(Widget)", "class Text(Widget)"),
        ("method", "async def fetch(self, fn)", "async method fetch(self, fn)"),
        ("function", "pub fn new(x: i32) -> Self", "pub function new(x: i32) -> Self"),
        ("method", "func (r *Repo) Find(id int)", "method (r *Repo) Find(id int)"),
        ("class", "export default class OrderList", "export default class OrderList"),
        ("method", "render(def: string): void", "method render(def: string): void"),
        ("method", "public int sum(int a)", "method public int sum(int a)"),
        ("type", "type Order = { id: number }", "type Order = { id: number }"),
    ],
)
def test_a_result_says_its_kind_once(kind: str, signature: str, label: str) -> None:
    hit = Hit("a.py", "python", 1, 1, 1, 1.0, kind, "name", 1, signature, "", "", "", ())
    found = label_of(hit)
    assert f"{found.before}{found.kind} {found.after}" == label


@pytest.mark.parametrize(
    ("index", "lines"),
    [
        (IndexVersion(1, 41, total=200), ["· the index is being built, 159 of 200 files so far"]),
        (
            IndexVersion(1, 41, total=200, is_interrupted=True),
            ["· the last index run did not finish, 159 of 200 files are indexed", "· Press esc, then r to continue."],
        ),
        (
            IndexVersion(0, None, is_interrupted=True),
            ["· the last index run did not finish and the index is empty", "· Press esc, then r to continue."],
        ),
    ],
    ids=["is built", "was killed", "was killed at once"],
)
def test_an_incomplete_index_is_the_reason_why_nothing_is_found(index: IndexVersion, lines: list[str]) -> None:
    result = SearchResult(Query("x"), Mode.KEYWORD, (), 0, index)
    assert nothing_found_lines(result) == ["[bold]◌ Nothing found yet[/]", "", *lines]


def test_an_empty_list_shows_what_was_looked_for_without_markup() -> None:
    nothing = NothingFound("match for /[bold]/", 14, closest=("[red]x",))
    result = SearchResult(Query("[bold]"), Mode.REGEX, (), 0, IndexVersion(1), nothing=nothing)
    shown = [Content.from_markup(line).plain for line in nothing_found_lines(result)[2:]]
    assert shown == ["· no match for /[bold]/ in 14 files", "· closest: [red]x"]
