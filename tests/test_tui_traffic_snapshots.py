"""Snapshots of Traffic, Stats and the client lens in each state; each also asserts a fact."""

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from driving import (
    LARGE,
    MIDDLE,
    ask,
    calls_of,
    explore,
    explorer,
    make_app,
    press,
    settle,
    stats,
    text_of,
    traffic,
    wait_until,
    watch,
)
from recorded_calls import NOON, call, open_journal, record, record_talk
from test_tui_snapshots import Compare, State, Steps, check
from textual.pilot import Pilot
from textual.widgets import Input

from keyhole.core.clients import profiles
from keyhole.core.errors import ErrorKind, PortError
from keyhole.core.index.location import JOURNAL_FILE
from keyhole.core.journal import reader
from keyhole.core.journal.writer import Ended
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail
from keyhole.core.types.completeness import CallStatus
from keyhole.mcp_server.local import LocalTools
from keyhole.tui.messages import RequestRejected, ServerStarted, ServerStopped
from keyhole.tui.screens import explore as explore_module
from keyhole.tui.search_state import SearchState
from keyhole.tui.server_state import ServerPhase
from keyhole.tui.widgets.charts import Chart
from keyhole.tui.widgets.lens_line import LensLine
from keyhole.tui.widgets.line_view import LineView

ADDRESS = "http://127.0.0.1:7777/mcp"
TAKEN = PortError("cannot listen on 127.0.0.1:7777 (Address already in use)", ErrorKind.TAKEN_PORT)


@pytest.fixture(autouse=True)
def _fixed(monkeypatch: pytest.MonkeyPatch, in_greenwich: None) -> None:  # noqa: ARG001
    monkeypatch.setattr(explore_module, "DEBOUNCE_SECONDS", 0.001)
    monkeypatch.delenv("NO_COLOR", raising=False)
    # The cost of tools changes with every word about them; test_tui_lens.py checks the real figures.
    monkeypatch.setattr(LocalTools, "costs", lambda *_: dict.fromkeys(profiles(), 1_500))
    # A pending call must have started just now.
    monkeypatch.setattr(reader, "time", SimpleNamespace(time=lambda: NOON + 300))


@pytest.fixture
def service(agents_service: Service) -> Service:
    """Add a call that has not ended; the process number differs in each run."""
    journal = open_journal(agents_service)
    journal.started(call(40))
    assert journal.flush()
    with sqlite3.connect(agents_service.folder / JOURNAL_FILE) as db:
        db.execute("UPDATE call SET process = 1")
    return agents_service


def watched(*keys: str) -> Steps:
    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot, 41)
        await press(pilot, *keys)

    return steps


def told(message: Any, is_there: Callable[[Pilot[None]], object]) -> Steps:
    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot, 41)
        pilot.app.post_message(message)
        await wait_until(pilot, is_there)

    return steps


async def rejected(pilot: Pilot[None]) -> None:
    await told(ServerStarted(ADDRESS, "{}"), lambda pilot: phase(pilot) == ServerPhase.ON)(pilot)
    for reason in ("no token", "wrong token"):
        pilot.app.post_message(RequestRejected(reason))
    await wait_until(pilot, lambda pilot: explorer(pilot).server_state.rejected == 2)


async def replayed(pilot: Pilot[None]) -> None:
    await watched("j", "j", "j", "j", "j", "R", "left", *', "detail_level": "minimal"', "enter")(pilot)
    await wait_until(pilot, lambda pilot: traffic(pilot).replay is not None)


def phase(pilot: Pilot[None]) -> ServerPhase:
    return explorer(pilot).server_state.phase


def seen_through(*keys: str) -> Steps:
    async def steps(pilot: Pilot[None]) -> None:
        explore(pilot).search_state = SearchState(detail=Detail.RICH)
        await ask(pilot, "return limit:50", "enter", *keys)
        await wait_until(pilot, lambda pilot: explorer(pilot).tool_costs is not None)

    return steps


