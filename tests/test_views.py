"""Views of search results: detail, budget and banner, to the byte, and the properties of every view."""

import json
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keyhole.core.notes import Note, NoteKind
from keyhole.core.types.choices import Detail, Format, Mode
from keyhole.core.types.index import IndexVersion
from keyhole.core.types.search_results import Hit, Passage, SearchResult, Signal, Stretch
from keyhole.core.types.view_requests import Query
from keyhole.core.view.budget.limits import EFFECTIVE_CHARACTERS
from keyhole.core.view.budget.sizes import Budget, measure
from keyhole.core.view.budget.tokens import estimate_tokens
from keyhole.core.view.lists.hit_text import ladders
from keyhole.core.view.lists.listing import ListView, Shown
from keyhole.core.view.lists.search_view import search_view

Check = Callable[[str, str], None]


def make_hit(number: int, **facts: object) -> Hit:
    hit = Hit(
        path=f"src/module_{number}.py",
        language="python",
        start_line=10 * number + 1,
        end_line=10 * number + 4,
        chunk_id=number,
        score=round(1 - number / 100, 4),
        kind="function",
        name=f"compute_{number}",
        line=10 * number + 2,
        signature=f"def compute_{number}(first: int, second: str = '') -> float",
        doc="Compute what is asked for.",
        returns="float",
        definitions=f"function compute_{number}",
        signals=(Signal("words", 0.01, "rank 1"),),
    )
    return replace(hit, **facts)  # type: ignore[arg-type]


SOURCE = "@cached\ndef compute(first):\n\n    return first\n"
PASSAGE = Passage(SOURCE, "import os\n\n", "\n\ndef next(): ...\n", (12, 14), (Stretch(11, SOURCE),))
HITS = (
    make_hit(1),
    make_hit(
        2,
        kind="class",
        name="Store",
        signature="class Store(Base)",
        returns="",
        doc="Keeps every symbol of a workspace, its place and what it is called in the language that it is written in, "
        "and gives it back when somebody asks for it by name.",
        definitions="class Store, method add, method search, method delete",
        key_methods=("add", "search", "delete"),
    ),
    make_hit(3, kind="code", name="", signature="", doc="", returns="", definitions=""),
    make_hit(
        4, path="docs/文档.md", language="markdown", kind="section", name="检索", signature="# 检索", doc="", returns=""
    ),
    make_hit(
        5, path="src/" + "deep/" * 60 + "end.py", signature="def long(" + "argument, " * 60 + "last)", name="long"
    ),
    make_hit(6, path="src/evil\x1b[31m.py", doc="Rings \x07 the bell.", best_line=Stretch(62, "\tdone = 1")),
)
HOSTILE = "title = '\x1b]0;owned\x07'\r\n\tdone = 1\r\n"
PASSAGES = {
    **dict.fromkeys(range(1, 6), PASSAGE),
    6: Passage(HOSTILE, "", "", (61,), (Stretch(61, HOSTILE),)),
}


def make_result(hits: tuple[Hit, ...] = HITS, *, total: int = 0, offset: int = 0, limit: int = 10) -> SearchResult:
    query = Query("compute", Mode.KEYWORD, limit=limit, offset=offset)
    with_source = tuple(replace(hit, passage=PASSAGES.get(hit.chunk_id, PASSAGE)) for hit in hits)
    return SearchResult(query, Mode.KEYWORD, with_source, total or len(hits), IndexVersion(7, 0, 3))


def with_passage(result: SearchResult, passage: Passage) -> SearchResult:
    """Return a result whose hits all have the same source."""
    return replace(result, hits=tuple(replace(hit, passage=passage) for hit in result.hits))


# Goldens


@pytest.mark.parametrize("form", list(Format))
@pytest.mark.parametrize("detail", list(Detail))
def test_every_level(detail: Detail, form: Format, check_golden: Check) -> None:
    view = search_view(make_result(total=37), Shown(detail, form), project="acme")
    check_golden(f"views/search-{detail}.{form}", view.text)


