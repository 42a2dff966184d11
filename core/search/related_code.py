"""Finds code similar to other code: by vectors if the index has them, else by shared words."""

from dataclasses import dataclass
from enum import StrEnum

from keyhole.core.errors import ErrorKind, PathError, QueryError
from keyhole.core.index.rows import ChunkScope, Slice
from keyhole.core.index.words import split_words
from keyhole.core.links.requests import RelatedRequest
from keyhole.core.search.candidate_pool import load_candidates
from keyhole.core.search.engine import Engine
from keyhole.core.search.features import ChunkCandidate
from keyhole.core.search.filters import chunk_scope, path_suggestion
from keyhole.core.search.hits import label_hits
from keyhole.core.search.lexical import WordSearch
from keyhole.core.search.semantic import nearest_to
from keyhole.core.search.wanted import understand
from keyhole.core.types.choices import Mode
from keyhole.core.types.search_results import Hit
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.view_requests import Query

# The number of neighbours to compare, and the limits of results per file and in all.
_POOL = 250
_MOST_OF_A_FILE = 3
_MOST_RELATED = 200
_MOST_WORDS = 10
# A word in at most this many chunks is never too common, even in a small index.
_FEW = 20
# There is no query, so each hit gets the label of its first definition.
_UNLABELLED = understand("")


class FoundBy(StrEnum):
    """How similar code was found."""

    VECTORS = "vectors"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class RelatedCode:
    """A page of similar code; `path` and `line` are the reference code, and `how` is how it was found.

    `changed` are files of the page that have changed since they were indexed.
    """

    hits: tuple[Hit, ...]
    changed: frozenset[str]
    total: int
    path: str
    line: int
    how: FoundBy
    is_limited: bool


def find_related(engine: Engine, request: RelatedRequest, wanted: Slice) -> RelatedCode:
    """Return the chunks most similar to the reference code, at most a few per file."""
    chunk_id, path, line = _origin(engine, request)
    if engine.has_vectors:
        scored, how = _by_vectors(engine, chunk_id), FoundBy.VECTORS
    else:
        scored, how = _by_words(engine, chunk_id, path), FoundBy.WORDS
    candidates = _spread(load_candidates(engine.store, [id_ for id_, _ in scored if id_ != chunk_id]), scored)
    page = candidates[wanted.offset : wanted.offset + wanted.limit]
    # The similarity of vectors is meaningful on its own, but the number of shared words only relative to the best.
    top = 1.0 if engine.has_vectors else max((c.score for c in candidates), default=1.0)
    for candidate in page:
        candidate.relative_score = candidate.score / top if top else 0.0
    hits, changed = label_hits(engine.store, engine.files, page, _UNLABELLED)
    return RelatedCode(hits, changed, len(candidates), path, line, how, is_limited=len(scored) >= _POOL)


def _origin(engine: Engine, request: RelatedRequest) -> tuple[int, str, int]:
    """Return the chunk, path and line of the reference code."""
    if request.symbol:
        query = Query(request.symbol, Mode.SYMBOL, path=request.path)
        found = engine.ranking(query, Mode.SYMBOL, chunk_scope(engine.store, query)).candidates
        exact = [candidate for candidate in found if candidate.has_the_name]
        if not exact:
            where = request.path or "the index"
            raise QueryError(
                f"{where} has no symbol {request.symbol!r}", ErrorKind.UNKNOWN_SYMBOL, symbol=request.symbol
            )
        return exact[0].chunk_id, exact[0].path, exact[0].start_line
    if not request.path:
        raise QueryError("no reference code given", ErrorKind.NO_REFERENCE)
    line = request.line
    chunk = engine.store.chunk_at(request.path, line)
    if chunk is None:
        raise PathError(
            f"{request.path} is not an indexed file, or is empty",
            ErrorKind.NOT_INDEXED,
            suggestion=path_suggestion(engine.store, request.path),
        )
    if line > chunk.end_line:
        raise QueryError(f"line={line} is past the end of {request.path}; its last line is {chunk.end_line:,}")
    return chunk.chunk_id, request.path, line


def _by_vectors(engine: Engine, chunk_id: int) -> list[tuple[int, float]]:
    import numpy as np

    own = engine.store.vectors_of([chunk_id])
    if not own:
        return []
    numbers = np.frombuffer(own[0].numbers, np.int8).astype(np.float32)
    return nearest_to(engine.store, numbers / max(float(np.linalg.norm(numbers)), 1.0), engine.signs, limit=_POOL)


def _by_words(engine: Engine, chunk_id: int, path: str) -> list[tuple[int, float]]:
    """Search for the words that are typical of the chunk and also appear in other chunks."""
    source = engine.files.read(path)
    (own,), chunks = engine.store.chunk_sources([chunk_id]), engine.store.count_chunks()
    text = source.text[own.start : own.start + own.length] if isinstance(source, SourceFile) else ""
    words = split_words(text).split()
    counts = engine.vocabulary.chunks_with(set(words))
    # A word in only this chunk finds no other, and one in every fourth chunk is too common.
    uses = {word: words.count(word) for word in dict.fromkeys(words) if 1 < counts[word] <= max(_FEW, chunks // 4)}
    typical = sorted(uses, key=lambda word: (-(uses[word] ** 0.5) / counts[word] ** 0.5, word))[:_MOST_WORDS]
    if not typical:
        return []
    pool = WordSearch(engine.vocabulary, " ".join(typical), ChunkScope(), in_order=False).pool(_POOL)
    return [(match.chunk_id, match.coverage) for match in pool]


def _spread(candidates: list[ChunkCandidate], scored: list[tuple[int, float]]) -> list[ChunkCandidate]:
    """Order by similarity, and keep at most a few chunks per file."""
    scores = {id_: (score, number) for number, (id_, score) in enumerate(scored)}
    for candidate in candidates:
        candidate.score = scores[candidate.chunk_id][0]
    ordered = sorted(candidates, key=lambda c: (-round(c.score, 6), scores[c.chunk_id][1]))
    kept, of_file = list[ChunkCandidate](), dict[str, int]()
    for candidate in ordered:
        of_file[candidate.path] = of_file.get(candidate.path, 0) + 1
        if of_file[candidate.path] <= _MOST_OF_A_FILE:
            kept.append(candidate)
    return kept[:_MOST_RELATED]
