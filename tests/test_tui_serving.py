"""The explorer serves agents from its own process, shows their calls, and frees the port when it closes."""

import asyncio
import json
import os
import re
import socket
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
from driving import calls_of, drive, explorer, make_app, press, settle, text_of, traffic, wait_until
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp.types import Implementation
from textual.pilot import Pilot
from textual.widgets import Input

from keyhole.core.journal.story import Waste
from keyhole.core.service import Service
from keyhole.core.types.completeness import CallStatus
from keyhole.tui.server_state import ServerPhase
from keyhole.tui.widgets.answer_banner import Banner
from keyhole.tui.widgets.line_view import LineView

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_code", {"query": "retry backoff", "max_tokens": 4_000}),
    ("map_file", {"path": "src/acme/retry.py"}),
    ("read_file", {"path": "src/acme/client.py", "max_lines": 5}),
]


def connected(client_setup: str) -> Client[Any]:
    entry = json.loads(client_setup)["mcpServers"]["keyhole"]
    itself = Implementation(name="acme-agent", version="1")
    return Client(StreamableHttpTransport(entry["url"], headers=entry["headers"]), client_info=itself)


async def received(client: Client[Any]) -> list[str]:
    async with client:
        answers = [await client.call_tool_mcp(tool, arguments) for tool, arguments in CALLS]
    return ["".join(getattr(block, "text", "") for block in answer.content) for answer in answers]


async def all_received(client_setup: str) -> list[list[str]]:
    return await asyncio.gather(*(received(connected(client_setup)) for _ in range(8)))


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def serving_app(service: Service, port: int = 0) -> Any:
    app = make_app(service)
    app._port = port
    return app


def test_a_client_over_http_is_seen_byte_for_byte(agents_service: Service) -> None:
    app = serving_app(agents_service)
    ports: list[int] = []

    async def steps(pilot: Pilot[None]) -> None:
        await wait_until(pilot, lambda _: app.server_state.phase == ServerPhase.ON)
        ports.append(urlsplit(app.server_state.address).port or 0)
        await press(pilot, "escape", "3")
        answers = await received(connected(app.server_state.client_setup))
        await wait_until(pilot, lambda pilot: ended(pilot) == 43)
        await press(pilot, "]")
        for answer, (tool, arguments) in zip(reversed(answers), reversed(CALLS), strict=True):
            call = calls_of(pilot).call
            assert call
            assert (call.client, call.transport, call.tool, call.parameters) == ("acme-agent", "http", tool, arguments)
            whole = agents_service.journal_reader().whole(call.id)
            assert whole
            assert text_of(pilot).encode() == whole.response.encode() == answer.encode()
            await press(pilot, "j")
        # The search, opened in Explore, shows the same text.
        await press(pilot, "k", "o")
        await settle(pilot)
        screen = explorer(pilot).screen
        assert screen.query_one("#view").document.text == answers[0]  # type: ignore[attr-defined]
        assert screen.query_one(Banner).text == answers[0].partition("\n")[0]
        assert is_open(ports[0])

    drive(app, steps)
    assert not is_open(ports[0])
    with socket.create_server(("127.0.0.1", ports[0])):
        pass


def ended(pilot: Pilot[None]) -> int:
    return sum(call.status != CallStatus.PENDING for call in calls_of(pilot).calls)


def test_a_server_of_another_process_shows_up_too(agents_service: Service, tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "KEYHOLE_CACHE_DIR": str(agents_service.settings.cache_dir),
        "KEYHOLE_INDEX_MODEL": "none",
        "KEYHOLE_JOURNAL_MAX_DAYS": "3650",
        "KEYHOLE_SHARE": "0",
    }
    program = ["-m", "keyhole", "mcp", str(agents_service.root)]
    transport = StdioTransport(sys.executable, program, env=environment, keep_alive=False, log_file=tmp_path / "log")

    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape", "3")
        answers = await received(Client(transport, client_info=Implementation(name="codex", version="9")))
        await wait_until(pilot, lambda pilot: ended(pilot) == 43)
        call = calls_of(pilot).call
        assert call
        assert (call.client, call.transport) == ("codex", "stdio")
        assert call.process != os.getpid()
        await press(pilot, "]")
        assert text_of(pilot).encode() == answers[-1].encode()

    drive(make_app(agents_service), steps)


