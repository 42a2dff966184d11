"""Measure the explorer: first paint, keys, long files and lists, keys while agents or the indexer are busy, memory.

    .venv/bin/python bench/tui.py [--record] [--only PART]

The first paint is compared with that of a bare Textual app, and a file of 100,000 lines with one of 100, measured
alternately in the same run. Keystrokes search about 10,000 chunks of the Python files of Django 5.2, fetched once with
pip. In Traffic, an agent in another process makes 1,000 calls in 10 seconds. Figures are CPU time, except the time from
a key to the screen while the index is built, which is what a user waits. `tui_limits.py` measures the limits.
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from painting import key_ms, opened, until_painted
from record import fetch_sdist, save_record
from search import QUERIES, python_files
from tui_limits import keys_while_indexing, long_files, long_lists, memory

from keyhole.core.config import load_settings
from keyhole.core.journal.writer import Started
from keyhole.core.service import Service
from keyhole.tui.app import KeyholeApp
from keyhole.tui.screens.explore import ExploreScreen
from keyhole.tui.screens.files import FilesScreen
from keyhole.tui.screens.traffic import TrafficScreen
from keyhole.tui.widgets.call_list import CallList
from keyhole.tui.widgets.query_line import QueryLine

ROUNDS = 15
CHUNKS = 10_000
# Figures with their upper limits.
TARGETS = {
    "first picture against a bare Textual app": 1.5,
    "keystroke to results p95, ms": 100.0,
    "opening 100,000 lines against 100": 3.0,
    "slowest key while agents ask, ms": 100.0,
    "from a call to the screen, slowest, ms": 300.0,
    "key to screen while indexing p95, ms": 60.0,
    "key in a list of 100,000 rows against 100": 1.5,
    "key in a file of 100,000 lines against 100": 1.5,
    "memory growth over 500 searches, MB": 3.0,
}
ASKED, ASKED_SECONDS = 1_000, 10

BARE = """
import time
from textual.app import App
from textual.widgets import Static

class Bare(App):
    def compose(self):
        yield Static("hello")

    def on_mount(self):
        self.call_after_refresh(self.painted)

    def painted(self):
        print(time.process_time())
        self.exit()

Bare().run(headless=True, size=(120, 36))
"""
EXPLORER = """
import sys, time
from pathlib import Path
from keyhole.tui.app import KeyholeApp

def painted(self):
    print(time.process_time())
    self.exit()

# Runs right after the first paint.
KeyholeApp._start = painted
KeyholeApp(Path(sys.argv[1]), lambda: None).run(headless=True, size=(120, 36))
"""
# An agent in a separate process: a number of calls in a number of seconds, each recorded at its start and its end.
AGENT = """
import sys, time
from pathlib import Path
from keyhole.core.journal.writer import Ended, Journal, Started
from keyhole.core.types.completeness import CallStatus

folder, count, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
journal = Journal(folder, max_bytes=50_000_000, max_seconds=86_400)
begun = time.monotonic()
for number in range(count):
    call = Started("stdio", f"agent-{number % 8}", "1", "search_code", {"query": f"query {number}", "limit": 50})
    journal.started(call)
    text = "src/module.py:1:[function] (0.50) def some_function(argument)\\n" * 50
    journal.ended(call, Ended(CallStatus.COMPLETE, text, 12.5, 1_500, 20_000, 0.075))
    time.sleep(max(0, begun + seconds * (number + 1) / count - time.monotonic()))
journal.flush()
"""


def main() -> None:
    """Measure, print a table, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    options.add_argument("--only", choices=PARTS, help="measure only this part; nothing is recorded")
    chosen = options.parse_args()
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        tree = make_tree(Path(scratch).resolve() / "tree")
        for name, measure in PARTS.items():
            if chosen.only in (None, name):
                figures |= measure(tree)
    for name, figure in figures.items():
        target = f"<= {TARGETS[name]:g}  {'met' if figure <= TARGETS[name] else 'MISSED'}" if name in TARGETS else ""
        print(f"{name:<52}{figure:>12,.2f}  {target}")
    if chosen.record and not chosen.only:
        print("recorded as", save_record("tui", figures))


def make_tree(tree: Path) -> Path:
    """Write about 10,000 chunks of code, and a short and a long file."""
    left = CHUNKS * 1_450
    for number, text in enumerate(python_files(fetch_sdist("django", "5.2"))):
        path = tree / f"part{number // 200}" / f"module_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        left -= len(text)
        if left <= 0:
            break
    line = "    total = total + weights[index] * scale  # line {}\n"
    for count in (100, 100_000):
        body = "".join(line.format(number) for number in range(count - 1))
        (tree / f"lines_{count}.py").write_text("def weigh(total, weights, scale):\n" + body)
    return tree


def first_picture(tree: Path) -> dict[str, float]:
    """Return the CPU time of new processes up to their first paint, measured alternately."""
    bare, explorer = [], []
    for _ in range(ROUNDS):
        bare.append(printed_seconds(BARE))
        explorer.append(printed_seconds(EXPLORER, str(tree)))
    return {
        "first picture of a bare Textual app, ms": statistics.median(bare) * 1e3,
        "first picture of the explorer, ms": statistics.median(explorer) * 1e3,
        "first picture against a bare Textual app": statistics.median(
            ours / theirs for ours, theirs in zip(explorer, bare, strict=True)
        ),
    }


