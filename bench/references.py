"""Measure how fast references are found in 10,000 files, and what recording every name costs an index run.

    .venv/bin/python bench/references.py [--record] [--rounds N]

The workspace is the Python files of Django 5.2, fetched once with pip and copied until there are 10,000. Each of 20
shared functions and methods is used 1,000 times in random files. Questions are timed for the whole view, from the
request to the text: the first page of a symbol, its next page, and its callers; in elapsed time and in CPU time, which
other programs on the machine disturb less. Indexing is timed with and without names, alternately, each time with a new
index.
"""

import argparse
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from operator import truediv
from pathlib import Path
from unittest.mock import patch

from index import prepare_here, start_no_workers
from record import fetch_sdist, save_record

from keyhole.core.config import load_settings
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.links.requests import ReferenceRelation, ReferencesRequest
from keyhole.core.service import Service

FILES, SYMBOLS, USES = 10_000, 20, 1_000
# Each file that uses a symbol has three uses: an import, a call, and one of its name or of a method.
USES_PER_FILE = 3
SEED = 7
INDEX_ROUNDS = 3
TURNS = 5
PAGE = 100
NAMES = [f"shared_{number}" if number % 2 else f"SharedHolder{number}.method_{number}" for number in range(SYMBOLS)]
MOST_MILLISECONDS = 30.0
FUNCTION = "def shared_{0}(value):\n    return value\n\n\n"
METHOD = "class SharedHolder{0}:\n    def method_{0}(self):\n        return {0}\n\n\n"
CALLS = "\n\ndef use_shared_{0}(value):\n    from shared import shared_{0}\n    return shared_{0}(shared_{0}(value))\n"
# A class that is known, and a variable of unknown type.
METHODS = (
    "\n\ndef use_method_{0}(value):\n    from shared import SharedHolder{0}\n"
    "    return SharedHolder{0}.method_{0}(value) + value.method_{0}() + SharedHolder{0}().method_{0}()\n"
)


def main() -> None:
    """Measure, print a table, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    options.add_argument("--rounds", type=int, default=INDEX_ROUNDS, help="rounds of indexing with and without names")
    chosen = options.parse_args()
    django = fetch_sdist("django", "5.2")
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        figures = index_cost(django, base, chosen.rounds)
        root = write_workspace(base / "work", django)
        service = open_service(root, base / "cache")
        service.index()
        figures["files"] = float(len(service.inventory().files))
        service.close()
        figures |= query_times(root, base / "cache")
    for name, figure in figures.items():
        target = f"<= {MOST_MILLISECONDS:g}  {'met' if figure <= MOST_MILLISECONDS else 'MISSED'}"
        print(f"{name:<52}{figure:>12,.2f}  {target if name.startswith('references') and 'p95' in name else ''}")
    if chosen.record:
        print("recorded as", save_record("references", figures))


def write_workspace(root: Path, django: Path) -> Path:
    """Copy Django's files until there are enough, and add the uses of the shared symbols to random ones."""
    sources = sorted(django.rglob("*.py"))
    chance = random.Random(SEED)
    added: dict[int, list[str]] = {}
    for number in range(SYMBOLS):
        text = (CALLS if number % 2 else METHODS).format(number)
        for file in chance.sample(range(FILES), -(-USES // USES_PER_FILE)):
            added.setdefault(file, []).append(text)
    for number in range(FILES):
        source = sources[number % len(sources)]
        path = root / f"copy_{number // len(sources)}" / source.relative_to(django)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.read_bytes() + "".join(added.get(number, [])).encode())
    (root / "shared.py").write_text(
        "".join((FUNCTION if number % 2 else METHOD).format(number) for number in range(SYMBOLS))
    )
    return root


def open_service(root: Path, cache: Path) -> Service:
    """Open a workspace without vectors, which references do not need."""
    return Service(root, load_settings(root, {"cache_dir": cache, "index.model": "none"}))


def query_times(root: Path, cache: Path) -> dict[str, float]:
    """Time the first page of references and of callers of each symbol, and the next page of references.

    Each turn opens the index again, so that the first page of a symbol is never one that is kept.
    """
    spent: dict[str, list[float]] = {}
    for turn in range(TURNS):
        service = open_service(root, cache)
        # A warm-up: this loads modules, and pages of the index.
        service.relation_view(ReferencesRequest(symbol="SharedHolder0"))
        for name in random.Random(SEED + turn).sample(NAMES, SYMBOLS):
            first = ReferencesRequest(symbol=name)
            for what, request in {
                "references": first,
                "next page of references": replace(first, offset=PAGE),
                "callers": replace(first, relation=ReferenceRelation.CALLERS),
            }.items():
                kind = "methods" if "." in name else "functions"
                elapsed, cpu = timed_twice(partial(service.relation_view, request))
                spent.setdefault(f"{what} of a symbol with 1,000", []).append(elapsed)
                spent.setdefault(f"CPU: {what}, {kind}", []).append(cpu)
        service.close()
    figures: dict[str, float] = {}
    for what, times in spent.items():
        figures[f"{what}, p50, ms"] = statistics.median(times) * 1e3
        figures[f"{what}, p95, ms"] = sorted(times)[int(len(times) * 0.95) - 1] * 1e3
    return figures


def index_cost(tree: Path, base: Path, rounds: int) -> dict[str, float]:
    """Index with names, twice without, and with names again, so that a machine that slows down affects both equally."""
    spent: dict[str, list[float]] = {"with names": [], "without names": []}
    sizes: dict[str, float] = {}
    for number, name in enumerate(["with names", "without names", "without names", "with names"] * rounds):
        with in_this_process(), no_names() if name == "without names" else nothing_changed():
            service = open_service(tree, base / f"{number}")
            spent[name].append(timed(service.index, time.process_time))
        service.close()
        sizes[name] = (service.folder / INDEX_FILE).stat().st_size / 1e6
        shutil.rmtree(base / f"{number}")
    sums = {name: [sum(pair) / 2 for pair in zip(*[iter(seconds)] * 2, strict=True)] for name, seconds in spent.items()}
    return {
        **{f"index {name}, CPU s": min(seconds) for name, seconds in spent.items()},
        **{f"index {name}, MB": size for name, size in sizes.items()},
        "index time with names against without": statistics.median(map(truediv, *sums.values())),
        "index size with names against without": truediv(*sizes.values()),
    }


@contextmanager
def in_this_process() -> Iterator[None]:
    """Prepare files here instead of in worker processes, so that all CPU time counts."""
    with (
        patch("keyhole.core.index.update.prepare_all", prepare_here),
        patch("keyhole.core.index.pool.WorkerPool.expect", start_no_workers),
    ):
        yield


@contextmanager
def no_names() -> Iterator[None]:
    """Index as if files had no names."""
    analyse = "keyhole.core.syntax.analyse"
    with ExitStack() as stack:
        stack.enter_context(patch(f"{analyse}.find_names", lambda *_: ()))
        stack.enter_context(patch(f"{analyse}.pack_occurrences", lambda *_: b""))
        yield


@contextmanager
def nothing_changed() -> Iterator[None]:
    """Index as usual."""
    yield


def timed_twice(function: Callable[[], object]) -> tuple[float, float]:
    """Return how long a call takes, and its CPU time, in seconds."""
    started = time.process_time()
    elapsed = timed(function)
    return elapsed, time.process_time() - started


def timed(function: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return how long a call takes, in seconds."""
    started = clock()
    function()
    return clock() - started


if __name__ == "__main__":
    main()
