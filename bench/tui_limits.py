"""Measure the explorer at its limits: keys while it indexes, lists of 100,000 rows, memory over 500 searches."""

import asyncio
import gc
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from painting import SIZE, key_ms, opened, until_painted
from search import QUERIES
from textual.app import App, ComposeResult
from textual.content import Content

from keyhole.core.config import load_settings
from keyhole.core.service import Service
from keyhole.tui.app import KeyholeApp
from keyhole.tui.screens.explore import ExploreScreen
from keyhole.tui.screens.files import FilesScreen
from keyhole.tui.widgets.query_line import QueryLine
from keyhole.tui.widgets.results import ResultList
from keyhole.tui.widgets.row_list import RowList

SHORT, LONG = 100, 100_000
KEYS_EACH = 40
WARM_UP, SEARCHES = 150, 500
_PAUSE = 0.02


async def keys_while_indexing(tree: Path, cache: Path) -> dict[str, float]:
    """Type queries and move in their results while the first index run reads all files."""
    service = Service(tree, load_settings(tree, {"cache_dir": cache}))
    app = KeyholeApp(tree, lambda: service, watches=False)
    waited: list[float] = []
    async with app.run_test(size=SIZE):
        while not (app.service and app.index_state.progress.done):
            await asyncio.sleep(0.01)
        screen = app.screen
        assert isinstance(screen, ExploreScreen)
        line, rows = screen.query_one(QueryLine), screen.query_one(ResultList)
        number = 0
        while app.is_busy:
            line.focus()
            line.value = ""
            # Letters only: a space has a longer name as a key.
            for letter in filter(str.isalpha, QUERIES[number % len(QUERIES)][:8]):
                waited.append((await key_ms(app, letter, lambda: line.value))[1])
                await asyncio.sleep(_PAUSE)
            while app.is_busy and not (screen.is_settled and len(rows.rows) > 1):
                await asyncio.sleep(_PAUSE)
            for key in ("down", "down", "up") if app.is_busy else ():
                waited.append((await key_ms(app, key, lambda: rows.highlighted))[1])
                await asyncio.sleep(_PAUSE)
            number += 1
    return {
        "keys while indexing": float(len(waited)),
        "key to screen while indexing p50, ms": statistics.median(waited),
        "key to screen while indexing p95, ms": statistics.quantiles(waited, n=20)[-1],
    }


class _Rows(RowList):
    """A list of rows that cost nothing to draw."""

    def draw(self, number: int, width: int) -> list[Content]:
        """Return the number of the row."""
        return [Content(f"row {number}".ljust(width))]


class _ListApp(App[None]):
    """Shows a list of many rows and nothing else."""

    def compose(self) -> ComposeResult:
        """Yield the list."""
        yield _Rows()


async def long_lists() -> dict[str, float]:
    """Move in a list of 100 rows and in one of 100,000, alternately."""
    app = _ListApp()
    async with app.run_test(size=SIZE):
        rows = app.query_one(_Rows)
        rows.focus()
        spent: dict[int, list[float]] = {SHORT: [], LONG: []}
        for _ in range(3):
            for count, times in spent.items():
                rows.show_rows(count, 0)
                await until_painted(app.screen)
                for key in ("j", "pagedown", "k", "G", "g") * (KEYS_EACH // 5):
                    times.append((await key_ms(app, key, lambda: rows.highlighted))[0])
    return _compared("list", spent)


async def long_files(service: Service) -> dict[str, float]:
    """Scroll in a file of 100 lines and in one of 100,000, alternately."""
    async with opened(service) as (app, pilot):
        app.switch_mode("files")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, FilesScreen)
        spent: dict[int, list[float]] = {SHORT: [], LONG: []}
        for _ in range(3):
            for count, times in spent.items():
                screen.open(f"lines_{count}.py")
                await _until(lambda: screen.is_settled)
                screen.view.focus()
                await until_painted(screen)
                for key in ("j", "pagedown", "k", "pageup") * (KEYS_EACH // 4):
                    times.append((await key_ms(app, key, lambda: screen.view.scroll_offset.y))[0])
    return _compared("file", spent)


def _compared(what: str, spent: dict[int, list[float]]) -> dict[str, float]:
    short, long = (statistics.median(times) for times in spent.values())
    unit = "rows" if what == "list" else "lines"
    return {
        f"key in a {what} of {SHORT:,} {unit}, ms": short,
        f"key in a {what} of {LONG:,} {unit}, ms": long,
        f"key in a {what} of {LONG:,} {unit} against {SHORT:,}": long / short,
    }


async def memory(service: Service) -> dict[str, float]:
    """Search 500 times, each time for something else, and show each answer; the first searches fill the caches."""
    async with opened(service) as (app, _):
        screen = app.screen
        assert isinstance(screen, ExploreScreen)
        search = partial(_search, screen)
        for number in range(WARM_UP):
            await search(number)
        before = _memory_mb()
        for number in range(WARM_UP, WARM_UP + SEARCHES):
            await search(number)
        return {"memory after warm-up, MB": before, "memory growth over 500 searches, MB": _memory_mb() - before}


async def _search(screen: ExploreScreen, number: int) -> None:
    query = QUERIES[number % len(QUERIES)]
    line = f"{query} limit:{10 + number % 7}" if number % 3 else f"/{query.split()[0]}/ limit:{20 + number % 11}"
    screen.query_one(QueryLine).value = line
    await asyncio.sleep(0.01)
    await _until(lambda: screen.is_settled and screen.answer is not None and screen.search_state.line == line)
    await until_painted(screen)


async def _until(is_true: Callable[[], bool]) -> None:
    await asyncio.sleep(0.01)
    while not is_true():
        await asyncio.sleep(0.005)


def _memory_mb() -> float:
    """Return the memory that this process holds now, without garbage."""
    gc.collect()
    if sys.platform == "linux":
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6
    printed = subprocess.run(["ps", "-o", "rss=", "-p", str(os.getpid())], capture_output=True, text=True, check=True)
    return int(printed.stdout) / 1e3
