"""The explorer in a benchmark: opening it, waiting for it to paint, and what that costs."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from textual.app import App
from textual.pilot import Pilot
from textual.widget import Widget

from keyhole.core.service import Service
from keyhole.tui.app import KeyholeApp

SIZE = (120, 36)

# A key without an effect would be waited for forever.
_LONGEST_WAIT = 60.0


@asynccontextmanager
async def opened(service: Service) -> AsyncIterator[tuple[KeyholeApp, Pilot[None]]]:
    """Open the explorer on an indexed workspace, and wait until it is idle."""
    app = KeyholeApp(service.root, lambda: service, watches=False)
    async with app.run_test(size=SIZE) as pilot:
        while app.is_busy:
            await asyncio.sleep(0.01)
        await pilot.pause()
        yield app, pilot


async def until_painted(widget: Widget) -> None:
    """Wait until what has changed is on the screen."""
    painted = asyncio.Event()
    widget.call_after_refresh(painted.set)
    await painted.wait()


async def key_ms(app: App[None], key: str, state: Callable[[], object]) -> tuple[float, float]:
    """Press a key, wait until its effect on a state is painted, and return CPU time and elapsed time."""
    before, cpu, wall = state(), time.process_time(), time.perf_counter()
    app.simulate_key(key)
    while state() == before:
        await asyncio.sleep(0.001)
        if time.perf_counter() - wall > _LONGEST_WAIT:
            raise TimeoutError(f"the key {key} has no effect")
    await until_painted(app.screen)
    return (time.process_time() - cpu) * 1e3, (time.perf_counter() - wall) * 1e3
