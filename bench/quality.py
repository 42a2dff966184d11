"""Measure search quality: NDCG@10 and recall@10 on labelled queries, by kind, with an ablation per signal.

Also measures what the answers to these queries cost: the tokens of a compact answer with ten results.

    .venv/bin/python bench/quality.py [--split tune|held-out|all] [--model FOLDER] [--semble] [--ablation] [--record]

Labels are in bench/quality/; ranking is tuned on the `tune` projects only.
"""

import argparse
import math
import statistics
from collections import defaultdict
from collections.abc import Callable
from importlib.resources import files

from corpus import Answer, fetch_project, load_projects, load_queries
from corpus import Query as Label
from record import HERE, save_record

from keyhole.core.config import load_settings
from keyhole.core.files.read import SourceReader
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.model import open_embedder
from keyhole.core.index.model_folder import BUILTIN
from keyhole.core.index.store import Store
from keyhole.core.index.update import Request, update_index
from keyhole.core.search.candidate_pool import load_candidates
from keyhole.core.search.engine import Engine
from keyhole.core.search.filters import chunk_scope
from keyhole.core.search.lexical import WordSearch
from keyhole.core.search.features import FEATURES as WEIGHTS
from keyhole.core.search.features import ChunkCandidate
from keyhole.core.service import Service
from keyhole.core.types import Mode, Query, SearchRequest
from keyhole.core.view.budget.tokens import estimate_tokens

MAX_BYTES = 1_000_000
DEPTH = 10
# Targets for the held-out half, in NDCG@10.
TARGETS = {"ranking above raw BM25": 0.12, "symbol lookup": 0.95, "hybrid above keyword": 0.015}
# The mean tokens of a compact answer with ten results, over all queries.
MAX_COMPACT_TOKENS = 450

Searcher = Callable[[Engine, str], list[ChunkCandidate]]