def printed_seconds(program: str, *arguments: str) -> float:
    """Run a program that prints its CPU time."""
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


async def in_the_app(service: Service) -> dict[str, float]:
    """Type queries letter by letter, then open files."""
    async with opened(service) as (app, pilot):
        status = app.status
        figures: dict[str, float] = {"chunks": float(status.chunks if status else 0)}
        figures |= await keystrokes(app)
        app.switch_mode("files")
        await pilot.pause()
        figures |= await openings(app)
        app.switch_mode("traffic")
        await pilot.pause()
        figures |= await keys_among_calls(app, service)
        return figures | await calls_to_the_screen(app, service)


async def keystrokes(app: KeyholeApp) -> dict[str, float]:
    """Return the CPU time from each letter until its results are painted."""
    screen = app.screen
    assert isinstance(screen, ExploreScreen)
    line = screen.query_one(QueryLine)
    typed = [query[:end] for query in QUERIES for end in range(1, len(query) + 1)]
    spent = [await cpu_ms(partial(setattr, line, "value", text), screen) for text in typed]
    return {
        "keystrokes": float(len(spent)),
        "keystroke to results p50, ms": statistics.median(spent),
        "keystroke to results p95, ms": statistics.quantiles(spent, n=20)[-1],
    }


async def openings(app: KeyholeApp) -> dict[str, float]:
    """Return the CPU time to open and paint a file, measured alternately."""
    screen = app.screen
    assert isinstance(screen, FilesScreen)
    spent: dict[int, list[float]] = {100: [], 100_000: []}
    for _ in range(ROUNDS):
        for count, times in spent.items():
            times.append(await cpu_ms(partial(screen.open, f"lines_{count}.py"), screen))
    short, long = (statistics.median(times) for times in spent.values())
    return {
        "opening 100 lines, ms": short,
        "opening 100,000 lines, ms": long,
        "opening 100,000 lines against 100": long / short,
    }


async def keys_among_calls(app: KeyholeApp, service: Service) -> dict[str, float]:
    """Press keys while agents make calls; return the time until the effect of each is painted."""
    screen = app.screen
    assert isinstance(screen, TrafficScreen)
    arguments = [str(service.folder), str(ASKED), str(ASKED_SECONDS)]
    agent = await asyncio.create_subprocess_exec(sys.executable, "-c", AGENT, *arguments)
    calls = screen.query_one(CallList)

    def state() -> tuple[object, ...]:
        return (screen.call.id if screen.call else 0, screen.tab, len(screen.calls.marked))

    while len(calls.calls) < 2:
        await asyncio.sleep(0.01)
    spent, waited = [], []
    while agent.returncode is None:
        for key in ("j", "right_square_bracket", "m"):
            cpu, wall = await key_ms(app, key, state)
            spent.append(cpu)
            waited.append(wall)
            await asyncio.sleep(0.02)
    while len(calls.calls) < ASKED:
        await asyncio.sleep(0.01)
    return {
        "keys while agents ask": float(len(spent)),
        "slowest key while agents ask, ms": max(spent),
        "slowest key while agents ask, waited, ms": max(waited),
    }


async def calls_to_the_screen(app: KeyholeApp, service: Service) -> dict[str, float]:
    """Return the time from the start of a call in a server until it is painted."""
    screen, journal = app.screen, service.journal()
    assert isinstance(screen, TrafficScreen)
    assert journal
    waited = []
    for number in range(30):
        known = screen.calls.shown[0].id
        started = time.perf_counter()
        journal.started(Started("stdio", "agent", "1", "search_code", {"query": f"one more {number}"}))
        while screen.calls.shown[0].id == known:
            await asyncio.sleep(0.001)
        await until_painted(screen)
        waited.append((time.perf_counter() - started) * 1e3)
    return {"from a call to the screen, slowest, ms": max(waited)}


async def cpu_ms(act: Callable[[], object], screen: ExploreScreen | FilesScreen) -> float:
    """Run an action, wait until its result is painted, and return the CPU time of the whole process."""
    started = time.process_time()
    act()
    # The change arrives as a message, so at first the app looks idle.
    await asyncio.sleep(0.02)
    while not screen.is_settled:
        await asyncio.sleep(0.01)
    await until_painted(screen)
    return (time.process_time() - started) * 1e3


def _indexed(tree: Path) -> Service:
    """Return the service of the tree; all parts share its index."""
    service = Service(tree, load_settings(tree, {"cache_dir": tree.parent / "cache"}))
    service.index()
    return service


# What is measured, each with the tree of files.
PARTS: dict[str, Callable[[Path], dict[str, float]]] = {
    "first-picture": first_picture,
    "keys": lambda tree: asyncio.run(in_the_app(_indexed(tree))),
    "indexing": lambda tree: asyncio.run(keys_while_indexing(tree, tree.parent / "new-cache")),
    "lists": lambda _: asyncio.run(long_lists()),
    "files": lambda tree: asyncio.run(long_files(_indexed(tree))),
    "memory": lambda tree: asyncio.run(memory(_indexed(tree))),
}


if __name__ == "__main__":
    main()
