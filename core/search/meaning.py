"""How similar the candidates of a search are to its query in meaning: as a whole, word by word, and their files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from keyhole.core.index.embedder import Embedder
from keyhole.core.index.protocols import SearchStore
from keyhole.core.index.rows import StoredDocument
from keyhole.core.search.features import ChunkCandidate
from keyhole.core.search.file_fit import fit_by_vector, mean_of
from keyhole.core.search.max_sim import similarity_by_tokens
from keyhole.core.search.semantic import similarities

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Meaning:
    """A query as the model sees it."""

    vector: "NDArray[np.float32]"
    tokens: "NDArray[np.unsignedinteger]"
    embedder: Embedder

    @classmethod
    def of(cls, text: str, embedder: Embedder) -> Self:
        """Embed a query."""
        vectors, (tokens,) = embedder.encode_with_tokens([text])
        return cls(vectors[0], tokens, embedder)

    def describe(
        self, store: SearchStore, candidates: Sequence[ChunkCandidate], documents: Sequence[StoredDocument]
    ) -> None:
        """Measure how similar the candidates are, and the documents of their files."""
        ids = [candidate.chunk_id for candidate in candidates]
        rows = store.vectors_of(ids)
        found = similarities([row.numbers for row in rows], self.vector)
        of_chunks = {row.chunk_id: similarity for row, similarity in zip(rows, found, strict=True)}
        by_tokens = similarity_by_tokens(store, self.embedder, self.tokens, ids)
        of_files = fit_by_vector(self.vector, documents)
        usual, usual_of_file = mean_of(by_tokens), mean_of(of_files)
        for candidate in candidates:
            candidate.cosine = of_chunks.get(candidate.chunk_id, 0.0)
            candidate.max_sim = by_tokens.get(candidate.chunk_id, usual)
            candidate.file_cosine = of_files.get(candidate.file_id, usual_of_file)