LONG = replace(PASSAGE, content=(Stretch(11, "    value = compute(value)  # and again\n" * 90),))


CUTS = {
    "lowered-tail": (10, 6_000, Detail.RICH),
    "lowered-all": (10, 1_000, Detail.RICH),
    "dropped": (50, 1_000, Detail.COMPACT),
    "dropped-at-minimal": (50, 1_000, Detail.MINIMAL),
    "too-large": (1, 1_000, Detail.RICH),
}


@pytest.mark.parametrize("name", CUTS)
@pytest.mark.parametrize("form", list(Format))
def test_what_the_budget_removes(name: str, form: Format, check_golden: Check) -> None:
    count, tokens, detail = CUTS[name]
    result = make_result(tuple(make_hit(number) for number in range(count)), total=count + 7, limit=count)
    result = with_passage(result, LONG)
    view = search_view(result, Shown(detail, form, Budget(tokens)), project="acme")
    check_golden(f"views/cut-{name}.{form}", view.text)


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("none", make_result(())),
        ("beyond-the-end", make_result((), total=37, offset=50)),
        ("last-page", make_result((make_hit(36),), total=37, offset=36)),
        ("exact-fit", make_result(tuple(map(make_hit, range(10))), total=10)),
    ],
)
def test_ends_of_a_list(name: str, result: SearchResult, check_golden: Check) -> None:
    check_golden(f"views/page-{name}.text", search_view(result, Shown(Detail.MINIMAL)).text)


def test_json_has_exactly_the_fields_of_its_level() -> None:
    minimal = ["file_path", "language", "start_line", "end_line", "definitions", "preview", "score"]
    compact = [*minimal, "kind", "name", "qualified_name", "enclosing", "signature", "purpose", "returns"]
    compact += ["key_methods", "chunk_id", "match_lines", "best_line", "similar", "further", "further_count"]
    rich = [*compact, "content", "content_start_line", "content_end_line", "context_before", "context_after"]
    for detail, fields in {Detail.MINIMAL: minimal, Detail.COMPACT: compact, Detail.RICH: rich}.items():
        answer = json.loads(search_view(make_result(), Shown(detail, Format.JSON)).text)
        assert [list(result) for result in answer["results"]] == [fields] * len(HITS)
    assert answer["results"][5]["content"] == PASSAGES[6].text


def test_a_preview_ends_at_two_hundred_characters() -> None:
    long = replace(PASSAGE, content=(Stretch(11, "\n\n" + "x" * 300 + "\ny\n"),))
    result = with_passage(make_result((make_hit(1),)), long)
    (found,) = json.loads(search_view(result, Shown(Detail.MINIMAL, Format.JSON)).text)["results"]
    assert found["preview"] == "x" * 197 + "..."


# Properties

texts = st.text(max_size=300) | st.text(alphabet="🙂検é\x1b\u202e aA1_(\n\t", max_size=300)
paths = st.text(min_size=1, max_size=300) | st.integers(1, 400).map(lambda n: "🙂" * n)
sources = st.builds(str.__mul__, texts, st.integers(1, 100))
line_numbers = st.integers(1, 10**6)
best_lines = st.none() | st.builds(Stretch, line_numbers, texts)
further_hits = st.builds(
    make_hit, st.integers(0, 10**6), name=texts, signature=texts, parent=texts, best_line=best_lines
)
hits = st.lists(
    st.builds(
        make_hit,
        st.integers(0, 10**6),
        path=paths,
        name=texts,
        signature=texts,
        doc=texts,
        returns=texts,
        definitions=texts,
        key_methods=st.lists(texts, max_size=5).map(tuple),
        parent=texts,
        is_similar=st.booleans(),
        best_line=best_lines,
        further=st.lists(further_hits, max_size=3).map(tuple),
        further_count=st.integers(3, 10**6),
    ),
    max_size=25,
)
stretches = st.builds(Stretch, line_numbers, sources)
passages = st.builds(
    Passage,
    sources,
    texts,
    texts,
    st.lists(st.integers(1, 10**6), max_size=8).map(tuple),
    st.lists(stretches, min_size=1, max_size=3).map(tuple),
)
shown = st.builds(
    Shown,
    st.sampled_from(Detail),
    st.sampled_from(Format),
    st.builds(Budget, st.integers(1_000, 25_000), st.sampled_from([4_000, EFFECTIVE_CHARACTERS])),
    st.lists(st.builds(Note, st.sampled_from(NoteKind), texts), max_size=2).map(tuple),
)


