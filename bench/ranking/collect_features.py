"""Measure the features of every candidate for the mined queries, through the real engine.

    .venv/bin/python bench/ranking/collect_features.py [--only N] [--workers N]

Reads queries.jsonl and trees/ that mine_queries.py wrote, indexes each tree once, and writes features.npz. The rows of
a query follow each other; a row is right if its file is one of the answers, and best if its lines are.
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from mine_queries import Answer, MinedQuery, read_queries
from numpy.typing import NDArray
from repositories import DATA

from keyhole.core.files.read import SourceReader
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.model import open_embedder
from keyhole.core.index.model_folder import BUILTIN
from keyhole.core.index.store import Store
from keyhole.core.index.update import Request, update_index
from keyhole.core.search.engine import Engine
from keyhole.core.search.features import FEATURES, ChunkCandidate
from keyhole.core.search.filters import chunk_scope
from keyhole.core.types.choices import Mode
from keyhole.core.types.view_requests import Query

FEATURE_FILE = DATA / "features.npz"
_MAX_BYTES = 1_000_000


class Measured(NamedTuple):
    """The candidates of some queries: rows of features, and facts of each row and of each query."""

    rows: NDArray[np.float32]
    files: NDArray[np.int64]
    right: NDArray[np.bool_]
    best: NDArray[np.bool_]
    sizes: NDArray[np.int64]
    kinds: NDArray[np.str_]
    sources: NDArray[np.str_]
    repositories: NDArray[np.str_]


def main() -> None:
    """Measure all queries, or those of the first few repositories."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", type=int, help="the number of repositories to measure")
    options.add_argument("--workers", type=int, default=2)
    chosen = options.parse_args()
    by_repository = defaultdict(list)
    for query in read_queries():
        by_repository[query["repository"]].append(query)
    names = sorted(by_repository)[: chosen.only]
    found = []
    with ProcessPoolExecutor(chosen.workers) as pool:
        for name, measured in zip(names, pool.map(measure_all, names, map(by_repository.get, names)), strict=True):
            print(f"{name:<44}{len(by_repository[name]):>5} queries, {len(measured.sizes):>5} with an answer")
            found.append(measured)
    together: dict[str, Any] = {
        field: np.concatenate([getattr(one, field) for one in found]) for field in Measured._fields
    }
    np.savez(FEATURE_FILE, features=np.array(FEATURES), **together)


def measure_all(repository: str, queries: list[MinedQuery]) -> Measured:
    """Index a repository and measure its queries.

    A query none of whose answers is among its candidates teaches nothing and is left out.
    """
    engine = open_engine(repository)
    rows, right, best, files = list[Sequence[float]](), list[bool](), list[bool](), list[int]()
    facts = list[tuple[int, str, str]]()
    for wanted in queries:
        query = Query(wanted["query"])
        ranking = engine.ranking(query, Mode.HYBRID, chunk_scope(engine.store, query))
        paths = {answer["path"] for answer in wanted["answers"]}
        # Not in the order of the weights that are used now, which must not matter.
        candidates = sorted(ranking.candidates, key=attrgetter("path", "start_line", "chunk_id"))
        if any(candidate.path in paths for candidate in candidates):
            facts.append((len(candidates), str(ranking.wanted.kind), wanted["kind"]))
            for candidate in candidates:
                rows.append(candidate.features)
                files.append(candidate.file_id)
                right.append(candidate.path in paths)
                best.append(any(is_answer(candidate, answer) for answer in wanted["answers"]))
    engine.store.close()
    sizes, kinds, sources = zip(*facts, strict=True) if facts else ((), (), ())
    return Measured(
        np.array(rows, np.float32).reshape(len(rows), len(FEATURES)),
        np.array(files, np.int64),
        np.array(right, bool),
        np.array(best, bool),
        np.array(sizes, np.int64),
        np.array(kinds, str),
        np.array(sources, str),
        np.full(len(sizes), repository),
    )


def open_engine(repository: str) -> Engine:
    """Index the tree of a repository if that is not done yet."""
    folder = repository.replace("/", "+")
    root, index = (DATA / "trees" / folder).resolve(), DATA / "indexes" / folder
    embedder = open_embedder(BUILTIN)
    update_index(Request(root, index, _MAX_BYTES, workers=1, embedder=embedder))
    return Engine(Store(index / INDEX_FILE), SourceReader(root, _MAX_BYTES), embedder=embedder)


def is_answer(candidate: ChunkCandidate, answer: Answer) -> bool:
    """Return whether a chunk has lines of an answer; an answer without lines is a whole file."""
    if candidate.path != answer["path"]:
        return False
    first, last = answer.get("start_line", 1), answer.get("end_line", candidate.end_line)
    return candidate.start_line <= last and candidate.end_line >= first


if __name__ == "__main__":
    main()
