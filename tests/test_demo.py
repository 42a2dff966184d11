"""`keyhole demo`: a scripted agent whose calls and answers are real."""

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from driving import LARGE, explorer, make_app, settle, stop_server, wait_until

from keyhole.core.service import Service
from keyhole.core.types.completeness import CallStatus
from keyhole.mcp_server.demo_agent import DemoAgent, demo_steps
from keyhole.tui.app import KeyholeApp
from keyhole.tui.demo_tour import DemoTour
from keyhole.tui.index_state import Phase
from keyhole.tui.screens.explore import ExploreScreen
from keyhole.tui.screens.traffic import TrafficScreen
from keyhole.tui.serving import Demo
from keyhole.tui.widgets.call_view import DIFF


def test_without_a_terminal_the_calls_are_printed(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "keyhole", "demo", "--fast"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 1
    shown = done.stdout
    # An overflow that the client handles, shortened answers, pages, the lens, a replay and an error.
    assert "   lens: VS Code saves answers over" in shown
    assert "shortened to" in shown
    assert "Next page: offset=3." in shown
    assert "Results 4-6 of" in shown
    assert "   replay with {" in shown
    assert "Did you mean keyhole/core/" in shown
    assert "references to " in shown
    # Nothing is left behind.
    assert list(tmp_path.glob("keyhole-demo-*")) == []
    assert not (tmp_path / ".cache").exists()


class WatchedTour:
    """Notes what the tour shows while it runs."""

    def __init__(self, app: KeyholeApp) -> None:
        self._app = app
        self.lenses: set[str] = set()
        self.tabs: set[str] = set()
        self.screens: list[str] = []

    def look(self) -> None:
        screen = self._app.screen
        if not self.screens or self.screens[-1] != type(screen).__name__:
            self.screens.append(type(screen).__name__)
        if isinstance(screen, ExploreScreen) and screen.lens:
            self.lenses.add(screen.lens.profile.id)
        if isinstance(screen, TrafficScreen) and screen.replay:
            self.tabs.add(screen.tab)


async def run_tour(service: Service, pause: float, *keys: str) -> tuple[WatchedTour, KeyholeApp]:
    """Run the tour to its end, with keys pressed at its start."""
    app = make_app(service)
    watched = WatchedTour(app)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        tour = DemoTour(app, service, Demo(demo_steps, DemoAgent, pause))
        running = asyncio.create_task(tour.run())
        for key in keys:
            await pilot.press(key)
        while not running.done():
            watched.look()
            await asyncio.sleep(0.005)
        await running
        assert tour.is_over
    await stop_server(app)
    return watched, app


def test_the_tour_shows_traffic_a_replay_and_the_lens(unasked_service: Service) -> None:
    watched, _ = asyncio.run(run_tour(unasked_service, 0.05))
    assert watched.lenses == {"vscode"}
    assert DIFF in watched.tabs
    assert "ReplayScreen" in watched.screens
    assert watched.screens[-1] == "TrafficScreen"
    calls = list(unasked_service.journal_reader().each())
    steps = demo_steps(unasked_service.sample_queries())
    assert [call.tool for call in calls] == [step.tool for step in steps]
    assert {call.client for call in calls} == {"claude-code", "unknown-client", "Visual Studio Code"}
    assert {call.client_version for call in calls} == {"demo"}
    assert {CallStatus.PARTIAL, CallStatus.SHORTENED, CallStatus.MORE_PAGES, CallStatus.ERROR} & {
        CallStatus(call.status) for call in calls
    }


def test_it_says_that_it_waits_for_the_index(unasked_service: Service) -> None:
    async def run() -> list[str]:
        app = make_app(unasked_service)
        async with app.run_test(size=LARGE) as pilot:
            await settle(pilot)
            app.index_state = replace(app.index_state, phase=Phase.INDEXING)
            tour = asyncio.create_task(DemoTour(app, unasked_service, Demo(demo_steps, DemoAgent, 0)).run())
            # Not until it is settled, since it is busy as long as it indexes.
            await pilot.pause(0)
            await pilot.pause(0)
            said = [notification.message for notification in app._notifications]
            tour.cancel()
        await stop_server(app)
        return said

    assert asyncio.run(run()) == ["It starts as soon as this folder is indexed; the top line shows how far that is."]


def test_from_the_first_key_on_the_screen_is_left_alone(unasked_service: Service) -> None:
    watched, app = asyncio.run(run_tour(unasked_service, 0.0, "escape", "2"))
    assert watched.lenses == set()
    assert "ReplayScreen" not in watched.screens
    assert "TrafficScreen" not in watched.screens
    assert len(list(unasked_service.journal_reader().each())) == 11
    assert app.has_key


def test_quitting_stops_the_demo(unasked_service: Service) -> None:
    async def run() -> None:
        app = make_app(unasked_service)
        app.demo = Demo(demo_steps, DemoAgent, 60.0)
        async with app.run_test(size=LARGE) as pilot:
            await wait_until(pilot, lambda pilot: explorer(pilot).current_mode == "traffic")
        assert app._tour is not None
        await asyncio.wait([app._tour], timeout=10)
        assert app._tour.cancelled()

    asyncio.run(run())


def test_a_folder_without_definitions(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing\n")
    done = subprocess.run(
        [sys.executable, "-m", "keyhole", "demo", "--text", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "defines nothing that an agent could ask for" in done.stderr