def main() -> None:
    """Measure, print tables, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--split", choices=["tune", "held-out", "all"], default="all")
    options.add_argument("--model", default=BUILTIN, help="folder of another model")
    options.add_argument(
        "--semble", action="store_true", help="also measure semble with the same model, if it is installed"
    )
    options.add_argument("--ablation", action="store_true", help="measure without each signal in turn")
    options.add_argument("--misses", action="store_true", help="list tune queries whose best answer is not first")
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    chosen = options.parse_args()
    figures: dict[str, object] = {}
    tokens: list[int] = []
    for split in ["tune", "held-out"] if chosen.split == "all" else [chosen.split]:
        labels, engines = load(split, chosen.model)
        searchers: dict[str, Searcher] = {"raw BM25": raw_bm25, "keyword with ranking": ranked(frozenset())}
        searchers |= {mode: ranked(frozenset(), mode) for mode in (Mode.SEMANTIC, Mode.HYBRID)}
        if chosen.semble:
            searchers["semble"] = semble(engines, chosen.model)
        if chosen.ablation:
            searchers |= {f"  without {name}": ranked(frozenset([name])) for name in WEIGHTS}
        tables = {name: score(searcher, labels, engines) for name, searcher in searchers.items()}
        print_table(split, tables)
        figures[split] = tables
        tokens += compact_tokens(split, labels, chosen.model)
        if split == "held-out":
            figures["targets met"] = judge(tables)
        if chosen.misses and split == "tune":
            list_misses(labels, engines)
    figures["tokens of a compact answer"] = mean = statistics.mean(tokens)
    verdict = "met" if mean <= MAX_COMPACT_TOKENS else "MISSED"
    print(
        f"{'tokens of a compact answer':<34}{mean:>9.0f}  <= {MAX_COMPACT_TOKENS}  {verdict}  ({len(tokens)} answers)"
    )
    if chosen.record:
        print("recorded as", save_record("quality", figures))


def load(split: str, model: str = BUILTIN) -> tuple[list[Label], dict[str, Engine]]:
    """Fetch and index the projects of a split."""
    embedder = open_embedder(model)
    projects = [project for project in load_projects() if project["split"] == split]
    engines = {}
    for project in projects:
        root = fetch_project(project).resolve()
        folder = HERE / ".data" / "indexes" / str(project["name"])
        update_index(Request(root, folder, MAX_BYTES, workers=2, embedder=embedder))
        engines[str(project["name"])] = Engine(
            Store(folder / INDEX_FILE), SourceReader(root, MAX_BYTES), embedder=embedder
        )
    return [label for label in load_queries() if label["project"] in engines], engines


def raw_bm25(engine: Engine, text: str) -> list[ChunkCandidate]:
    """Search with plain BM25: all words and columns have the same weight, and there is no ranking."""
    matches = WordSearch(engine.vocabulary, text, chunk_scope(engine.store, Query(text)), is_raw=True).pool(DEPTH)
    ids = [match.chunk_id for match in matches]
    found = {candidate.chunk_id: candidate for candidate in load_candidates(engine.store, ids)}
    return [found[match.chunk_id] for match in matches]


def ranked(without: frozenset[str], mode: Mode = Mode.KEYWORD) -> Searcher:
    """Search with ranking, without some signals."""

    def search(engine: Engine, text: str) -> list[ChunkCandidate]:
        query = Query(text)
        return engine.ranking(query, mode, chunk_scope(engine.store, query), without=without).candidates[:DEPTH]

    return search


def semble(engines: dict[str, Engine], model: str) -> Searcher:
    """Search with semble and the same vectors."""
    from semble import SembleIndex

    folder = str(files("keyhole.assets").joinpath("model")) if model == BUILTIN else model
    indexes = {
        engines[project["name"]]: SembleIndex.from_path(fetch_project(project).resolve(), model_path=folder)
        for project in load_projects()
        if project["name"] in engines
    }

    def search(engine: Engine, text: str) -> list[ChunkCandidate]:
        chunks = [found.chunk for found in indexes[engine].search(text, top_k=DEPTH)]
        return [ChunkCandidate(0, 0, c.file_path, "", c.start_line, c.end_line, "") for c in chunks]

    return search


def score(searcher: Searcher, labels: list[Label], engines: dict[str, Engine]) -> dict[str, dict[str, float]]:
    """Average NDCG and recall by kind."""
    ndcg, recall = defaultdict(list), defaultdict(list)
    for label in labels:
        gains = credited(searcher(engines[label["project"]], label["query"]), label)
        for kind in (label["kind"], "all"):
            ndcg[kind].append(dcg(gains) / dcg([1] * min(DEPTH, len(label["answers"]))))
            recall[kind].append(sum(gains) / len(label["answers"]))
    return {
        kind: {"ndcg": statistics.mean(ndcg[kind]), "recall": statistics.mean(recall[kind]), "queries": len(ndcg[kind])}
        for kind in ("symbol", "behaviour", "architecture", "string", "all")
    }


def credited(candidates: list[ChunkCandidate], label: Label) -> list[int]:
    """Mark each hit that overlaps an answer that no better hit overlaps."""
    left = list(label["answers"])
    gains = []
    for candidate in candidates:
        match = next((answer for answer in left if overlaps(candidate, answer)), None)
        if match is not None:
            left.remove(match)
        gains.append(int(match is not None))
    return gains


def overlaps(candidate: ChunkCandidate, answer: Answer) -> bool:
    """Return whether a chunk overlaps an answer."""
    is_near = candidate.start_line <= answer["end_line"] and candidate.end_line >= answer["start_line"]
    return candidate.path == answer["path"] and is_near


def dcg(gains: list[int]) -> float:
    """Return the sum of gains, discounted by rank."""
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))


def compact_tokens(split: str, labels: list[Label], model: str) -> list[int]:
    """Return the tokens of each answer that an agent gets with default settings, if it shows ten results."""
    tokens = []
    for project in load_projects():
        if project["split"] == split:
            root = fetch_project(project).resolve()
            settings = load_settings(root, {"cache_dir": HERE / ".data" / "quality-cache", "index.model": model})
            service = Service(root, settings)
            service.index()
            queries = [label["query"] for label in labels if label["project"] == project["name"]]
            pages = [service.search_page(SearchRequest(query)) for query in queries]
            tokens += [estimate_tokens(view.text) for found, view in pages if len(found.hits) == DEPTH]
    return tokens


def print_table(split: str, tables: dict[str, dict[str, dict[str, float]]]) -> None:
    """Print NDCG@10 (recall@10) by kind."""
    kinds = ["symbol", "behaviour", "architecture", "string", "all"]
    print(f"\n{split:<34}" + "".join(f"{kind:>16}" for kind in kinds))
    for name, table in tables.items():
        cells = "".join(f"{table[kind]['ndcg']:>9.3f} ({table[kind]['recall']:.2f})" for kind in kinds)
        print(f"{name:<34}{cells}")


def judge(tables: dict[str, dict[str, dict[str, float]]]) -> dict[str, bool]:
    """Print the figures with their targets."""
    overall = {name: table["all"]["ndcg"] for name, table in tables.items()}
    reached = {
        "ranking above raw BM25": overall["keyword with ranking"] - overall["raw BM25"],
        "symbol lookup": tables[Mode.HYBRID]["symbol"]["ndcg"],
        "hybrid above keyword": overall[Mode.HYBRID] - overall["keyword with ranking"],
    }
    for name, figure in reached.items():
        verdict = "met" if figure >= TARGETS[name] else "MISSED"
        print(f"{name:<34}{figure:>9.3f}  >= {TARGETS[name]:g}  {verdict}")
    return {name: figure >= TARGETS[name] for name, figure in reached.items()}


def list_misses(labels: list[Label], engines: dict[str, Engine]) -> None:
    """Print the first hits of each query whose first hit is not an answer."""
    for label in labels:
        found = ranked(frozenset())(engines[label["project"]], label["query"])
        gains = credited(found, label)
        if gains[:1] != [1]:
            place = gains.index(1) + 1 if 1 in gains else "-"
            answer = label["answers"][0]
            wanted = f"{answer['path']}:{answer['start_line']}"
            print(f"\n[{label['kind']}] {label['project']}: {label['query']!r}  place {place}, wants {wanted}")
            for candidate in found[:4]:
                print(f"    {candidate.path}:{candidate.start_line} {candidate.definitions[:60]}")


if __name__ == "__main__":
    main()
