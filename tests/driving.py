"""Driving the explorer in tests: the real app, without a terminal."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.pilot import Pilot

from keyhole.core.service import Service
from keyhole.tui.answer import Answer
from keyhole.tui.app import KeyholeApp
from keyhole.tui.screens import explore as explore_module
from keyhole.tui.screens.explore import ExploreScreen
from keyhole.tui.screens.files import FilesScreen
from keyhole.tui.widgets.query_line import QueryLine
from keyhole.tui.widgets.results import ResultList

Steps = Callable[[Pilot[None]], Awaitable[None]]
LARGE, MIDDLE, SMALL = (120, 36), (80, 24), (50, 12)
_TRIES = 10_000
_CALM = 3


def make_app(service: Service) -> KeyholeApp:
    return KeyholeApp(service.root, lambda: service, watches=False)


def drive(app: KeyholeApp, steps: Steps, size: tuple[int, int] = LARGE) -> None:
    async def run() -> None:
        # Nobody types here, so there is no pause in the typing to wait for.
        explore_module.DEBOUNCE_SECONDS = 0.001
        async with app.run_test(size=size) as pilot:
            await settle(pilot)
            await steps(pilot)

    asyncio.run(run())


async def settle(pilot: Pilot[None]) -> None:
    """Wait until everything that was asked for is on the screen."""
    app, calm = explorer(pilot), 0
    for _ in range(_TRIES):
        await pilot.pause(0)
        await asyncio.sleep(0.003)
        screens = [screen for screen in app.screen_stack if isinstance(screen, ExploreScreen | FilesScreen)]
        # What was asked for just now may still be on its way: once is not enough.
        is_calm = not app.is_busy and app.wanted_file is None and all(screen.is_settled for screen in screens)
        calm = calm + 1 if is_calm else 0
        if calm == _CALM:
            break
    else:
        raise TimeoutError("the explorer does not come to rest")
    await app.workers.wait_for_complete()
    await pilot.pause(0)


async def press(pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


async def ask(pilot: Pilot[None], line: str, *keys: str) -> None:
    """Type a query, then press keys; `enter` as the first of them goes to the results."""
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

    return Service(root, load_settings(root, {"cache_dir": root.parent / "cache", "index.model": "none"}))


def answer_of(pilot: Pilot[None]) -> Answer:
    """The answer on the screen."""
    answer = explore(pilot).answer
    assert answer is not None
    return answer


def results_of(pilot: Pilot[None]) -> ResultList:
    return explore(pilot).query_one(ResultList)