TALK: list[tuple[str, dict[str, Any]]] = [
    ("search_code", {"query": "steps event", "limit": 1}),
    ("search_code", {"query": "retry backoff"}),
    ("map_file", {"path": "src/acme/retry.py"}),
    ("read_file", {"path": "src/acme/retry.py", "max_lines": 20}),
    ("read_file", {"path": "src/acme/retry.py", "start_line": 5, "max_lines": 10}),
    ("search_code", {"query": "retry backoff"}),
    ("read_file", {"path": "gone.py"}),
]


def test_a_conversation_of_a_real_client_is_told(agents_service: Service) -> None:
    app = serving_app(agents_service)

    async def steps(pilot: Pilot[None]) -> None:
        await wait_until(pilot, lambda _: app.server_state.phase == ServerPhase.ON)
        await press(pilot, "escape", "3")
        async with connected(app.server_state.client_setup) as client:
            for tool, arguments in TALK:
                await client.call_tool_mcp(tool, arguments)
        await wait_until(pilot, lambda pilot: ended(pilot) == 40 + len(TALK))
        newest = calls_of(pilot).call
        assert newest
        told = traffic(pilot).calls.conversation_of[newest.id]
        first = told.steps[0].call.id
        assert [step.follows - first if step.follows else None for step in told.steps] == [
            None, None, 1, 2, 3, None, None,
        ]  # fmt: skip
        assert [step.waste for step in told.steps] == [
            Waste.NOT_FOLLOWED, None, None, None, Waste.ALREADY_READ, Waste.REPEATED, None,
        ]  # fmt: skip
        rows = [calls_of(pilot).render_line(y).text for y in range(8)]
        assert rows[0].startswith(
            f" acme-agent · 7 calls · {told.tokens:,} tok, {told.wasted_tokens:,} wasted · 1 error"
        )
        assert "gone.py" in rows[1]
        assert re.match(r" +↻ +search +retry backoff ", rows[2])
        # Why was this file not seen? The answer is there with its last letter.
        await press(pilot, "j", "x")
        pilot.app.screen.query_one(Input).value = "src/acme/retr.py"
        await settle(pilot)
        assert "Did you mean src/acme/retry.py?" in pilot.app.screen.query_one(LineView).document.text
        pilot.app.screen.query_one(Input).value = "src/acme/retry.py"
        await settle(pilot)
        assert pilot.app.screen.query_one(LineView).document.text.startswith("src/acme/retry.py: shown\n  result 1 of ")
        assert re.match(r" +≡ +→ read +\S+retry.py:5-14 ", rows[3])

    drive(app, steps)


def test_eight_busy_clients_never_freeze_the_screen(agents_service: Service) -> None:
    app = serving_app(agents_service)

    async def steps(pilot: Pilot[None]) -> None:
        await wait_until(pilot, lambda _: app.server_state.phase == ServerPhase.ON)
        await press(pilot, "escape", "3")
        # Clients run in their own event loop, as in reality; keys still work.
        work = asyncio.create_task(asyncio.to_thread(asyncio.run, all_received(app.server_state.client_setup)))
        while not work.done():
            place = calls_of(pilot).call
            await pilot.press("j")
            assert place is None or calls_of(pilot).call != place
        answers = await work
        assert all(answer == answers[0] for answer in answers)
        await wait_until(pilot, lambda pilot: ended(pilot) == 40 + 8 * len(CALLS))
        assert traffic(pilot).calls.summary.calls == 64

    drive(app, steps)


async def ask_with(address: str, **headers: str) -> int:
    async with httpx2.AsyncClient() as client:
        return (await client.post(address, json={}, headers=headers)).status_code


def test_who_comes_without_the_right_token_is_seen_and_that_token_is_a_key_away(agents_service: Service) -> None:
    app = serving_app(agents_service)

    async def steps(pilot: Pilot[None]) -> None:
        await wait_until(pilot, lambda _: app.server_state.phase == ServerPhase.ON)
        address = app.server_state.address
        assert await ask_with(address) == 401
        await wait_until(pilot, lambda _: app.server_state.rejected == 1)
        assert "Rejected a client: no token. Press 3, then C" in str([note.message for note in app._notifications])
        await press(pilot, "escape", "3")
        assert await ask_with(address, Authorization="Bearer of yesterday") == 401
        await wait_until(pilot, lambda _: app.server_state.rejected == 2)
        problem = traffic(pilot).query_one("#problem")
        assert problem.display
        assert "Rejected 2 requests: " in str(problem.render())
        assert "Press C to copy the setup." in str(problem.render())
        await press(pilot, "C")
        assert not problem.display
        entry = json.loads(app.clipboard)["mcpServers"]["keyhole"]
        assert await ask_with(entry["url"], **entry["headers"]) != 401
        await settle(pilot)
        assert not problem.display

    drive(app, steps)
