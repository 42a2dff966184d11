"""One search, from the query to a page of labelled hits."""

from collections.abc import Iterable
from itertools import count
from pathlib import Path

from keyhole.core.errors import AssetError, QueryError
from keyhole.core.index.embedder import Embedder
from keyhole.core.index.store import Store, json_ids
from keyhole.core.index.words import stem
from keyhole.core.notes import Note, NoteKind
from keyhole.core.search.filters import Filter, role_of
from keyhole.core.search.hits import label_hits
from keyhole.core.search.lexical import Vocabulary, WordSearch
from keyhole.core.search.query import check_query, choose_mode, is_identifier, names_of, pattern_of, words_of
from keyhole.core.search.rank import (
    HYBRID_VECTORS,
    NAME_VECTOR_WEIGHT,
    POOL_SIZE,
    SEMANTIC_VECTORS,
    VECTOR_WEIGHT,
    Candidate,
    Wanted,
    letters_of,
    rank,
)
from keyhole.core.search.regex import find_matches
from keyhole.core.search.semantic import nearest_chunks
from keyhole.core.search.symbols import Names, find_symbols, separate
from keyhole.core.types import Hit, IndexFacts, Mode, Query, SearchResult

_OPENINGS = count(1)


class Ranking:
    """Everything that matches, in order; `total` counts also what lies beyond the pool, `wanted` is what was sought."""

    def __init__(self, candidates: list[Candidate], total: int, wanted: Wanted) -> None:
        self.candidates = candidates
        self.total = total
        self.wanted = wanted