STATES = {
    "traffic-live": State(watched(), lambda pilot: calls_of(pilot).highlighted == 0 and traffic(pilot).follows),
    "traffic-narrow": State(watched("j"), lambda pilot: not traffic(pilot).view.display, MIDDLE),
    "traffic-reading-narrow": State(watched("j", "enter", "]"), lambda pilot: traffic(pilot).view.has_focus, MIDDLE),
    "traffic-filtered": State(
        watched("slash", *"tool:read", "enter"),
        lambda pilot: {call.tool for call in calls_of(pilot).calls} == {"read_file"},
    ),
    "traffic-no-match": State(watched("slash", *"zzz"), lambda pilot: calls_of(pilot).calls == ()),
    "traffic-bad-filter": State(
        watched("slash", *"status:gone"), lambda pilot: traffic(pilot).query_one("#problem").display
    ),
    "traffic-text": State(watched(*"jjjjj", "]"), lambda pilot: text_of(pilot) == "Results 1-35 of 35.\n"),
    "traffic-timing": State(watched(*"jjjj", "]", "]"), lambda pilot: "47 of 50 results" in text_of(pilot)),
    "traffic-marked": State(watched("j", "m", "j", "j", "m"), lambda pilot: traffic(pilot).calls.marked == {40, 38}),
    "traffic-replay": State(
        watched("j", "j", "j", "R"), lambda pilot: pilot.app.screen.query_one(Input).value.startswith("{")
    ),
    "traffic-replay-diff": State(replayed, lambda pilot: "+++ now" in text_of(pilot)),
    "traffic-port-taken": State(
        told(ServerStopped(TAKEN), lambda pilot: phase(pilot) == ServerPhase.FAILED),
        lambda pilot: "7777" in str(traffic(pilot).query_one("#problem").render()),
    ),
    "traffic-serving": State(
        told(ServerStarted(ADDRESS, "{}"), lambda pilot: phase(pilot) == ServerPhase.ON),
        lambda pilot: ADDRESS in str(traffic(pilot).query_one("#server").render()),
    ),
    "traffic-rejected": State(
        rejected, lambda pilot: "Rejected 2 requests" in str(traffic(pilot).query_one("#problem").render())
    ),
    "stats": State(watched("4"), lambda pilot: stats(pilot).statistics.total.calls == 41),  # type: ignore[union-attr]
    "stats-narrow": State(watched("4"), lambda pilot: stats(pilot).query_one("#charts").max_scroll_y > 0, MIDDLE),
    "traffic-light": State(watched("j", "t"), lambda pilot: pilot.app.theme == "keyhole-light"),
    "traffic-text-light-narrow": State(
        watched(*"jjjj", "]", "enter", "t"), lambda pilot: pilot.app.theme == "keyhole-light", MIDDLE
    ),
    "stats-light": State(watched("4", "t"), lambda pilot: pilot.app.theme == "keyhole-light"),
    "lens-spill": State(
        seen_through(*"aaaaa"), lambda pilot: "VS Code saves answers" in str(lens_line(pilot).render())
    ),
    "lens-whole": State(seen_through("a"), lambda pilot: "delivers the full answer" in str(lens_line(pilot).render())),
    "lens-narrow": State(
        seen_through(*"AAAAA", "enter"), lambda pilot: lens_line(pilot).has_class("-overflow"), MIDDLE
    ),
}


# Conversations, and why a file was missed.


def talked(*keys: str) -> Steps:
    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot, 9, is_grouped=True)
        await press(pilot, *keys)

    return steps


def missed(*keys: str, path: str = "src/acme/client.py") -> Steps:
    async def steps(pilot: Pilot[None]) -> None:
        await talked(*keys, "j", "x")(pilot)
        pilot.app.screen.query_one(Input).value = path
        await settle(pilot)

    return steps


def missed_text_of(pilot: Pilot[None]) -> str:
    return pilot.app.screen.query_one(LineView).document.text


def is_grouped(pilot: Pilot[None]) -> bool:
    return len(calls_of(pilot)._rows) == 11


