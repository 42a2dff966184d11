"""One search serves every form of an answer: other tabs, details and budgets use the same results."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from driving import answer_of, ask, drive, explore, make_app, make_service, press
from fastmcp import Client
from textual.pilot import Pilot

from keyhole.core.search.engine import Engine
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail, Format, Mode
from keyhole.core.types.search_results import SearchResult
from keyhole.core.types.view_requests import Query, SearchRequest
from keyhole.mcp_server.server import build_server
from keyhole.tui import query_syntax, search_state
from keyhole.tui.answer import as_json, compare, find_answer
from keyhole.tui.call import json_rpc
from keyhole.tui.search_state import Variant
from keyhole.tui.widgets.line_view import LineView

Search = Callable[..., SearchResult]


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the queries that the engine runs."""
    searched: list[str] = []
    search: Search = Engine.search

    def counted(self: Engine, query: Query, mode: Mode | None = None) -> SearchResult:
        searched.append(query.text)
        return search(self, query, mode)

    monkeypatch.setattr(Engine, "search", counted)
    return searched


def test_tabs_details_and_budgets_need_no_other_search(acme: Service, searches: list[str]) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "handle event", "enter")
        assert searches == ["handle event"]
        ways = set[tuple[str, str, int | None, int]]()
        for key in ("]", "]", "]", "v", "v", "v", "v", "d", "d", "d", "minus", "minus", "plus"):
            await press(pilot, key)
            screen, request = explore(pilot), answer_of(pilot).request
            ways.add((screen.tab, request.detail_level, request.max_tokens, screen.versus))
            assert not screen.query_one(LineView).document.text.startswith("✗")
        assert len(ways) == 12
        assert searches == ["handle event"]
        await press(pilot, "n")
        assert searches == ["handle event"] * 2

    drive(make_app(acme), steps)


def test_a_line_is_parsed_once(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def read(line: str) -> SearchRequest:
        parsed.append(line)
        return query_syntax.read_query(line)

    async def steps(pilot: Pilot[None]) -> None:
        monkeypatch.setattr(search_state, "read_query", read)
        await ask(pilot, "backoff lang:py")
        assert answer_of(pilot).request.language == "py"
        assert parsed == ["backoff lang:py"]

    drive(make_app(acme), steps)


REQUESTS = [
    SearchRequest("handle event", limit=7),
    SearchRequest("handle event", limit=100, detail_level=Detail.MINIMAL),
    SearchRequest("handle event", offset=5, detail_level=Detail.RICH, max_tokens=1_500),
    SearchRequest("handle event", detail_level=Detail.AUTO),
    SearchRequest("/handle_\\w+/"),
    SearchRequest("nothing_like_this"),
    SearchRequest("delay", path="*.md"),
]
OTHERS = [
    {"format": Format.JSON},
    *({"detail_level": detail, "format": form} for detail in Detail for form in Format),
    *({"max_tokens": tokens} for tokens in (1_000, 3_000, 25_000)),
]


@pytest.mark.anyio
@pytest.mark.parametrize("request_", REQUESTS)
async def test_what_is_written_from_another_search_is_what_a_client_gets(
    unasked_service: Service, request_: SearchRequest
) -> None:
    """Compare every other form of an answer, byte for byte, with the same call over MCP."""
    service = unasked_service
    known, _ = service.search_page(request_)
    async with Client(build_server(Service(service.root, service.settings))) as client:
        for changes in OTHERS:
            other = replace(request_, **changes)  # type: ignore[arg-type]
            call = json.loads(json_rpc(other))["params"]
            (block,) = (await client.call_tool_mcp(call["name"], call["arguments"])).content
            assert without_latency(service.search_page(other, known)[1].text) == without_latency(block.text)


def without_latency(text: str) -> list[str]:
    """Remove the one line that may differ between two answers."""
    return [line for line in text.split("\n") if not line.startswith('"latency_ms":')]


def test_a_smaller_page_is_the_start_of_a_larger_one(acme: Service, searches: list[str]) -> None:
    many = SearchRequest("handle event", limit=100, detail_level=Detail.MINIMAL)
    found = find_answer(acme, 1, many)
    assert found.result.query.limit == 100
    other = compare(acme, found, Variant(detail=Detail.COMPACT))
    assert searches == ["handle event"]
    assert other.there == acme.search_view(replace(many, detail_level=Detail.COMPACT)).truncation.estimated_tokens
    # In the other direction, there is more to find.
    few = find_answer(acme, 2, replace(many, detail_level=Detail.COMPACT))
    searches.clear()
    compare(acme, few, Variant(detail=Detail.MINIMAL))
    assert searches == ["handle event"]


def test_another_question_is_searched_for(acme: Service, searches: list[str]) -> None:
    known, _ = acme.search_page(SearchRequest("handle event"))
    for other in (
        SearchRequest("backoff"),
        SearchRequest("handle event", offset=10),
        SearchRequest("handle event", language="python"),
        SearchRequest("handle event", include_tests=False),
        SearchRequest("handle event", limit=11),
    ):
        searches.clear()
        assert acme.search_page(other, known)[1].text == acme.search_view(other).text
        assert searches == [other.query] * 2


def test_after_a_change_it_is_searched_again(tmp_path: Path, searches: list[str]) -> None:
    root = tmp_path / "moving"
    root.mkdir()
    (root / "a.py").write_text("def first(): pass\n")
    service = make_service(root)
    service.index()
    found = find_answer(service, 1, SearchRequest("first"))
    # The changed file is a hit and is not indexed yet, so the cached results are stale.
    (root / "a.py").write_text("x = 1\n\n\ndef first(): pass\n")
    os.utime(root / "a.py", (1, 1))
    searches.clear()
    assert json.loads(as_json(service, found).text)["results"][0]["preview"] == "def first(): pass"
    assert searches == ["first"]
    # Another index with the same generation has different chunk numbers.
    found = find_answer(service, 2, SearchRequest("first"))
    generation = found.result.index.generation
    service.clear()
    (root / "0.py").write_text("def other(): pass\n\n\ndef first(): pass\n")
    while service.index(full=True).generation < generation:
        pass
    searches.clear()
    assert len(json.loads(as_json(service, found).text)["results"]) == 2
    assert searches == ["first"]


def test_a_result_without_a_signature_is_called_by_its_first_line(tmp_path: Path) -> None:
    root = tmp_path / "odd"
    root.mkdir()
    # The file name contains the separator between a place and its label.
    (root / "a (1) b.py").write_text("value = compute(1)\n")
    service = make_service(root)
    service.index()
    (row,) = find_answer(service, 1, SearchRequest("compute")).rows
    assert (row.label.before, row.label.kind, row.label.after) == ("", "code", "value = compute(1)")