class Engine:
    """Searches one index."""

    def __init__(
        self, store: Store, root: Path, *, max_bytes: int, embedder: Embedder | None = None, problem: str = ""
    ) -> None:
        self.store = store
        self._root = root
        self._max_bytes = max_bytes
        self._model = embedder if embedder and store.load_vectors() else None
        self._opening = next(_OPENINGS)
        # Why there is no search by meaning, where one would be expected.
        self._problem = problem
        self._names = Names(store)
        self.vocabulary = Vocabulary(store)
        store.prepare_search()

    @property
    def _embedder(self) -> Embedder | None:
        """The model, loaded, when the index has its vectors."""
        if self._model is None:
            return None
        try:
            if self.store.meta("model") == self._model.name:
                self._model.load()
                self._problem = ""
                return self._model
            self._problem = "the index has no vectors of the model in use; keyhole index makes them"
        except AssetError as error:
            self._problem = str(error)
        return None

    def _possible_mode(self, query: Query, mode: Mode) -> Mode:
        """Do without meaning where there is none; the model is looked at, and loaded, only when meaning could count."""
        if mode == Mode.HYBRID and self._embedder is None and (query.mode == Mode.AUTO or self._problem):
            return Mode.KEYWORD
        return mode

    @property
    def has_vectors(self) -> bool:
        """Whether code can be found by meaning."""
        return self._embedder is not None

    def index_facts(self) -> IndexFacts:
        """Tell which index answers."""
        skipped = self.store.value("SELECT count(*) FROM skip")
        return IndexFacts(self.store.meta("generation", 0), self.store.meta("pending"), skipped, self._opening)

    def search(self, query: Query, mode: Mode | None = None) -> SearchResult:
        """Answer a query with one page of hits; who has chosen its mode already says so."""
        check_query(query)
        mode = self._possible_mode(query, mode or choose_mode(query))
        admitted = Filter(self.store, query)
        ranking = self.ranking(query, mode, admitted)
        page = ranking.candidates[query.offset : query.offset + query.limit]
        if mode == Mode.KEYWORD and len(page) < query.limit:
            start = max(0, query.offset - len(ranking.candidates))
            page += self._beyond_pool(query.text, admitted, ranking, start, query.limit - len(page))
        top = ranking.candidates[0].score if ranking.candidates else 1.0
        index = self.index_facts()
        return SearchResult(
            query=query,
            mode=mode,
            hits=label_hits(self.store, page, top, ranking.wanted),
            total=ranking.total,
            index=index,
            notes=tuple(self._notes(query, mode, ranking, index.pending)),
        )

    def ranking(self, query: Query, mode: Mode, admitted: Filter, *, without: frozenset[str] = frozenset()) -> Ranking:
        """Rank everything that matches; the order does not depend on the page."""
        if mode == Mode.REGEX:
            return self._by_regex(query, admitted)
        if mode == Mode.SYMBOL:
            return self._by_symbol(query, admitted)
        search = WordSearch(self.vocabulary, query.text, admitted)
        lexical = search.pool(POOL_SIZE) if mode != Mode.SEMANTIC else []
        nearest: list[int] = []
        if mode in (Mode.HYBRID, Mode.SEMANTIC):
            embedder = self._embedder
            if embedder is None:
                reason = self._problem or "this index has none"
                raise QueryError(f"mode={mode} needs vectors, and {reason}; use mode=keyword")
            limit = HYBRID_VECTORS if mode == Mode.HYBRID else SEMANTIC_VECTORS
            nearest = nearest_chunks(self.store, embedder, query.text, admitted, limit=limit)
        defining = self._defining_chunks(query.text, admitted) if mode != Mode.SEMANTIC else {}
        chunk_ids = [*(match.chunk_id for match in lexical), *nearest, *defining]
        pool = {candidate.chunk_id: candidate for candidate in self.candidates(chunk_ids)}
        for chunk_id, in_owner in defining.items():
            pool[chunk_id].lexical_rank, pool[chunk_id].in_owner = POOL_SIZE + 1, in_owner
        for number, match in enumerate(lexical, 1):
            candidate = pool[match.chunk_id]
            candidate.lexical_rank, candidate.coverage = number, match.coverage
            candidate.closeness = match.closeness
        for number, chunk_id in enumerate(nearest, 1):
            pool[chunk_id].vector_rank = number
        wanted = _wanted(query.text)
        total = max(search.total(), len(pool)) if mode == Mode.KEYWORD else len(pool)
        return Ranking(rank(list(pool.values()), wanted, without=without), total, wanted)

    def _defining_chunks(self, text: str, admitted: Filter) -> dict[int, bool]:
        """Find where a name is defined, however many other places use it, and whether in the owner it names."""
        if not is_identifier(text):
            return {}
        *owners, name = separate(text)
        rows = self.store.query(
            """SELECT chunk.id, chunk.file_id, definitions, parent FROM symbol
                JOIN chunk ON chunk.file_id = symbol.file_id AND name_line BETWEEN chunk.start_line AND chunk.end_line
                WHERE name = ? COLLATE NOCASE ORDER BY symbol.id LIMIT ?""",
            name,
            POOL_SIZE,
        )
        owner = owners[-1].lower() if owners else ""
        return {
            chunk_id: bool(owner) and parent.split(".")[-1].lower() == owner
            for chunk_id, file_id, definitions, parent in rows
            if admitted.admits(file_id, definitions)
        }

    def place(self, query: Query, path: str, line: int | None) -> tuple[int, int, Hit] | None:
        """Find a file's best chunk, or the one at a line, in the ranking: its rank, the total, and the hit."""
        mode = self._possible_mode(query, choose_mode(query))
        admitted = Filter(self.store, query)
        ranking = self.ranking(query, mode, admitted)
        ordered = ranking.candidates
        if mode == Mode.KEYWORD and len(ordered) < ranking.total:
            ordered = ordered + self._beyond_pool(query.text, admitted, ranking, 0, ranking.total)
        for number, candidate in enumerate(ordered, 1):
            if candidate.path == path and (line is None or candidate.start_line <= line <= candidate.end_line):
                (hit,) = label_hits(self.store, [candidate], ordered[0].score, ranking.wanted)
                return number, ranking.total, hit
        return None

    def _by_symbol(self, query: Query, admitted: Filter) -> Ranking:
        candidates = find_symbols(self.store, self._names, query.text, admitted)
        return Ranking(candidates, len(candidates), _wanted(query.text))

    def _by_regex(self, query: Query, admitted: Filter) -> Ranking:
        pattern = pattern_of(query.text)
        matches = {
            match.chunk_id: match.lines
            for match in find_matches(self.store, self._root, pattern, admitted, max_bytes=self._max_bytes)
        }
        candidates = list(self.candidates(matches))
        for candidate in candidates:
            role = role_of(candidate.path)
            candidate.score = 1.0 if role == "source" else 0.5
            candidate.match_lines = tuple(matches[candidate.chunk_id])
            candidate.signals = [("matches", 1.0, f"{len(candidate.match_lines)} lines")]
            if role != "source":
                candidate.signals.append((role, -0.5, ""))
        candidates.sort(key=lambda c: (-c.score, c.path, c.start_line, c.chunk_id))
        return Ranking(candidates, len(candidates), _wanted(query.text))

    def _beyond_pool(self, text: str, admitted: Filter, ranking: Ranking, start: int, count: int) -> list[Candidate]:
        """Go on below the pool, in the order of the words alone, without what the pool has already."""
        ranked = {candidate.chunk_id for candidate in ranking.candidates}
        matches = WordSearch(self.vocabulary, text, admitted).pool(start + count + len(ranked), POOL_SIZE)
        below = [match.chunk_id for match in matches if match.chunk_id not in ranked]
        found = {candidate.chunk_id: candidate for candidate in self.candidates(below[start : start + count])}
        for number, chunk_id in enumerate(below[start : start + count], len(ranked) + start + 1):
            found[chunk_id].signals = [("words", 0.0, f"place {number}, beyond the ranked pool")]
        return [found[chunk_id] for chunk_id in below[start : start + count]]

    def candidates(self, chunk_ids: Iterable[int]) -> list[Candidate]:
        """Load what ranking looks at."""
        ids = list(dict.fromkeys(chunk_ids))
        rows = self.store.query(
            """SELECT chunk.id, file_id, file.path, language, start_line, end_line, definitions
                FROM json_each(?) wanted JOIN chunk ON chunk.id = wanted.value JOIN file ON file.id = file_id""",
            json_ids(ids),
        )
        return [Candidate(*row) for row in rows]

    def _notes(self, query: Query, mode: Mode, ranking: Ranking, pending: int | None) -> Iterable[Note]:
        if query.mode == Mode.AUTO:
            yield Note(NoteKind.MODE_CHOSEN, f"mode auto chose {mode}")
        if self._problem and mode == Mode.KEYWORD:
            yield Note(NoteKind.WORDS_ONLY, f"searched by words only: {self._problem}")
        if pending is None:
            yield Note(NoteKind.INDEX_INCOMPLETE, "the index is being built: nothing is in it yet")
        elif pending:
            yield Note(NoteKind.INDEX_INCOMPLETE, f"the index is being built: {pending:,} files are still missing")
        if not ranking.total:
            yield Note(NoteKind.NOTHING_FOUND, f"nothing found; {self._suggestion(query, mode)}")

    def _suggestion(self, query: Query, mode: Mode) -> str:
        if mode != Mode.REGEX and (close := self._names.closest(query.text)):
            return f"the closest names are {', '.join(close)}"
        if mode == Mode.SYMBOL:
            return "mode=keyword looks in the text as well"
        return "try fewer or other words, or drop a filter"


def _wanted(text: str) -> Wanted:
    words = words_of(text)
    return Wanted(
        words=frozenset(words),
        stems=frozenset(map(stem, words)),
        names=frozenset(map(letters_of, names_of(text))),
        vector_weight=NAME_VECTOR_WEIGHT if is_identifier(text) else VECTOR_WEIGHT,
    )
