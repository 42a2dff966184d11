"""Driving the explorer in tests: the real app, without a terminal."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.events import Key
from textual.pilot import Pilot

from keyhole.core.cli.open_explorer import start_server
from keyhole.core.service import Service
from keyhole.core.types.choices import DEFAULT_PORT
from keyhole.mcp_server.local import LocalTools
from keyhole.tui.answer import Answer
from keyhole.tui.app import KeyholeApp
from keyhole.tui.screens import explore as explore_module
from keyhole.tui.screens.explore import ExploreScreen
from keyhole.tui.screens.files import FilesScreen
from keyhole.tui.screens.stats_screen import StatsScreen
from keyhole.tui.screens.traffic import TrafficScreen
from keyhole.tui.serving import Server, ServerSide
from keyhole.tui.widgets.call_list import CallList
from keyhole.tui.widgets.call_view import CallView
from keyhole.tui.widgets.query_line import QueryLine
from keyhole.tui.widgets.results import ResultList

Steps = Callable[[Pilot[None]], Awaitable[None]]
LARGE, MIDDLE, SMALL = (120, 36), (80, 24), (50, 12)
_TRIES = 10_000
_CALM = 3
# What a screen does later.
_WAITS = ("_typing", "_preview_timer")


async def _start_beside_others(service: Service, port: int, on_rejection: Callable[[str], None]) -> Server:
    """Start a server on another port than the default, which other tests and explorers may use."""
    return await start_server(service, 0 if port == DEFAULT_PORT else port, on_rejection)


def make_app(service: Service) -> KeyholeApp:
    server_side = ServerSide(_start_beside_others, LocalTools())
    return KeyholeApp(service.root, lambda: service, watches=False, server_side=server_side)


async def stop_server(app: KeyholeApp) -> None:
    """Stop the app's server, as the command line does after the explorer closes."""
    if app.serving:
        await app.serving.stop()


def drive(app: KeyholeApp, steps: Steps, size: tuple[int, int] = LARGE) -> None:
    async def run() -> None:
        # Tests type all keys together, so there is no pause in typing to wait for.
        explore_module.DEBOUNCE_SECONDS = 0.001
        async with app.run_test(size=size) as pilot:
            await settle(pilot)
            await steps(pilot)
        await stop_server(app)

    asyncio.run(run())


def _unsettled(app: KeyholeApp) -> str:
    """Return what the explorer still waits for."""
    screens = [screen for screen in app.screen_stack if not getattr(screen, "is_settled", True)]
    states = [
        {name: value for name, value in vars(screen).items() if name.startswith("_is_") or name in _WAITS}
        for screen in screens
    ]
    wanted = (app.wanted_file, app.wanted_search, app.wanted_calls)
    return (
        f"keys {app.key_order.is_idle}, busy {app.is_busy}, wanted {wanted}, {list(zip(screens, states, strict=True))}"
    )


async def settle(pilot: Pilot[None]) -> None:
    """Wait until all requested answers are on the screen."""
    app, calm = explorer(pilot), 0
    for _ in range(_TRIES):
        await pilot.pause(0)
        await asyncio.sleep(0.003)
        # The latest message may still be in a queue, so one look is not enough.
        # A screen that a key has just opened may lack its widgets until the key is handled.
        is_settled = app.key_order.is_idle and all(getattr(screen, "is_settled", True) for screen in app.screen_stack)
        wanted = (app.wanted_file, app.wanted_search, app.wanted_calls)
        is_calm = is_settled and not app.is_busy and wanted == (None, None, None)
        calm = calm + 1 if is_calm else 0
        if calm == _CALM:
            break
    else:
        raise TimeoutError(f"the explorer does not settle: {_unsettled(app)}")
    await app.workers.wait_for_complete()
    await pilot.pause(0)


async def press(pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


async def type_at_once(pilot: Pilot[None], *keys: str) -> None:
    """Press keys faster than the explorer handles them."""
    for key in keys:
        pilot.app.post_message(Key(key, key if len(key) == 1 else None))
    await settle(pilot)


async def ask(pilot: Pilot[None], line: str, *keys: str) -> None:
    """Type a query, then press keys; `enter` as the first key goes to the results."""
    explore(pilot).query_one(QueryLine).value = line
    await pilot.pause(0)
    await settle(pilot)
    await press(pilot, *keys)


def explorer(pilot: Pilot[None]) -> KeyholeApp:
    assert isinstance(pilot.app, KeyholeApp)
    return pilot.app


def explore(pilot: Pilot[None]) -> ExploreScreen:
    (screen,) = (screen for screen in pilot.app.screen_stack if isinstance(screen, ExploreScreen))
    return screen


def files(pilot: Pilot[None]) -> FilesScreen:
    (screen,) = (screen for screen in pilot.app.screen_stack if isinstance(screen, FilesScreen))
    return screen


def make_service(root: Path) -> Service:
    from keyhole.core.config import load_settings

    settings = {"cache_dir": root.parent / "cache", "index.model": "none", "journal.max_days": 3_650}
    return Service(root, load_settings(root, settings))


def traffic(pilot: Pilot[None]) -> TrafficScreen:
    (screen,) = (screen for screen in pilot.app.screen_stack if isinstance(screen, TrafficScreen))
    return screen


def stats(pilot: Pilot[None]) -> StatsScreen:
    (screen,) = (screen for screen in pilot.app.screen_stack if isinstance(screen, StatsScreen))
    return screen


def answer_of(pilot: Pilot[None]) -> Answer:
    """The answer on the screen."""
    answer = explore(pilot).answer
    assert answer is not None
    return answer


def results_of(pilot: Pilot[None]) -> ResultList:
    return explore(pilot).query_one(ResultList)


def calls_of(pilot: Pilot[None]) -> CallList:
    return traffic(pilot).query_one(CallList)


def text_of(pilot: Pilot[None]) -> str:
    return traffic(pilot).query_one(CallView).document.text


async def wait_until(pilot: Pilot[None], is_true: Callable[[Pilot[None]], object]) -> None:
    """Wait for a condition that other threads or processes cause, and until it is on the screen."""
    await wait_for(pilot, is_true)
    await settle(pilot)


async def wait_for(pilot: Pilot[None], is_true: Callable[[Pilot[None]], object]) -> None:
    """Wait for a condition that other threads or processes cause; the explorer keeps running."""
    for _ in range(6_000):
        await pilot.pause(0.005)
        if is_true(pilot):
            return
    raise TimeoutError("the condition did not become true")


async def watch(pilot: Pilot[None], count: int = 40, *, is_grouped: bool = False) -> None:
    """Go to Traffic, and wait until it shows the journal; by default in the order of time."""
    await press(pilot, "escape", "3")
    traffic(pilot).calls.group(is_grouped)
    traffic(pilot)._show_calls()
    await wait_until(pilot, lambda pilot: len(calls_of(pilot).calls) == count)
