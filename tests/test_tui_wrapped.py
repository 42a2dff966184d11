"""Wrapped servers in the explorer: Traffic, what clients deliver, replay and Stats; each state is also a picture."""

import sqlite3
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from driving import calls_of, drive, make_app, press, settle, stats, text_of, traffic, wait_until, watch
from recorded_calls import NOON
from recorded_wraps import ISSUES, record_wrapped
from test_tui_snapshots import Compare, State, Steps, check
from textual.pilot import Pilot
from textual.widgets import Static

from keyhole.core.index.location import JOURNAL_FILE
from keyhole.core.journal import reader
from keyhole.core.service import Service
from keyhole.tui.screens.replay import ReplayScreen
from keyhole.tui.widgets.call_view import JSON, LENS

SERVER = [sys.executable, str(Path(__file__).parent / "wrapped_server.py")]


@pytest.fixture(autouse=True)
def _fixed(monkeypatch: pytest.MonkeyPatch, in_greenwich: None) -> None:  # noqa: ARG001
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(reader, "time", SimpleNamespace(time=lambda: NOON + 600))


@pytest.fixture
def service(agents_service: Service) -> Service:
    """Add the calls of a wrapped server; the process number differs in each run."""
    record_wrapped(agents_service, SERVER)
    with sqlite3.connect(agents_service.folder / JOURNAL_FILE) as db:
        db.execute("UPDATE call SET process = 1")
    return agents_service


def watched(*keys: str, is_grouped: bool = True) -> Steps:
    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot, 45, is_grouped=is_grouped)
        await press(pilot, "slash", *"server:git", "enter")
        await wait_until(pilot, lambda pilot: len(calls_of(pilot).calls) == 5)
        await press(pilot, *keys)

    return steps


async def counted(pilot: Pilot[None]) -> None:
    await watched()(pilot)
    await press(pilot, "4")
    await wait_until(pilot, lambda pilot: stats(pilot).statistics is not None)
    stats(pilot).query_one("#servers").scroll_visible(top=True, animate=False)
    await settle(pilot)


def wrapped_table(pilot: Pilot[None]) -> str:
    return str(stats(pilot).query_one("#wrapped", Static).render())


STATES = {
    "wrapped-traffic": State(
        watched("j", "j"), lambda pilot: {call.server for call in calls_of(pilot).calls} == {"github"}
    ),
    "wrapped-all": State(watched(is_grouped=False), lambda pilot: len(calls_of(pilot).calls) == 5),
    "wrapped-lost": State(
        watched("j", "j", "v"),
        lambda pilot: "its model sees 1,937 of 74,479 characters" in text_of(pilot) and "✗ #899" in text_of(pilot),
    ),
    "wrapped-replay": State(
        watched("j", "R"),
        lambda pilot: "may change something" in str(pilot.app.screen.query_one("#replay-problem").render()),
    ),
    "wrapped-stats": State(counted, lambda pilot: "search_issues" in wrapped_table(pilot)),
}


@pytest.mark.parametrize("name", STATES)
def test_wrapped(snap_compare: Compare, service: Service, name: str) -> None:
    check(make_app(service), snap_compare, STATES[name])


def test_text_json_and_other_clients_of_an_answer(service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await watched("j", "j", "]")(pilot)
        await wait_until(pilot, lambda pilot: text_of(pilot) == "\n".join(ISSUES))
        traffic(pilot).action_show_tab(JSON)
        await wait_until(pilot, lambda pilot: '"isError": false' in text_of(pilot))
        await press(pilot, "v")
        await wait_until(pilot, lambda pilot: "── Claude Code: what" in text_of(pilot))
        await press(pilot, "v")
        await wait_until(pilot, lambda pilot: "── Codex: what" in text_of(pilot) and "✗ #500" in text_of(pilot))
        assert traffic(pilot).tab == LENS
        # Our own calls have the same tabs.
        await press(pilot, "slash", *["backspace"] * 20, *"server:keyhole tool:map", "enter")
        await wait_until(pilot, lambda pilot: "nothing is lost" in text_of(pilot))
        assert "github" not in {call.server for call in calls_of(pilot).calls}

    drive(make_app(service), steps)


def test_a_replay_asks_first_unless_the_tool_is_read_only(service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await watched("R", "enter")(pilot)
        await wait_until(pilot, lambda pilot: traffic(pilot).replay is not None)
        await wait_until(pilot, lambda pilot: "+++ now" in text_of(pilot))
        assert "-#7 Retry fails" in text_of(pilot)
        first = traffic(pilot).replay
        await press(pilot, "j", "R", "enter")
        assert isinstance(pilot.app.screen, ReplayScreen)
        assert "again" in str(pilot.app.screen.query_one("#replay-problem").render())
        await press(pilot, "enter")
        await wait_until(pilot, lambda pilot: traffic(pilot).replay is not first)

    drive(make_app(service), steps)
