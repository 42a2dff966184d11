"""The pool of chunks to rank, from everything that finds some: words, meaning, names and quoted texts."""

from collections.abc import Iterable, Mapping, Sequence

from keyhole.core.index.protocols import SearchStore
from keyhole.core.index.rows import DefiningChunk
from keyhole.core.search.features import ChunkCandidate
from keyhole.core.search.file_fit import fit_by_words, mean_of
from keyhole.core.search.lexical import WordMatch, WordSearch
from keyhole.core.search.meaning import Meaning
from keyhole.core.search.rank import POOL_SIZE


class CandidatePool:
    """Collects chunks and how each was found."""

    def __init__(self, store: SearchStore) -> None:
        self._store = store
        self._words: dict[int, tuple[int, WordMatch]] = {}
        self._vector_ranks: dict[int, int] = {}
        self._lines: dict[int, int] = {}
        self._in_owner: set[int] = set()
        self._members: Mapping[int, int] = {}
        self._weak: set[int] = set()

    @property
    def is_full(self) -> bool:
        """Whether more chunks may contain the words than the pool holds."""
        return len(self._words) >= POOL_SIZE

    def add_words(self, matches: Sequence[WordMatch]) -> None:
        """Add the best chunks by words, in order."""
        self._words = {match.chunk_id: (number, match) for number, match in enumerate(matches, 1)}

    def add_nearest(self, chunk_ids: Sequence[int]) -> None:
        """Add the chunks nearest in meaning, in order."""
        self._vector_ranks = {chunk_id: number for number, chunk_id in enumerate(chunk_ids, 1)}

    def add_defining(self, chunks: Iterable[DefiningChunk], owner: str) -> None:
        """Add chunks that define the name in the query; those in the owner that it names are marked.

        If hundreds of places use a name, its definition may not be among the best by words.
        """
        for chunk in chunks:
            self._lines[chunk.chunk_id] = max(chunk.lines, self._lines.get(chunk.chunk_id, 0))
            if owner and chunk.parent.split(".")[-1].lower() == owner:
                self._in_owner.add(chunk.chunk_id)
        self.add_weak(self._lines)

    def add_members(self, symbols: Mapping[int, int]) -> None:
        """Add chunks that define what the query names by owner and name, each with the id of its symbol."""
        self._members = symbols
        self.add_weak(symbols)

    def add_weak(self, chunk_ids: Iterable[int]) -> None:
        """Add chunks that match, but not by their words."""
        self._weak |= set(chunk_ids)

    def load(self, search: WordSearch, meaning: Meaning | None) -> list[ChunkCandidate]:
        """Return the candidates; those that contain no word of the search are marked as similar only."""
        candidates = load_candidates(self._store, {*self._words, *self._vector_ranks, *self._weak})
        # A definition beyond the best by words is measured like every other chunk.
        beyond = {match.chunk_id: match for match in search.matches_of(self._weak.difference(self._words))}
        for candidate in candidates:
            self._describe(candidate, beyond)
        self._mark_similar(candidates, search)
        documents = self._store.file_documents({candidate.file_id for candidate in candidates})
        by_words = fit_by_words(search.worths(), documents)
        usual = mean_of(by_words)
        for candidate in candidates:
            candidate.file_fit = by_words.get(candidate.file_id, usual)
        if meaning:
            meaning.describe(self._store, candidates, documents)
        return candidates

    def _describe(self, candidate: ChunkCandidate, beyond: Mapping[int, WordMatch]) -> None:
        chunk_id = candidate.chunk_id
        candidate.vector_rank = self._vector_ranks.get(chunk_id)
        candidate.in_owner = chunk_id in self._in_owner
        candidate.has_body = self._lines.get(chunk_id, 0) > 1
        candidate.lexical_rank, match = self._words.get(chunk_id, (None, beyond.get(chunk_id)))
        if match:
            candidate.bm25, candidate.matched = match.bm25, match.words
            candidate.coverage, candidate.closeness = match.coverage, match.closeness
        if chunk_id in self._members:
            candidate.is_named_member, candidate.symbol_id = True, self._members[chunk_id]

    def _mark_similar(self, candidates: Iterable[ChunkCandidate], search: WordSearch) -> None:
        unsure = [one for one in candidates if not one.matched and one.chunk_id not in self._weak]
        with_words = search.contained_in([candidate.chunk_id for candidate in unsure])
        for candidate in unsure:
            candidate.is_similar = candidate.chunk_id not in with_words


def load_candidates(store: SearchStore, chunk_ids: Iterable[int]) -> list[ChunkCandidate]:
    """Load the facts that ranking needs."""
    return [ChunkCandidate(*place) for place in store.chunk_places(chunk_ids)]
