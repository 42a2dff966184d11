"""How similar the candidates of a search are to its query in meaning."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from keyhole.core.index.protocols import SearchStore
from keyhole.core.search.features import ChunkCandidate
from keyhole.core.search.semantic import similarities

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Meaning:
    """The meaning of one query."""

    def __init__(self, vector: "NDArray[np.float32]") -> None:
        self._vector = vector

    def describe(self, store: SearchStore, candidates: Sequence[ChunkCandidate]) -> None:
        """Measure how similar the candidates are."""
        rows = store.vectors_of(candidate.chunk_id for candidate in candidates)
        found = similarities([row.numbers for row in rows], self._vector)
        by_chunk = {row.chunk_id: similarity for row, similarity in zip(rows, found, strict=True)}
        for candidate in candidates:
            candidate.cosine = by_chunk.get(candidate.chunk_id, 0.0)
