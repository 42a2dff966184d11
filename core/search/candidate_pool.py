"""The pool of chunks to rank, from everything that finds some: words, meaning, names and quoted texts."""

from collections.abc import Iterable, Mapping, Sequence

from keyhole.core.index.protocols import SearchStore
from keyhole.core.search.lexical import WordMatch, WordSearch
from keyhole.core.search.rank import POOL_SIZE, ChunkCandidate

# The rank by words of a chunk that was not found by words. It is last, so that what found it raises it, not its rank.
_LAST_RANK = POOL_SIZE + 1


class CandidatePool:
    """Collects chunks and how each was found."""

    def __init__(self, store: SearchStore) -> None:
        self._store = store
        self._words: dict[int, tuple[int, WordMatch]] = {}
        self._vector_ranks: dict[int, int] = {}
        self._defining: Mapping[int, bool] = {}
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

    def add_defining(self, chunks: Mapping[int, bool]) -> None:
        """Add chunks that define the name in the query, and whether each is in the owner that the query names.

        If hundreds of places use a name, its definition may not be among the best by words.
        """
        self._defining = chunks
        self.add_weak(chunks)

    def add_members(self, symbols: Mapping[int, int]) -> None:
        """Add chunks that define what the query names by owner and name, each with the id of its symbol."""
        self._members = symbols
        self.add_weak(symbols)

    def add_weak(self, chunk_ids: Iterable[int]) -> None:
        """Add chunks that match, but not by their words."""
        self._weak |= set(chunk_ids)

    def load(self, search: WordSearch) -> list[ChunkCandidate]:
        """Return the candidates; those that contain no word of the search are marked as similar only."""
        candidates = load_candidates(self._store, {*self._words, *self._vector_ranks, *self._weak})
        for candidate in candidates:
            self._describe(candidate)
        unsure = [candidate for candidate in candidates if candidate.lexical_rank is None]
        with_words = search.contained_in([candidate.chunk_id for candidate in unsure])
        for candidate in unsure:
            candidate.is_similar = candidate.chunk_id not in with_words
        return candidates

    def _describe(self, candidate: ChunkCandidate) -> None:
        chunk_id = candidate.chunk_id
        candidate.vector_rank = self._vector_ranks.get(chunk_id)
        candidate.in_owner = self._defining.get(chunk_id, False)
        if chunk_id in self._words:
            candidate.lexical_rank, match = self._words[chunk_id]
            candidate.coverage, candidate.closeness = match.coverage, match.closeness
        elif chunk_id in self._weak:
            candidate.lexical_rank = _LAST_RANK
        if chunk_id in self._members:
            candidate.is_named_member, candidate.symbol_id = True, self._members[chunk_id]


def load_candidates(store: SearchStore, chunk_ids: Iterable[int]) -> list[ChunkCandidate]:
    """Load the facts that ranking needs."""
    return [ChunkCandidate(*place) for place in store.chunk_places(chunk_ids)]
