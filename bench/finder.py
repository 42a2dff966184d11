"""Measure the CPU time of each letter typed into the finder, among 100,000 names.

    .venv/bin/python bench/finder.py [--record]

The names are the paths of Django 5.2, fetched once with pip, in as many made-up packages as are needed. Each query is
typed letter by letter: first only the search, then in the explorer, until the names are painted.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from itertools import count, islice
from pathlib import Path

from record import fetch_sdist, save_record
from textual.widgets import Input

from keyhole.core.config import load_settings
from keyhole.core.service import Service
from keyhole.tui.app import KeyholeApp
from keyhole.tui.names_to_find import FILES, NamesToFind
from keyhole.tui.screens.finder import FinderScreen

NAMES = 100_000
SIZE = (120, 36)
QUERIES = (
    "dbmqry",
    "models/query.py",
    "admin options",
    "middlewarecsrf",
    "test_forms",
    "contribauthbackends",
    "settings.py",
    "HttpResp",
    "templateloader",
    "pkg7 urls",
    "locale de django.po",
    "sessions/base",
)
# Figures with their upper limits.
TARGETS = {"a letter in 100,000 names, p95, ms": 50.0, "a letter to the screen, p95, ms": 60.0}


def main() -> None:
    """Measure, print a table, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    chosen = options.parse_args()
    paths = make_paths()
    started = time.process_time()
    names = NamesToFind(paths, []).prepare()
    figures: dict[str, float] = {
        "names": float(len(paths)),
        "letters of a name, average": statistics.mean(map(len, paths)),
        "preparing the names, ms": (time.process_time() - started) * 1e3,
    }
    figures |= summary("a letter in 100,000 names", searches(names))
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "tree").mkdir()
        tree = (Path(scratch) / "tree").resolve()
        service = Service(tree, load_settings(tree, {"cache_dir": Path(scratch) / "cache", "index.model": "none"}))
        figures |= summary("a letter to the screen", asyncio.run(in_the_app(service, paths)))
    for name, figure in figures.items():
        target = f"<= {TARGETS[name]:g}  {'met' if figure <= TARGETS[name] else 'MISSED'}" if name in TARGETS else ""
        print(f"{name:<52}{figure:>12,.2f}  {target}")
    if chosen.record:
        print("recorded as", save_record("finder", figures))


def make_paths() -> list[str]:
    """Return 100,000 paths."""
    root = fetch_sdist("django", "5.2")
    django = sorted(str(path.relative_to(root).as_posix()) for path in root.rglob("*") if path.is_file())
    # The first folder is only the name of the archive.
    inside = [path.partition("/")[2] for path in django]
    return sorted(islice((f"pkg{number}/{path}" for number in count() for path in inside), NAMES))


def typed() -> list[str]:
    """Return what the line holds after each letter."""
    return [query[:end] for query in QUERIES for end in range(1, len(query) + 1)]


def searches(names: NamesToFind) -> list[float]:
    """Return the CPU time of each search."""
    spent = []
    for text in typed():
        started = time.process_time()
        names.find(text, FILES)
        spent.append((time.process_time() - started) * 1e3)
    return spent


async def in_the_app(service: Service, paths: list[str]) -> list[float]:
    """Return the CPU time of the whole process from each letter until its names are painted."""
    app = KeyholeApp(service.root, lambda: service, watches=False)
    spent = []
    async with app.run_test(size=SIZE) as pilot:
        while app.is_busy:
            await asyncio.sleep(0.01)
        app.names_to_find = NamesToFind(paths, [], app.inventory.generation).prepare()
        app.find_name(FILES)
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, FinderScreen)
        line = screen.query_one(Input)
        for text in typed():
            started = time.process_time()
            line.value = text
            await asyncio.sleep(0.02)
            while not screen.is_settled:
                await asyncio.sleep(0.01)
            painted = asyncio.Event()
            screen.call_after_refresh(painted.set)
            await painted.wait()
            spent.append((time.process_time() - started) * 1e3)
    return spent


def summary(name: str, spent: list[float]) -> dict[str, float]:
    """Return the median, p95 and maximum of some times."""
    return {
        f"{name}, p50, ms": statistics.median(spent),
        f"{name}, p95, ms": statistics.quantiles(spent, n=20)[-1],
        f"{name}, slowest, ms": max(spent),
    }


if __name__ == "__main__":
    main()