@given(hits, st.lists(passages, min_size=1, max_size=5), shown, st.integers(0, 10**6), st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_a_view_keeps_its_promises(
    found: list[Hit], some: list[Passage], how: Shown, more: int, data: st.DataObject
) -> None:
    offset = data.draw(st.integers(0, 10**6))
    numbered = tuple(replace(hit, chunk_id=number) for number, hit in enumerate(found))
    result = make_result(numbered, total=offset + len(numbered) + more, offset=offset, limit=50)
    with_source = (replace(hit, passage=some[number % len(some)]) for number, hit in enumerate(numbered))
    result = replace(result, hits=tuple(with_source), total_hits=data.draw(st.none() | st.just(10**6)))
    view = search_view(result, how, project="🙂" * 100)
    check_promises(view, result, how)


def check_promises(view: ListView, result: SearchResult, how: Shown) -> None:
    info, size = view.truncation, measure(view.text)
    # Never above a limit, and the stated sizes are the measured ones.
    assert size.tokens <= how.budget.tokens
    assert size.chars <= how.budget.chars
    assert (info.estimated_chars, info.estimated_tokens) == (size.chars, estimate_tokens(view.text))
    # Never empty if there is a result; the best are shown; nothing is missing silently.
    kept = len(view.plan.levels)
    assert kept >= min(1, len(result.hits))
    asked = tuple(ladder[0] for ladder in ladders(how.detail, result.hits))
    assert (view.plan.levels == asked) == (info.reason is None)
    assert (info.original_count, info.returned_count) == (len(result.hits), kept)
    # The banner says the same, and is one line.
    line = view.banner
    assert len(line.splitlines()) == 1
    page = view.page
    if kept:
        first, last = page.offset + 1, page.offset + kept
        assert line.startswith(
            f"Results {first:,}-{last:,} of {result.total:,}" if kept > 1 else f"Result {first:,} of"
        )
        assert (" left out" in line) == (kept < len(result.hits))
        assert (" shortened to " in line) == (view.plan.lowered_from < kept)
        assert (f"Next page: offset={last}." in line) == (last < result.total)
        # What is missing and the next step both start within the part of the line that every client shows.
        assert all(line.find(part) < 120 for part in ("Budget", "Limit", "Next page:")), line
    assert view.completeness.is_truncated == (info.reason is not None)
    if how.format == Format.TEXT:
        assert view.text.startswith(f"{line}\n")
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", view.text)
    else:
        check_json(json.loads(view.text), view, result)


def check_json(answer: dict[str, object], view: ListView, result: SearchResult) -> None:
    info, kept = view.truncation, len(view.plan.levels)
    has_more = view.page.offset + kept < result.total
    assert answer["banner"] == view.banner
    assert answer["total_count"] == result.total
    assert answer["returned_count"] == kept == len(answer["results"])  # type: ignore[arg-type]
    assert answer["truncated"] == (info.reason is not None)
    pagination, told = answer["pagination"], answer["truncation_info"]
    assert isinstance(pagination, dict)
    assert isinstance(told, dict)
    assert pagination["has_more"] == has_more == (pagination["cursor"] is not None)
    assert told["estimated_tokens"] == info.estimated_tokens
    # As JavaScript counts, which most clients are written in.
    assert told["estimated_chars"] == len(view.text.encode("utf-16-le")) // 2
