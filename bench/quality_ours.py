"""Keyhole's own ways to search, for bench/quality.py: raw BM25, and each mode as Keyhole answers it."""

from dataclasses import replace
from pathlib import Path

from corpus import Query as Label
from corpus import fetch_project, load_projects, load_queries
from quality_scores import DEPTH, Place, Searcher
from record import HERE

from keyhole.core.files.read import SourceReader
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.model import open_embedder
from keyhole.core.index.model_folder import BUILTIN
from keyhole.core.index.rows import ChunkScope
from keyhole.core.index.store import Store
from keyhole.core.index.update import Request, update_index
from keyhole.core.search.candidate_pool import load_candidates
from keyhole.core.search.engine import Engine
from keyhole.core.search.features import ChunkCandidate
from keyhole.core.search.filters import chunk_scope
from keyhole.core.search.lexical import WordSearch
from keyhole.core.search.query import quoted_parts
from keyhole.core.search.ranking import grouped
from keyhole.core.search.regex import chunks_containing
from keyhole.core.types.choices import Mode
from keyhole.core.types.view_requests import Query

MAX_BYTES = 1_000_000
# Enough chunks for ten different files.
RAW_POOL = 200

Engines = dict[str, Engine]


def load(split: str, model: str = BUILTIN) -> tuple[list[Label], Engines]:
    """Fetch and index the projects of a split."""
    embedder = open_embedder(model)
    engines = {}
    for project in load_projects():
        if project["split"] == split:
            root = fetch_project(project).resolve()
            folder = HERE / ".data" / "indexes" / str(project["name"])
            update_index(Request(root, folder, MAX_BYTES, workers=2, embedder=embedder))
            store = Store(folder / INDEX_FILE)
            engines[str(project["name"])] = Engine(store, SourceReader(root, MAX_BYTES), embedder=embedder)
    return [label for label in load_queries() if label["project"] in engines], engines


def root_of(engine: Engine) -> Path:
    """Return the folder of a project."""
    assert isinstance(engine.files, SourceReader)  # as `load` made it
    return engine.files.root


def raw_bm25(engines: Engines) -> Searcher:
    """Search with plain BM25: all words and columns have the same weight, and there is no ranking."""

    def search(project: str, text: str) -> list[Place]:
        engine = engines[project]
        scope = chunk_scope(engine.store, Query(text))
        ids = [match.chunk_id for match in WordSearch(engine.vocabulary, text, scope, is_raw=True).pool(RAW_POOL)]
        found = {candidate.chunk_id: candidate for candidate in load_candidates(engine.store, ids)}
        return _by_file([found[chunk_id] for chunk_id in ids])

    return search


def answered(engines: Engines, mode: Mode) -> Searcher:
    """Search as an agent does, in one mode: one result per file, which is the lines of its best chunk."""

    def search(project: str, text: str) -> list[Place]:
        hits = engines[project].search(Query(text, mode=mode, limit=DEPTH)).hits
        return [Place(hit.path, *((hit.line,) * 2 if hit.is_line else (hit.start_line, hit.end_line))) for hit in hits]

    return search


def without(engines: Engines, feature: str) -> Searcher:
    """Search in hybrid mode, ranked without one feature."""

    def search(project: str, text: str) -> list[Place]:
        engine, query = engines[project], Query(text)
        scope = scope_of(engine, query)
        return _by_file(engine.ranking(query, Mode.HYBRID, scope, without=frozenset([feature])).candidates)

    return search


def scope_of(engine: Engine, query: Query) -> ChunkScope:
    """Return which chunks a query can find: if it quotes texts, those that contain them."""
    scope, texts = chunk_scope(engine.store, query), quoted_parts(query.text)
    return replace(scope, chunk_ids=chunks_containing(engine.store, engine.files, texts, scope)) if texts else scope


def _by_file(candidates: list[ChunkCandidate]) -> list[Place]:
    best = [file[0] for file in grouped(candidates, by_file=True)[:DEPTH]]
    return [Place(candidate.path, candidate.start_line, candidate.end_line) for candidate in best]
