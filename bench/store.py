"""Measure what the content store saves: the index of a second copy of the same files, against the first one.

    .venv/bin/python bench/store.py [--tree FOLDER] [--turns N] [--record]

The default tree is the source distribution of Django 5.2, fetched once with pip. Runs with and without the store take
turns, each in a process of its own with two workers and the builtin model. Other load on the machine only adds time, so
the fastest turn of each kind counts.

Disk: the first index takes the bytes of its file and of the store, which is empty before it; the second adds only its
own file, because the store knows its texts. So there are two figures for what a second one adds: against all that the
first took, which is the one with a limit, and against the file of the first index alone. The last figures say how much
smaller the second one would be if indexes referred to the store for what does not depend on other files (vectors,
tokens, names and documents), and if they shared the postings (full text) too.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import apsw
from index import MAX_BYTES, judge_by, print_figures
from record import fetch_sdist, save_record

from keyhole.core.index.location import INDEX_FILE

TURNS = 3
WORKERS = 2
TARGETS = {
    "second index against the first": ("<=", 0.3),
    "second index on disk, of the first index with the store": ("<=", 0.65),
    "first index with the store against without": ("<=", 1.05),
}
POSTINGS = ("chunk_words", "file_names", "file_trigrams")
IN_STORE = ("chunk_vector", "chunk_signs", "chunk_tokens", "file_document", "file_occurrences")

# Runs one update; the last argument names a store, or nothing.
RUN = """
import sys
from pathlib import Path
from keyhole.core.index.content_store import ContentPlace
from keyhole.core.index.model import open_embedder
from keyhole.core.index.update import Request, update_index
tree, folder, store = sys.argv[1:]
content = ContentPlace(Path(store), 10**9) if store else None
update_index(Request(Path(tree), Path(folder), {limit}, {workers}, open_embedder("builtin"), content=content))
"""


class Cost(NamedTuple):
    """The seconds of one run, and its CPU seconds with those of its workers."""

    seconds: float
    cpu: float


def main() -> None:
    """Measure, print a table, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tree", type=Path, help="the folder to index")
    options.add_argument("--turns", type=int, default=TURNS, help="how often to measure each kind of run")
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    chosen = options.parse_args()
    tree = (chosen.tree or fetch_sdist("django", "5.2")).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        figures = measure(tree, Path(scratch), chosen.turns)
    verdicts = judge_by(TARGETS, figures)
    print_figures(figures, TARGETS, verdicts)
    if chosen.record:
        print("recorded as", save_record("store", figures | {"targets met": verdicts}))


def measure(tree: Path, scratch: Path, turns: int) -> dict[str, float]:
    """Run all measurements, one at a time."""
    for name in ("one", "two", "moved/below"):
        shutil.copytree(tree, scratch / name, symlinks=True)
    costs: dict[str, list[Cost]] = {}
    store_bytes = 0
    for turn in range(turns):
        place = scratch / f"turn{turn}"
        for kind, source in (("without", "one"), ("first", "one"), ("second", "two")):
            store = None if kind == "without" else place / "store"
            costs.setdefault(kind, []).append(run(scratch / source, place / kind, store))
            if kind == "first":
                store_bytes = size_of(place / "store")
    place = scratch / "turn0"
    costs["moved"] = [run(scratch / "moved", place / "moved", place / "store")]
    (place / "copied").mkdir()
    shutil.copy(place / "first" / INDEX_FILE, place / "copied")
    costs["copied"] = [run(scratch / "two", place / "copied", None)]
    return times(costs) | sizes(scratch / "turn0", store_bytes)


def run(tree: Path, folder: Path, store: Path | None) -> Cost:
    """Index a folder in a process of its own."""
    code = RUN.format(limit=MAX_BYTES, workers=WORKERS)
    started = time.perf_counter()
    arguments = [sys.executable, "-c", code, str(tree), str(folder), str(store or "")]
    _, status, used = os.wait4(os.spawnv(os.P_NOWAIT, sys.executable, arguments), 0)
    if status:
        raise SystemExit("the index run failed")
    return Cost(time.perf_counter() - started, used.ru_utime + used.ru_stime)


def times(costs: dict[str, list[Cost]]) -> dict[str, float]:
    """Return the times, and their ratios."""
    best = {kind: Cost(min(c.seconds for c in each), min(c.cpu for c in each)) for kind, each in costs.items()}
    figures = {f"{kind}, s": cost.seconds for kind, cost in best.items()}
    figures |= {f"{kind}, CPU s": cost.cpu for kind, cost in best.items()}
    for name, kind, base in (
        ("second index against the first", "second", "first"),
        ("moved files against the first", "moved", "first"),
        ("a copied index, brought up to date, against the first", "copied", "first"),
        ("first index with the store against without", "first", "without"),
    ):
        figures[name] = best[kind].seconds / best[base].seconds
        figures[f"{name}, CPU"] = best[kind].cpu / best[base].cpu
    return figures


def sizes(place: Path, store: int) -> dict[str, float]:
    """Return what the first and the second index take on disk, with the bytes of the store after the first."""
    first, second = size_of(place / "first"), size_of(place / "second")
    db = apsw.Connection(str(place / "second" / INDEX_FILE))
    by_table = dict(db.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
    shares = {
        kind: sum(by_table[name] for name in by_table if name.startswith(kind)) / second
        for kind in (*POSTINGS, *IN_STORE)
    }
    return {
        "files": float(db.execute("SELECT count(*) FROM file").get),
        "first index, MB": first / 1e6,
        "second index, MB": second / 1e6,
        "store, MB": store / 1e6,
        "second index on disk, of the first index with the store": second / (first + store),
        "second index on disk, of the first index alone": second / first,
        "share of an index that the store has too": sum(shares[kind] for kind in IN_STORE),
        "share of an index that is postings": sum(shares[kind] for kind in POSTINGS),
    }


def size_of(folder: Path) -> int:
    """Return the bytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.iterdir())


if __name__ == "__main__":
    main()
