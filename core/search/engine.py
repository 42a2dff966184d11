"""One search, from the query to a page of labelled hits."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from keyhole.core.errors import ErrorKind, FilterError, ModelError, PathError, QueryError
from keyhole.core.files.read import SourceReader
from keyhole.core.index.embedder import Embedder
from keyhole.core.index.protocols import IndexStore
from keyhole.core.index.rows import ChunkScope
from keyhole.core.index.words import stem
from keyhole.core.notes import Note, NoteKind
from keyhole.core.search.filters import chunk_scope
from keyhole.core.search.hits import label_hits
from keyhole.core.search.lexical import Vocabulary, WordSearch
from keyhole.core.search.line_search import LineSearch
from keyhole.core.search.nothing_found import SearchGap
from keyhole.core.search.query import check_query, choose_mode, is_identifier, names_of, pattern_of, words_of
from keyhole.core.search.rank import (
    HYBRID_VECTORS,
    NAME_VECTOR_WEIGHT,
    POOL_SIZE,
    SEMANTIC_VECTORS,
    VECTOR_WEIGHT,
    ChunkCandidate,
    Wanted,
    letters_of,
    rank,
)
from keyhole.core.search.semantic import nearest_chunks
from keyhole.core.search.shared_caches import SharedCaches
from keyhole.core.search.symbol_search import Names, find_symbols, separate
from keyhole.core.types import Hit, IndexVersion, Mode, Output, Query, SearchResult

# Errors about names that may be in the index once it is complete.
_MAY_BE_INDEXED_LATER = frozenset([ErrorKind.NOT_INDEXED, ErrorKind.UNKNOWN_PATH, ErrorKind.UNKNOWN_SYMBOL])


class Ranking:
    """All matches in order; `total` also counts those outside the pool, and `wanted` is what the query asks for."""

    def __init__(self, candidates: list[ChunkCandidate], total: int, wanted: Wanted) -> None:
        self.candidates = candidates
        self.total = total
        self.wanted = wanted


class Engine:
    """Searches one index, for one thread at a time; engines of the same index can share their caches."""

    def __init__(  # made in one place, by name
        self,
        store: IndexStore,
        files: SourceReader,
        *,
        embedder: Embedder | None = None,
        problem: ModelError | None = None,
        caches: SharedCaches | None = None,
    ) -> None:
        self.store = store
        self.files = files
        self._model = embedder if embedder and store.load_vectors() else None
        # Why search by meaning is not available, if the user would expect it.
        self._problem = problem
        self._caches = caches or SharedCaches()
        self._names = Names(store, self._caches.names)
        self.vocabulary = Vocabulary(store, self._caches.word_counts)
        self.signs = self._caches.signs
        store.prepare_search()

    @property
    def _embedder(self) -> Embedder | None:
        """The loaded model, if the index has vectors made with it."""
        if self._model is None:
            return None
        try:
            # The model is loaded first: if it is damaged, that is the reason, and another index run would not help.
            self._model.load()
            if self.store.facts().model == self._model.name:
                self._problem = None
                return self._model
            self._problem = ModelError("the index has no vectors from the current model", "run keyhole index")
        except ModelError as error:
            self._problem = error
        return None

    def _possible_mode(self, query: Query, mode: Mode) -> Mode:
        """Return keyword mode if hybrid mode has no vectors; the model is loaded only if the mode needs it."""
        # A query with mode=hybrid raises an error instead, unless a note can give the reason.
        if mode == Mode.HYBRID and self._embedder is None and (query.mode == Mode.AUTO or self._problem):
            return Mode.KEYWORD
        return mode

    @property
    def has_vectors(self) -> bool:
        """Whether code can be found by meaning."""
        return self._embedder is not None

    def index_version(self) -> IndexVersion:
        """Return which version of the index answers."""
        facts = self.store.facts()
        return IndexVersion(
            facts.generation,
            facts.pending,
            self.store.count_skips(),
            self._caches.opening,
            facts.total,
            is_interrupted=facts.pending != 0 and self.store.is_abandoned(),
        )

    @contextmanager
    def gaps_explained(self) -> Iterator[None]:
        """Raise an error about something that is not in the index with the reason, if the index is incomplete."""
        try:
            yield
        except (PathError, QueryError) as error:
            index = self.index_version()
            if index.incomplete and (isinstance(error, FilterError) or error.kind in _MAY_BE_INDEXED_LATER):
                problem = f"{error.problem}: {index.incomplete}"
                if index.is_interrupted:
                    raise QueryError(problem, ErrorKind.INTERRUPTED) from error
                raise QueryError(problem, ErrorKind.BUILDING) from error
            raise

    def search(self, query: Query, mode: Mode | None = None) -> SearchResult:
        """Answer a query with one page of hits; `mode` is the resolved mode, if the caller knows it."""
        found = self._search(query, mode)
        if found.total or found.index.incomplete:
            return found
        gap = SearchGap(self.store, self._names, lambda other: self._search(replace(other, limit=1, offset=0)).total)
        return replace(found, nothing=gap.explain(query, found.mode))

    def _search(self, query: Query, mode: Mode | None = None) -> SearchResult:
        check_query(query)
        mode = self._possible_mode(query, mode or choose_mode(query))
        scope = chunk_scope(self.store, query)
        if mode == Mode.REGEX:
            return self._matching_lines(query, scope)
        ranking = self.ranking(query, mode, scope)
        page = ranking.candidates[query.offset : query.offset + query.limit]
        # Pages after the ranked pool are in the order of the words alone, so that every match can be reached.
        if mode == Mode.KEYWORD and len(page) < query.limit:
            start = max(0, query.offset - len(ranking.candidates))
            page += self._beyond_pool(query.text, scope, ranking, start, query.limit - len(page))
        # Scores are relative to the best hit of all pages, so that a hit has the same score on every page.
        top = ranking.candidates[0].score if ranking.candidates else 1.0
        index = self.index_version()
        return SearchResult(
            query=query,
            mode=mode,
            hits=label_hits(self.store, page, top, ranking.wanted),
            total=ranking.total,
            index=index,
            notes=tuple(self._notes(query, mode, ranking.total, index.incomplete_note)),
        )

    def _matching_lines(self, query: Query, scope: ChunkScope) -> SearchResult:
        """Answer a search by pattern."""
        found, index = self._lines(query, scope), self.index_version()
        is_list = query.output == Output.LINES
        counts = [] if is_list else found.counts(query.output)
        total = found.total.lines if is_list else len(counts)
        return SearchResult(
            query=query,
            mode=Mode.REGEX,
            hits=found.page(query) if is_list else (),
            total=total,
            index=index,
            notes=tuple(self._notes(query, Mode.REGEX, total, index.incomplete_note)),
            matches=found.total,
            counts=tuple(counts[query.offset : query.offset + query.limit]),
        )

    def _lines(self, query: Query, scope: ChunkScope) -> LineSearch:
        return LineSearch(self.store, self.files, pattern_of(query.text), scope)

    def ranking(self, query: Query, mode: Mode, scope: ChunkScope, *, without: frozenset[str] = frozenset()) -> Ranking:
        """Rank all chunks that match, by words, meaning or name; the order does not depend on the page."""
        if mode == Mode.SYMBOL:
            return self._by_symbol(query, scope)
        search = WordSearch(self.vocabulary, query.text, scope)
        lexical = search.pool(POOL_SIZE) if mode != Mode.SEMANTIC else []
        nearest: list[int] = []
        if mode in (Mode.HYBRID, Mode.SEMANTIC):
            embedder = self._embedder
            if embedder is None:
                reason, suggestion = "this index has none", ""
                if self._problem:
                    reason, suggestion = self._problem.reason, f"To search by meaning, {self._problem.remedy}."
                raise QueryError(
                    f"mode={mode} needs vectors, but {reason}", ErrorKind.NO_VECTORS, suggestion=suggestion
                )
            limit = HYBRID_VECTORS if mode == Mode.HYBRID else SEMANTIC_VECTORS
            vector = embedder.encode([query.text])[0]
            nearest = nearest_chunks(self.store, vector, scope, self.signs, limit=limit)
        # If hundreds of places use a name, its definition may not be among the best by words, so it is added here.
        defining = self._defining_chunks(query.text, scope) if mode != Mode.SEMANTIC else {}
        chunk_ids = [*(match.chunk_id for match in lexical), *nearest, *defining]
        pool = {candidate.chunk_id: candidate for candidate in self.candidates(chunk_ids)}
        # It ranks last by words, so that the signals for definitions raise it and not its rank.
        for chunk_id, in_owner in defining.items():
            pool[chunk_id].lexical_rank, pool[chunk_id].in_owner = POOL_SIZE + 1, in_owner
        for number, match in enumerate(lexical, 1):
            candidate = pool[match.chunk_id]
            candidate.lexical_rank, candidate.coverage = number, match.coverage
            candidate.closeness = match.closeness
        for number, chunk_id in enumerate(nearest, 1):
            pool[chunk_id].vector_rank = number
        wanted = _wanted(query.text)
        # Every chunk is similar to some degree, so in the modes with vectors only the pool can be counted.
        total = max(search.total(), len(pool)) if mode == Mode.KEYWORD else len(pool)
        return Ranking(rank(list(pool.values()), wanted, without=without), total, wanted)

    def _defining_chunks(self, text: str, scope: ChunkScope) -> dict[int, bool]:
        """Return the chunks that define a name, and whether each is in the owner that the text names."""
        if not is_identifier(text):
            return {}
        *owners, name = separate(text)
        owner = owners[-1].lower() if owners else ""
        return {
            chunk.chunk_id: bool(owner) and chunk.parent.split(".")[-1].lower() == owner
            for chunk in self.store.defining_chunks(name, scope, POOL_SIZE)
        }

    def place(self, query: Query, path: str, line: int | None) -> tuple[int, int, Hit] | None:
        """Return rank, total and hit of a file's best chunk, or of its chunk at a line; None if it does not match."""
        mode = self._possible_mode(query, choose_mode(query))
        scope = chunk_scope(self.store, query)
        if mode == Mode.REGEX:
            lines = self._lines(query, scope)
            found = lines.place(path, line)
            return (found[0], lines.total.lines, found[1]) if found else None
        ranking = self.ranking(query, mode, scope)
        ordered = ranking.candidates
        if mode == Mode.KEYWORD and len(ordered) < ranking.total:
            ordered = ordered + self._beyond_pool(query.text, scope, ranking, 0, ranking.total)
        for number, candidate in enumerate(ordered, 1):
            if candidate.path == path and (line is None or candidate.start_line <= line <= candidate.end_line):
                (hit,) = label_hits(self.store, [candidate], ordered[0].score, ranking.wanted)
                return number, ranking.total, hit
        return None

    def _by_symbol(self, query: Query, scope: ChunkScope) -> Ranking:
        candidates = find_symbols(self.store, self._names, query.text, scope)
        return Ranking(candidates, len(candidates), _wanted(query.text))

    def _beyond_pool(
        self, text: str, scope: ChunkScope, ranking: Ranking, start: int, count: int
    ) -> list[ChunkCandidate]:
        """Return the matches after the pool, in the order of the words alone, without those already in the pool."""
        ranked = {candidate.chunk_id for candidate in ranking.candidates}
        matches = WordSearch(self.vocabulary, text, scope).pool(start + count + len(ranked), POOL_SIZE)
        below = [match.chunk_id for match in matches if match.chunk_id not in ranked]
        found = {candidate.chunk_id: candidate for candidate in self.candidates(below[start : start + count])}
        for number, chunk_id in enumerate(below[start : start + count], len(ranked) + start + 1):
            found[chunk_id].signals = [("words", 0.0, f"rank {number}, outside the ranked pool")]
        return [found[chunk_id] for chunk_id in below[start : start + count]]

    def candidates(self, chunk_ids: Iterable[int]) -> list[ChunkCandidate]:
        """Load the facts that ranking needs."""
        return [ChunkCandidate(*place) for place in self.store.chunk_places(dict.fromkeys(chunk_ids))]

    def _notes(self, query: Query, mode: Mode, total: int, incomplete: str) -> Iterable[Note]:
        if query.mode == Mode.AUTO:
            yield Note(NoteKind.MODE_CHOSEN, f"mode=auto chose {mode}")
        if mode == Mode.KEYWORD:
            yield from self.model_notes()
        if incomplete and total:
            yield Note(NoteKind.INDEX_INCOMPLETE, incomplete)

    def model_notes(self) -> Iterable[Note]:
        """Yield why the search was by words only, and what to do, if the user would expect vectors."""
        if self._problem:
            # Two notes, because a long note is clipped.
            yield Note(NoteKind.WORDS_ONLY, f"searched by words only: {self._problem.reason}")
            yield Note(NoteKind.WORDS_ONLY, f"to search by meaning, {self._problem.remedy}")


def _wanted(text: str) -> Wanted:
    words = words_of(text)
    return Wanted(
        words=frozenset(words),
        stems=frozenset(map(stem, words)),
        names=frozenset(map(letters_of, names_of(text))),
        vector_weight=NAME_VECTOR_WEIGHT if is_identifier(text) else VECTOR_WEIGHT,
    )
