"""The explorer shows, byte for byte, what an agent gets."""

import asyncio
import json
import os
import sys
from typing import Any

import pytest
from driving import ask, drive, explore, explorer, files, make_app, press, settle
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from textual.pilot import Pilot

from keyhole.core.service import Service
from keyhole.core.types.choices import Detail, Format, MapLevel
from keyhole.core.types.view_requests import MapRequest, SearchRequest
from keyhole.tui.search_state import SearchState
from keyhole.tui.widgets.answer_banner import Banner
from keyhole.tui.widgets.gauge import Gauge
from keyhole.tui.widgets.line_view import LineView

WIDE_QUERY = "handle event limit:50"


@pytest.mark.parametrize("detail", list(Detail))
@pytest.mark.parametrize("budget", [1_000, 20_000])
def test_the_text_tab_has_the_bytes_that_an_agent_gets(acme: Service, detail: Detail, budget: int) -> None:
    request = SearchRequest("handle event", limit=50, detail_level=detail, max_tokens=budget)

    async def steps(pilot: Pilot[None]) -> None:
        screen = explore(pilot)
        screen.search_state = SearchState(detail=detail, max_tokens=budget)
        await ask(pilot, WIDE_QUERY, "enter", "]")
        view = screen.query_one(LineView)
        assert view.document.text == acme.search_view(request).text
        # Without soft wrap, a row is a line, with a mark where the line continues; rows in between are only drawn.
        view.focus()
        await press(pilot, "w")
        shown = [y for y in range(view.size.height) if not view.locate(y).part]
        rows = [view.render_line(y).text[view.gutter_width :].rstrip() for y in shown]
        width = view.scrollable_content_region.width - view.gutter_width
        lines = view.document.text.split("\n")
        assert [row.rstrip("» ") for row in rows[:8]] == [
            line.expandtabs(4)[: width - (len(line) > width)].rstrip() for line in lines[:8]
        ]

    drive(make_app(acme), steps)


@pytest.fixture(scope="module")
def received(acme: Service) -> dict[str, str]:
    """Send all requests to a server in a separate process, through a real client over stdio."""

    async def ask_all() -> dict[str, str]:
        settings = {"KEYHOLE_CACHE_DIR": str(acme.settings.cache_dir), "KEYHOLE_INDEX_MODEL": "none"}
        environment = {"PATH": os.environ["PATH"], "HOME": str(acme.root.parent), "KEYHOLE_SHARE": "0", **settings}
        program = ["-m", "keyhole", "mcp", str(acme.root)]
        transport = StdioTransport(sys.executable, program, env=environment, keep_alive=False)
        async with Client(transport) as client:
            return {name: await text_of(client, *call) for name, call in CALLS.items()}

    return asyncio.run(ask_all())


async def text_of(client: Client[Any], tool: str, arguments: dict[str, Any]) -> str:
    (block,) = (await client.call_tool_mcp(tool, arguments)).content
    assert block.type == "text"
    return block.text


WIDE = {"query": "handle event", "limit": 50}
# A client's requests, and how to make the same ones in the explorer.
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "whole": ("search_code", {**WIDE, "detail_level": "compact", "max_tokens": 20_000}),
    "cut": ("search_code", {**WIDE, "detail_level": "rich", "max_tokens": 2_000}),
    "second": ("search_code", {"query": "handle event", "offset": 10, "max_tokens": 20_000}),
    "json": ("search_code", {"query": "backoff", "max_tokens": 20_000, "format": "json"}),
    "map": ("map_file", {"path": "src/acme/retry.py", "level": "compact", "max_tokens": 20_000}),
}


def test_the_text_tab_and_the_banner_are_what_a_real_client_receives(acme: Service, received: dict[str, str]) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        for name, line, state, keys in [
            ("whole", WIDE_QUERY, SearchState(), ("enter",)),
            ("cut", WIDE_QUERY, SearchState(detail=Detail.RICH, max_tokens=2_000), ("enter",)),
            ("second", "handle event", SearchState(), ("enter", "n")),
        ]:
            await ask(pilot, "")
            screen = explore(pilot)
            screen.tab, screen.search_state = "Text", state
            await ask(pilot, line, *keys)
            text = screen.query_one(LineView).document.text
            assert text.encode() == received[name].encode()
            banner = screen.query_one(Banner)
            shown = " ".join(strip.text.strip() for strip in banner.render_lines(banner.size.region))
            assert " ".join(shown.split())[2:] == received[name].partition("\n")[0]

    drive(make_app(acme), steps)


def test_the_json_and_map_tabs_are_what_a_real_client_receives(acme: Service, received: dict[str, str]) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explore(pilot).search_state = SearchState()
        await ask(pilot, "backoff", "enter", "]", "]")
        shown = json.loads(explore(pilot).query_one(LineView).document.text)
        # Only the time taken may differ between front ends.
        assert shown | {"latency_ms": 0} == json.loads(received["json"]) | {"latency_ms": 0}
        explorer(pilot).open_file("src/acme/retry.py", 1)
        await settle(pilot)
        await press(pilot, "d", "d")
        assert files(pilot).query_one(LineView).document.text.encode() == received["map"].encode()

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
        # Each row is rounded up, and the text around the rows costs something too.
        assert rows - len(answer.shown) <= total <= rows + 60
        assert explore(pilot).query_one(Gauge).share == pytest.approx(total / 20_000)

    drive(make_app(acme), steps)
