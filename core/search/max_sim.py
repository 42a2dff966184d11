"""MaxSim: how well each word of a query is matched by the most similar word of a chunk, by the vectors of their tokens.

The vector of a chunk is an average, in which a few words that fit are lost among many that do not. Here each token of
the query is compared with every token of the chunk, and only the best one counts.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from keyhole.core.index.embedder import Embedder
    from keyhole.core.index.protocols import SearchStore

    Tokens = NDArray[np.unsignedinteger]

# 32 bits hold a sum of this many products of numbers up to 127 exactly, so the order of adding makes no difference.
_MOST_EXACT = (1 << 24) // 127**2


class QueryTokens(NamedTuple):
    """The tokens of a query: the directions of their vectors, and how much each counts."""

    vectors: "NDArray[np.int8]"
    weights: "NDArray[np.float32]"


def similarity_by_tokens(
    store: "SearchStore", embedder: "Embedder", tokens: "Tokens", chunk_ids: Iterable[int]
) -> dict[int, float]:
    """Return the MaxSim of a query, given its tokens, with each chunk whose tokens are in the index, from 0 to 1."""
    import numpy as np

    rows = store.token_ids(chunk_ids)
    query = QueryTokens(embedder.token_vectors(tokens), embedder.token_weights(tokens))
    of_chunks: Tokens = np.frombuffer(b"".join([row.ids for row in rows]), embedder.token_type)
    sizes = np.array([len(row.ids) for row in rows], np.intp) // of_chunks.itemsize
    scores = max_sim(query, of_chunks, sizes, embedder.token_vectors)
    return {row.chunk_id: score for row, score in zip(rows, scores.tolist(), strict=True)}


def max_sim(
    query: QueryTokens, tokens: "Tokens", sizes: "NDArray[np.intp]", vectors_of: "Callable[[Tokens], NDArray[np.int8]]"
) -> "NDArray[np.float64]":
    """Return the similarity of a query to each chunk, from 0 to 1, given their distinct tokens and how many each has.

    It is the mean over the tokens of the query of the best cosine in the chunk, each counted with its weight. The
    result for a chunk depends on no other chunk.
    """
    import numpy as np

    scores = np.zeros(len(sizes))
    filled = np.flatnonzero(sizes)
    total = float(query.weights.sum(dtype=np.float64))
    if not total or not len(filled):
        return scores
    starts = np.cumsum(sizes[filled]) - sizes[filled]
    # Chunks share most of their tokens, so each is compared only once.
    is_used = np.zeros(int(tokens.max()) + 1, bool)
    is_used[tokens] = True
    used = np.flatnonzero(is_used).astype(tokens.dtype)
    row_of = np.empty(len(is_used), np.int32)
    row_of[used] = np.arange(len(used))
    cosines = _cosines(vectors_of(used), query.vectors)
    best = np.maximum.reduceat(np.take(cosines, row_of[tokens], axis=0), starts, axis=0)
    # Not a product of matrices, which rounds a row differently at another place.
    weighted = np.maximum(best, 0) * query.weights.astype(np.float64)
    scores[filled] = np.minimum(1.0, weighted.sum(axis=1) / total)
    return np.round(scores, 6)


def _cosines(first: "NDArray[np.int8]", second: "NDArray[np.int8]") -> "NDArray[np.floating]":
    """Return the cosine of each row of the first with each row of the second; 0 if a row is all zeros."""
    import numpy as np

    exact = np.dtype("f4" if first.shape[1] <= _MOST_EXACT else "f8")
    some: NDArray[np.floating] = first.astype(exact)
    others: NDArray[np.floating] = second.astype(exact)
    products: NDArray[np.floating] = some @ others.T
    products *= _inverse_lengths(some)[:, None]
    products *= _inverse_lengths(others)
    return products


def _inverse_lengths(rows: "NDArray[np.floating]") -> "NDArray[np.floating]":
    import numpy as np

    squares = np.einsum("ij,ij->i", rows, rows)
    inverse: NDArray[np.floating] = np.where(squares > 0, 1, 0) / np.sqrt(np.maximum(squares, 1))
    return inverse.astype(rows.dtype)
