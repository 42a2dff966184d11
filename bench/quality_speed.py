"""Compare our speed with semble's in the same process, in alternating turns, for bench/quality.py.

- warm query: from the text to the ranked list, in hybrid mode; for us that is `Engine.ranking`, without labels and
  views. Queries for exact text are left out, because semble has no such search.
- cold index: from the files to an index that can be searched, with the model loaded and everything imported. semble
  indexes code, documents and configuration here, as we do, and stays in memory; we write to the disk. Its time for code
  alone, its default, is recorded too. We use as many processes as by default; semble's default in Python is none.

Each turn measures one side after the other; who goes first alternates. The figure of a side is its median.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from corpus import Query as Label
from quality_ours import MAX_BYTES, Engines, root_of, scope_of
from quality_peers import build_semble
from quality_scores import DEPTH

from keyhole.core.config import load_settings
from keyhole.core.index.model import open_embedder
from keyhole.core.index.update import Request, update_index
from keyhole.core.search.engine import Engine
from keyhole.core.search.query import is_quoted
from keyhole.core.types.choices import Mode
from keyhole.core.types.view_requests import Query

if TYPE_CHECKING:
    from semble import SembleIndex

QUERY_TURNS = 7
INDEX_TURNS = 3
# Projects with fewer chunks are small, and starting costs them more than indexing.
SMALL = 1_200
MOST_WARM, MOST_COLD_SMALL, MOST_COLD_LARGE = 1.2, 2.0, 1.0

# Of a project: chunks, seconds of each side, and our time as a multiple of semble's.
Speed = dict[str, float]


def measure_speed(labels: list[Label], engines: Engines, model: str) -> dict[str, Speed]:
    """Measure every project, and print a line for each."""
    print(
        f"\n{'speed':<14}{'chunks':>8}{'query, ms':>11}{'semble':>8}{'ratio':>7}"
        f"{'index, s':>10}{'semble':>8}{'ratio':>7}{'code only':>11}"
    )
    speeds = {}
    for project, engine in engines.items():
        texts = [label["query"] for label in labels if label["project"] == project and not is_quoted(label["query"])]
        query, query_semble = warm_query(texts, engine, build_semble(root_of(engine), model, everything=True))
        index, index_semble, index_code = cold_index(root_of(engine), model)
        speeds[project] = speed = {
            "chunks": float(engine.store.count_chunks()),
            "query": query,
            "query, semble": query_semble,
            "query ratio": query / query_semble,
            "index": index,
            "index, semble": index_semble,
            "index ratio": index / index_semble,
            "index, semble, code only": index_code,
        }
        print(
            f"{project:<14}{speed['chunks']:>8,.0f}"
            f"{query * 1000:>11.2f}{query_semble * 1000:>8.2f}{speed['query ratio']:>7.2f}"
            f"{index:>10.2f}{index_semble:>8.2f}{speed['index ratio']:>7.2f}{index_code:>11.2f}"
        )
    return speeds


def judge_speeds(speeds: dict[str, Speed]) -> dict[str, bool]:
    """Print the worst ratios with their limits, and return which limits are kept."""
    small = [speed["index ratio"] for speed in speeds.values() if speed["chunks"] < SMALL]
    large = [speed["index ratio"] for speed in speeds.values() if speed["chunks"] >= SMALL]
    worst = {"warm query, worst project": (max(speed["query ratio"] for speed in speeds.values()), MOST_WARM)}
    if small:
        worst[f"cold index, worst project below {SMALL:,} chunks"] = (max(small), MOST_COLD_SMALL)
    if large:
        worst[f"cold index, worst project from {SMALL:,} chunks on"] = (max(large), MOST_COLD_LARGE)
    for name, (ratio, limit) in worst.items():
        print(f"{name:<58}{ratio:>9.2f}  <= {limit:g}  {'met' if ratio <= limit else 'MISSED'}")
    return {name: ratio <= limit for name, (ratio, limit) in worst.items()}


def warm_query(texts: list[str], engine: Engine, index: "SembleIndex") -> tuple[float, float]:
    """Return the median over queries of the median time of each side, in seconds."""

    def rank(text: str) -> None:
        query = Query(text)
        # As every answer is read.
        with engine.store.snapshot():
            engine.ranking(query, Mode.HYBRID, scope_of(engine, query))

    medians = []
    for text in texts:
        sides = partial(rank, text), partial(index.search, text, top_k=DEPTH)
        # One turn to warm up: the first search for a text loads its words and their rows.
        alternate(*sides, turns=1)
        medians.append(alternate(*sides, turns=QUERY_TURNS))
    return statistics.median(ours for ours, _ in medians), statistics.median(theirs for _, theirs in medians)


def cold_index(root: Path, model: str) -> list[float]:
    """Return the median times to index a project, in seconds: ours, semble's, and semble's for code only."""
    embedder, workers = open_embedder(model), load_settings(root).index.workers
    if embedder is not None:
        embedder.load()
    with tempfile.TemporaryDirectory() as scratch:
        folders = (Path(scratch) / str(number) for number in count())

        def build() -> None:
            update_index(Request(root, next(folders), MAX_BYTES, workers=workers, embedder=embedder))

        everything, code = (partial(build_semble, root, model, everything=choice) for choice in (True, False))
        return alternate(build, everything, code, turns=INDEX_TURNS)


def alternate(*sides: Callable[[], object], turns: int) -> list[float]:
    """Return the median time of each side; who goes first alternates."""
    times: list[list[float]] = [[] for _ in sides]
    for turn in range(turns):
        order = list(zip(sides, times, strict=True))
        for call, taken in order if turn % 2 == 0 else reversed(order):
            start = time.perf_counter()
            call()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in times]
