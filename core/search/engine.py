"""One search, from the query to a page of labelled hits."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from keyhole.core.collector import collector_paused
from keyhole.core.errors import ErrorKind, FilterError, ModelError, PathError, QueryError
from keyhole.core.files.text_source import TextSource
from keyhole.core.index.embedder import Embedder
from keyhole.core.index.protocols import IndexStore
from keyhole.core.index.rows import ChunkScope
from keyhole.core.notes import Note, NoteKind
from keyhole.core.references.kept_references import KeptReferences
from keyhole.core.search.candidate_pool import CandidatePool, load_candidates
from keyhole.core.search.features import ChunkCandidate
from keyhole.core.search.filters import chunk_scope
from keyhole.core.search.hits import LabelledHits, PageParts, label_hits
from keyhole.core.search.lexical import Vocabulary, WordSearch
from keyhole.core.search.line_search import LineSearch
from keyhole.core.search.meaning import Meaning
from keyhole.core.search.members import named_members
from keyhole.core.search.nothing_found import SearchGap
from keyhole.core.search.query import (
    check_query,
    choose_mode,
    is_identifier,
    name_part,
    pattern_of,
    quoted_parts,
)
from keyhole.core.search.rank import (
    HYBRID_VECTORS,
    POOL_SIZE,
    SEMANTIC_VECTORS,
    as_exact_text,
    rank,
)
from keyhole.core.search.ranking import Ranking, grouped, only_good, without_weak
from keyhole.core.search.regex import chunks_containing
from keyhole.core.search.semantic import nearest_chunks
from keyhole.core.search.shared_caches import SharedCaches
from keyhole.core.search.symbol_search import Names, find_symbols, separate, similar_symbols
from keyhole.core.search.uses import UseFinder, has_uses_to_show
from keyhole.core.search.wanted import Wanted, understand
from keyhole.core.suggest import did_you_mean
from keyhole.core.syntax.analysis_version import ANALYSIS_VERSION
from keyhole.core.types.choices import Mode, Output
from keyhole.core.types.index import IndexVersion
from keyhole.core.types.search_results import Hit, SearchResult
from keyhole.core.types.view_requests import Query

# How many further hits of a file are shown with its best.
MOST_FURTHER = 3

# Errors about names that may be in the index once it is complete.
_MAY_BE_INDEXED_LATER = frozenset([ErrorKind.NOT_INDEXED, ErrorKind.UNKNOWN_PATH, ErrorKind.UNKNOWN_SYMBOL])


class Engine:
    """Searches one index, for one thread at a time; engines of the same index can share their caches."""

    def __init__(  # made in one place, by name
        self,
        store: IndexStore,
        files: TextSource,
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

    def kept_references(self) -> KeptReferences:
        """Return the references that were found in this generation of the index."""
        generation, kept = self.store.facts().generation, self._caches.references
        return kept.get(generation) or kept.put(generation, KeptReferences())

    def index_version(self) -> IndexVersion:
        """Return which version of the index answers."""
        facts = self.store.facts()
        is_outdated = facts.analysis not in (None, ANALYSIS_VERSION)
        return IndexVersion(
            facts.generation,
            facts.pending,
            self.store.count_skips(),
            self._caches.opening,
            facts.total,
            is_interrupted=facts.pending != 0 and self.store.is_abandoned(),
            outdated=self.store.count_outdated_files(ANALYSIS_VERSION) if is_outdated else 0,
            is_updating=is_outdated and self.store.has_writer(),
        )

    @contextmanager
    def gaps_explained(self) -> Iterator[None]:
        """Raise an error about something that is not in the index with the reason, or with what is there instead."""
        try:
            yield
        except (PathError, QueryError) as error:
            index = self.index_version()
            if index.incomplete and (isinstance(error, FilterError) or error.kind in _MAY_BE_INDEXED_LATER):
                problem = f"{error.problem}: {index.incomplete}"
                if index.is_interrupted:
                    raise QueryError(problem, ErrorKind.INTERRUPTED) from error
                raise QueryError(problem, ErrorKind.BUILDING) from error
            if error.kind is ErrorKind.UNKNOWN_SYMBOL and not error.suggestion:
                similar = similar_symbols(self.store, self._names, str(error.facts["symbol"]))
                raise QueryError(error.problem, error.kind, suggestion=did_you_mean(similar), **error.facts) from error
            raise

    def search(self, query: Query, mode: Mode | None = None) -> SearchResult:
        """Answer a query with one page of hits; `mode` is the resolved mode, if the caller knows it."""
        with collector_paused():
            found = self._search(query, mode)
            if found.total or found.index.incomplete:
                return found
            gap = SearchGap(
                self.store, self._names, lambda other: self._search(replace(other, limit=1, offset=0)).total
            )
            return replace(found, nothing=gap.explain(query, found.mode))

    def _search(self, query: Query, mode: Mode | None = None) -> SearchResult:
        check_query(query)
        mode = self._possible_mode(query, mode or choose_mode(query))
        scope = self._scope(query, mode)
        if mode == Mode.REGEX:
            return self._matching_lines(query, scope)
        ranking = self.ranking(query, mode, scope)
        is_by_file = _is_by_file(query, mode, scope)
        full_page = self._page(query, mode, scope, ranking, is_by_file=is_by_file)
        # A page that holds all results is shown whole, and so are later pages: someone asked for more.
        may_end_early = query.may_end_early and is_by_file and not query.offset and ranking.files > query.limit
        page = without_weak(full_page) if may_end_early else full_page
        labelled = self._labelled(page, ranking, is_by_file=is_by_file)
        if not query.offset:
            labelled = self._with_uses(labelled, ranking.wanted, scope)
        total, index = ranking.files if is_by_file else ranking.total, self.index_version()
        return SearchResult(
            query=query,
            mode=mode,
            hits=labelled.hits,
            total=total,
            index=index,
            notes=(*self._notes(query, mode, total, index.incomplete_note), *_outdated_notes(index, total)),
            total_hits=ranking.total if is_by_file else None,
            has_words=ranking.has_words,
            ends_early=len(page) < len(full_page),
            changed=labelled.changed,
        )

    def _scope(self, query: Query, mode: Mode) -> ChunkScope:
        """Return which chunks the filters allow that contain the quoted parts of a query."""
        scope = chunk_scope(self.store, query)
        texts = quoted_parts(query.text)
        if mode == Mode.REGEX or not texts:
            return scope
        return replace(scope, chunk_ids=chunks_containing(self.store, self.files, texts, scope))

    def _page(
        self, query: Query, mode: Mode, scope: ChunkScope, ranking: Ranking, *, is_by_file: bool
    ) -> list[list[ChunkCandidate]]:
        """Return the results of a page: each is a file's chunks, best first, or a chunk alone."""
        results = grouped(ranking.candidates, by_file=is_by_file)
        page = results[query.offset : query.offset + query.limit]
        # Pages after the ranked pool are in the order of the words alone, so that every match can be reached.
        if mode == Mode.KEYWORD and len(page) < query.limit:
            start = max(0, query.offset - len(results))
            below = self._beyond_pool(query, scope, ranking, start + query.limit - len(page), is_by_file=is_by_file)
            page += below[start:]
        return page

    def _labelled(self, page: list[list[ChunkCandidate]], ranking: Ranking, *, is_by_file: bool) -> LabelledHits:
        shown = [result[: 1 + MOST_FURTHER] for result in page]
        candidates = [candidate for result in shown for candidate in result]
        below = {candidate.chunk_id for result in shown for candidate in result[1:]}
        parts = PageParts(below, only_good(shown) if is_by_file else None)
        hits, changed = label_hits(self.store, self.files, candidates, ranking.wanted, parts)
        if not is_by_file:
            return LabelledHits(hits, changed)
        left, results = iter(hits), []
        for best, *further in shown:
            count = ranking.matches_in(best.file_id) - 1
            hit, following = next(left), tuple(next(left) for _ in further)
            results.append(replace(hit, further=following, further_count=count))
        return LabelledHits(tuple(results), changed)

    def _with_uses(self, labelled: LabelledHits, wanted: Wanted, scope: ChunkScope) -> LabelledHits:
        """Add the code that uses the first result, if that is a value."""
        best = labelled.hits[:1]
        if not best or not has_uses_to_show(best[0], wanted):
            return labelled
        finder = UseFinder(self.store, self.files, self.vocabulary, scope)
        uses, changed = finder.find(best[0], wanted)
        return LabelledHits((replace(best[0], uses=uses), *labelled.hits[1:]), labelled.changed | changed)

    def _matching_lines(self, query: Query, scope: ChunkScope) -> SearchResult:
        """Answer a search by pattern."""
        found, index = self._lines(query, scope), self.index_version()
        is_list = query.output == Output.LINES
        counts = [] if is_list else found.counts(query.output)
        total = found.total.lines if is_list else len(counts)
        hits = found.page(query) if is_list else ()
        return SearchResult(
            query=query,
            mode=Mode.REGEX,
            hits=hits,
            total=total,
            index=index,
            notes=tuple(self._notes(query, Mode.REGEX, total, index.incomplete_note)),
            matches=found.total,
            changed=frozenset(found.changed),
            counts=tuple(counts[query.offset : query.offset + query.limit]),
        )

    def _lines(self, query: Query, scope: ChunkScope) -> LineSearch:
        return LineSearch(self.store, self.files, pattern_of(query.text), scope)

    def ranking(self, query: Query, mode: Mode, scope: ChunkScope, *, without: frozenset[str] = frozenset()) -> Ranking:
        """Rank all chunks that match, by words, meaning or name; the order does not depend on the page."""
        if mode == Mode.SYMBOL:
            return self._by_symbol(query, scope)
        search = WordSearch(self.vocabulary, query.text, scope)
        pool = CandidatePool(self.store)
        if mode != Mode.SEMANTIC:
            pool.add_words(search.pool(POOL_SIZE))
            self._add_defining(pool, query.text, scope)
            pool.add_members(named_members(self.store, self._names, query.text, scope))
        meaning = None if mode == Mode.KEYWORD else self._add_nearest(pool, query, mode, scope)
        # Every chunk with a quoted text is a match, also one that is not among the best by words or meaning.
        pool.add_weak(scope.chunk_ids or ())
        candidates = pool.load(search, meaning)
        wanted = as_exact_text(understand(query.text, search.worths()), candidates)
        # Every chunk is similar to some degree, so in the modes with vectors only the pool can be counted.
        counts = search.counts() if mode == Mode.KEYWORD and pool.is_full else {}
        ordered = rank(candidates, wanted, has_vectors=meaning is not None, without=without)
        return Ranking(ordered, wanted, counts)

    def _add_nearest(self, pool: CandidatePool, query: Query, mode: Mode, scope: ChunkScope) -> Meaning:
        """Add the chunks nearest in meaning; return the meaning of the query."""
        embedder = self._embedder
        if embedder is None:
            reason, suggestion = "this index has none", ""
            if self._problem:
                reason, suggestion = self._problem.reason, f"To search by meaning, {self._problem.remedy}."
            raise QueryError(f"mode={mode} needs vectors, but {reason}", ErrorKind.NO_VECTORS, suggestion=suggestion)
        limit = HYBRID_VECTORS if mode == Mode.HYBRID else SEMANTIC_VECTORS
        meaning = Meaning.of(query.text, embedder)
        pool.add_nearest(nearest_chunks(self.store, meaning.vector, scope, self.signs, limit=limit))
        return meaning

    def _add_defining(self, pool: CandidatePool, text: str, scope: ChunkScope) -> None:
        if is_identifier(text):
            *owners, name = separate(text)
            pool.add_defining(self.store.defining_chunks(name, scope, POOL_SIZE), owners[-1].lower() if owners else "")

    def place(self, query: Query, path: str, line: int | None) -> tuple[int, int, Hit] | None:
        """Return rank, total and hit of a file's best chunk, or of its chunk at a line; None if it does not match."""
        mode = self._possible_mode(query, choose_mode(query))
        scope = self._scope(query, mode)
        if mode == Mode.REGEX:
            lines = self._lines(query, scope)
            found = lines.place(path, line)
            return (found[0], lines.total.lines, found[1]) if found else None
        ranking, is_by_file = self.ranking(query, mode, scope), _is_by_file(query, mode, scope)
        results = grouped(ranking.candidates, by_file=is_by_file)
        if mode == Mode.KEYWORD and len(ranking.candidates) < ranking.total:
            results += self._beyond_pool(query, scope, ranking, ranking.total, is_by_file=is_by_file)
        there = [
            (number, candidate)
            for number, result in enumerate(results, 1)
            for candidate in result
            if candidate.path == path and (line is None or candidate.start_line <= line <= candidate.end_line)
        ]
        if not there:
            return None
        # Several definitions in one chunk are results of their own: the one that is shown at this line is meant.
        meant = there if line is not None and mode == Mode.SYMBOL else there[:1]
        hits, _ = label_hits(self.store, self.files, [candidate for _, candidate in meant], ranking.wanted)
        chosen = next((number for number, hit in enumerate(hits) if hit.line == line), 0)
        return there[chosen][0], ranking.files if is_by_file else ranking.total, hits[chosen]

    def _by_symbol(self, query: Query, scope: ChunkScope) -> Ranking:
        text = name_part(query.text)
        return Ranking(find_symbols(self.store, self._names, text, scope), understand(text))

    def _beyond_pool(
        self, query: Query, scope: ChunkScope, ranking: Ranking, count: int, *, is_by_file: bool
    ) -> list[list[ChunkCandidate]]:
        """Return the first results after the pool, in the order of the words alone."""
        search, ranked = WordSearch(self.vocabulary, query.text, scope), len(ranking.candidates)
        first = {candidate.chunk_id for candidate in ranking.candidates}
        in_pool = len(grouped(ranking.candidates, by_file=is_by_file))
        wanted = 2 * count
        while True:
            matches = search.pool(wanted, POOL_SIZE)
            below = [match.chunk_id for match in matches if match.chunk_id not in first]
            found = {candidate.chunk_id: candidate for candidate in load_candidates(self.store, below)}
            ordered = ranking.candidates + [found[chunk_id] for chunk_id in below]
            results = grouped(ordered, by_file=is_by_file)[in_pool:]
            if len(results) >= count or len(matches) < wanted:
                break
            wanted *= 4
        for number, chunk_id in enumerate(below, ranked + 1):
            found[chunk_id].signals = [("words", 0.0, f"rank {number}, outside the ranked pool")]
        return results[:count]

    def _notes(self, query: Query, mode: Mode, total: int, incomplete: str) -> Iterable[Note]:
        # The form of a query shows whether it is a pattern, but not that the index has no vectors.
        if query.mode == Mode.AUTO and mode == Mode.KEYWORD:
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


def _outdated_notes(index: IndexVersion, total: int) -> Iterable[Note]:
    """Yield that data for ranking is still being filled in, for a ranked answer."""
    if index.outdated and total:
        yield Note(NoteKind.INDEX_OUTDATED, index.outdated_note)


def _is_by_file(query: Query, mode: Mode, scope: ChunkScope) -> bool:
    """Return whether a result stands for a file: unless names are searched, or the path is that of a single file."""
    is_one_file = bool(query.path) and scope.file_ids is not None and len(scope.file_ids) == 1
    return mode != Mode.SYMBOL and not is_one_file
