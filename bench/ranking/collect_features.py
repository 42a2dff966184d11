"""Measure the features of every candidate for the mined queries, through the real engine.

    .venv/bin/python bench/ranking/collect_features.py [--only N]

Reads queries.jsonl and trees/ that mine_queries.py wrote, indexes each tree once, and writes features.npz. The rows of a
query follow each other; a row is right if its file is one of the answers, and best if its lines are.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from keyhole.core.types import Mode, Query

if TYPE_CHECKING:
    from keyhole.core.index.embedder import Embedder

FEATURE_FILE = DATA / "features.npz"
_MAX_BYTES = 1_000_000


@dataclass(slots=True)
class Measured:
    """The candidates of one query."""

    repository: str
    source: str
    kind: str
    candidates: list[ChunkCandidate]
    answers: list[dict[str, Any]]


def main() -> None:
    """Measure all queries, or those of the first few repositories."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", type=int, help="the number of repositories to measure")
    chosen = options.parse_args()
    by_repository = defaultdict(list)
    listed = {line.split(",")[0] for line in Path("/tmp/ranking/repositories.csv").read_text().splitlines()}
    for line in (DATA / "queries.jsonl").read_text().splitlines() + Path(
        "/tmp/ranking/texts.jsonl"
    ).read_text().splitlines():
        query = json.loads(line)
        if query["repository"] not in listed:
            continue
        by_repository[query["repository"]].append(query)
    embedder = open_embedder(BUILTIN)
    measured: list[Measured] = []
    for number, (repository, queries) in enumerate(sorted(by_repository.items())[: chosen.only], 1):
        measured += measure_all(repository, queries, embedder)
        print(f"{number:>4} {repository:<44}{len(queries):>5} queries", file=sys.stderr)
    save(measured)


def measure_all(repository: str, queries: list[dict[str, Any]], embedder: "Embedder") -> Iterator[Measured]:
    """Index a repository and measure its queries."""
    engine = open_engine(repository, embedder)
    for wanted in queries:
        query = Query(wanted["query"])
        ranking = engine.ranking(query, Mode.HYBRID, chunk_scope(engine.store, query))
        kind = str(ranking.wanted.kind)
        yield Measured(repository, wanted["kind"], kind, ranking.candidates, wanted["answers"])
    engine.store.close()


def open_engine(repository: str, embedder: "Embedder") -> Engine:
    """Index the tree of a repository if that is not done yet."""
    folder = repository.replace("/", "+")
    root, index = (DATA / "trees" / folder).resolve(), DATA / "indexes" / folder
    update_index(Request(root, index, _MAX_BYTES, workers=2, embedder=embedder))
    return Engine(Store(index / INDEX_FILE), SourceReader(root, _MAX_BYTES), embedder=embedder)


def is_answer(candidate: ChunkCandidate, answer: dict[str, Any]) -> bool:
    """Return whether a chunk has lines of an answer; an answer without lines is a whole file."""
    if candidate.path != answer["path"]:
        return False
    first, last = answer.get("start_line", 1), answer.get("end_line", candidate.end_line)
    return bool(candidate.start_line <= last and candidate.end_line >= first)


def save(measured: list[Measured]) -> None:
    """Write all rows; a query none of whose answers is among its candidates teaches nothing and is left out."""
    import numpy as np

    rows, files, right, best, sizes, kinds, sources, names = [], [], [], [], [], [], [], []
    lost = 0
    for one in measured:
        wanted = {answer["path"] for answer in one.answers}
        is_right = [candidate.path in wanted for candidate in one.candidates]
        if not any(is_right):
            lost += 1
            continue
        rows += [candidate.features for candidate in one.candidates]
        files += [candidate.file_id for candidate in one.candidates]
        right += is_right
        best += [any(is_answer(candidate, answer) for answer in one.answers) for candidate in one.candidates]
        sizes.append(len(one.candidates))
        kinds.append(one.kind)
        sources.append(one.source)
        names.append(one.repository)
    np.savez(
        FEATURE_FILE,
        features=np.array(FEATURES),
        rows=np.array(rows, np.float32),
        files=np.array(files, np.int64),
        right=np.array(right),
        best=np.array(best),
        sizes=np.array(sizes),
        kinds=np.array(kinds),
        sources=np.array(sources),
        repositories=np.array(names),
    )
    print(f"{len(sizes)} queries, {len(rows)} rows; {lost} queries have no answer among their candidates")


if __name__ == "__main__":
    main()