WIDE, LEAST = (200, 40), (60, 16)
TALK_STATES = {
    "talk": State(talked(), is_grouped),
    "talk-wide": State(talked("j"), is_grouped, WIDE),
    "talk-by-time-wide": State(talked("c"), lambda pilot: not traffic(pilot).calls.is_grouped, WIDE),
    "talk-narrow": State(talked(), is_grouped, MIDDLE),
    "talk-least": State(talked(), is_grouped, LEAST),
    "talk-light": State(talked("j", "t"), lambda pilot: pilot.app.theme == "keyhole-light"),
    "talk-filtered": State(
        talked("slash", *"wasted", "enter"), lambda pilot: [call.id for call in calls_of(pilot).calls] == [8, 6, 1]
    ),
    "story": State(talked("j", *"]]]"), lambda pilot: "↻ repeated, as #2" in text_of(pilot)),
    "story-wide": State(talked("j", *"]]]"), lambda pilot: "≡ already read in #5" in text_of(pilot), WIDE),
    "story-narrow-light": State(
        talked("j", *"]]]", "enter", "t"), lambda pilot: pilot.app.theme == "keyhole-light", MIDDLE
    ),
    "missed": State(
        missed(path="tests/test_retry.py"), lambda pilot: "this page has results 1-2" in missed_text_of(pilot)
    ),
    "missed-narrow": State(missed(), lambda pilot: "Shown with (checked now)" in missed_text_of(pilot), MIDDLE),
    "missed-light": State(missed("t"), lambda pilot: pilot.app.theme == "keyhole-light"),
    "missed-least": State(
        missed(), lambda pilot: "Shown by other calls of this conversation" in missed_text_of(pilot), LEAST
    ),
    "missed-nothing-typed": State(talked("x"), lambda pilot: "which parameters show it" in missed_text_of(pilot)),
    "talk-stats": State(talked("4", "right", "right", "right"), lambda pilot: stats(pilot).cursor == 20),
    "talk-stats-wide": State(talked("4", "G"), lambda pilot: stats(pilot).bar is not None, WIDE),
    "talk-stats-least": State(
        talked("4", "right", "right", "right", "right"), lambda pilot: stats(pilot).cursor == 22, LEAST
    ),
    "talk-of-a-bar": State(
        talked("4", *["right"] * 4, "enter"), lambda pilot: [call.id for call in calls_of(pilot).calls] == [7, 3]
    ),
}


@pytest.fixture
def talk_service(unasked_service: Service) -> Service:
    record_talk(unasked_service)
    return unasked_service


@pytest.mark.parametrize("name", TALK_STATES)
def test_talk(talk_service: Service, snap_compare: Compare, name: str) -> None:
    check(make_app(talk_service), snap_compare, TALK_STATES[name])


@pytest.mark.parametrize("name", ["talk", "story", "missed", "talk-stats"])
def test_talk_without_colour(
    talk_service: Service, snap_compare: Compare, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    state = TALK_STATES[name]
    check(
        make_app(talk_service),
        snap_compare,
        replace(state, fact=lambda pilot: pilot.app.no_color and state.fact(pilot)),
    )


def lens_line(pilot: Pilot[None]) -> LensLine:
    return explore(pilot).query_one(LensLine)


@pytest.mark.parametrize("name", STATES)
def test_state(service: Service, snap_compare: Compare, name: str) -> None:
    check(make_app(service), snap_compare, STATES[name])


@pytest.mark.parametrize("name", ["traffic-live", "traffic-rejected", "stats"])
def test_without_colour(service: Service, snap_compare: Compare, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    state = STATES[name]
    check(make_app(service), snap_compare, replace(state, fact=lambda pilot: pilot.app.no_color and state.fact(pilot)))


def test_new_calls_have_a_pill(service: Service, snap_compare: Compare) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await watched(*"jjj")(pilot)
        record(service, 3, first=41)
        await wait_until(pilot, lambda pilot: len(calls_of(pilot).calls) == 44)

    check(make_app(service), snap_compare, State(steps, lambda pilot: traffic(pilot).calls.new == 3))


def test_a_cancelled_call(service: Service, snap_compare: Compare) -> None:
    started = call(41)
    journal = open_journal(service)
    journal.started(started)
    journal.ended(started, Ended(CallStatus.CANCELLED, "", 4_200.0))
    assert journal.flush()

    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot, 42)
        await press(pilot, "]")

    check(
        make_app(service), snap_compare, State(steps, lambda pilot: "the client cancelled the call" in text_of(pilot))
    )


def test_a_pause(service: Service, snap_compare: Compare) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await watched("space")(pilot)
        record(service, 12, first=41)
        await wait_until(pilot, lambda pilot: traffic(pilot).calls.new == 12)

    check(make_app(service), snap_compare, State(steps, lambda pilot: len(calls_of(pilot).calls) == 41))


@pytest.mark.parametrize(("screen", "size"), [("3", LARGE), ("3", MIDDLE), ("4", LARGE)])
def test_before_any_call(unasked_service: Service, snap_compare: Compare, screen: str, size: tuple[int, int]) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape", screen)
        await settle(pilot)

    def fact(pilot: Pilot[None]) -> bool:
        if screen == "3":
            return not calls_of(pilot).calls
        return not any(chart.display for chart in stats(pilot).query(Chart))

    check(make_app(unasked_service), snap_compare, State(steps, fact, size))
