"""Candidates by meaning: a scan over the signs of the vectors, then the stored vectors of the nearest.

sqlite-vec keeps the signs; it finds the k nearest in a time that grows with k, and few are not enough: what is nearest
by signs is not always nearest. So its blocks of signs are read as they are stored, and compared here, all at once.
"""

from typing import TYPE_CHECKING

from keyhole.core.index.embedder import Embedder, quantise
from keyhole.core.index.protocols import SearchStore
from keyhole.core.index.rows import ChunkScope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# How many of the nearest by signs are compared by their vectors.
_COMPARED = 256
# What is farther from the query than nearly every right answer was (bench/quality.py), is noise.
_LEAST_COSINE = 0.1


def nearest_chunks(store: SearchStore, embedder: Embedder, text: str, admitted: ChunkScope, *, limit: int) -> list[int]:
    """Return the ids of the chunks whose vectors are nearest to the text's; none for words that mean nothing."""
    nearest = nearest_to(store, embedder.encode([text])[0], admitted, limit=limit)
    return [chunk_id for chunk_id, closeness in nearest if closeness >= _LEAST_COSINE]


def nearest_to(
    store: SearchStore, query: "NDArray[np.float32]", admitted: ChunkScope | None = None, *, limit: int
) -> list[tuple[int, float]]:
    """Return the ids of the chunks whose vectors are nearest to a vector, and how near each is, at most 1."""
    import numpy as np

    length = float(np.linalg.norm(query))
    if not length:
        return []
    chosen = _nearest_by_signs(store, query, admitted, max(_COMPARED, 2 * limit))
    rows = store.vectors_of(chosen)
    if not rows:
        return []
    vectors: NDArray[np.int8] = np.frombuffer(b"".join(row[1] for row in rows), np.int8).reshape(len(rows), -1)
    closeness = (vectors.astype(np.float32) @ query / (127 * length)).tolist()
    ordered = sorted(zip(rows, closeness, strict=True), key=lambda pair: (-round(pair[1], 6), pair[0][0]))
    return [(chunk_id, min(1.0, near)) for (chunk_id, _), near in ordered[:limit]]


def _nearest_by_signs(
    store: SearchStore, query: "NDArray[np.float32]", admitted: ChunkScope | None, count: int
) -> list[int]:
    """Return the ids of the chunks whose signs differ least from the query's, in no order."""
    import numpy as np

    blocks = store.sign_blocks()
    if not blocks:
        return []
    validity, rowids, signs = (b"".join(parts) for parts in zip(*blocks, strict=True))
    is_there = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little").astype(bool)
    ids = np.frombuffer(rowids, np.int64)
    ((own, _),) = quantise(query[None])
    piece = np.uint64 if len(own) % 8 == 0 else np.uint8
    differing = np.zeros(len(ids), np.uint16)
    for column, part in zip(
        np.frombuffer(signs, piece).reshape(len(ids), -1).T, np.frombuffer(own, piece), strict=True
    ):
        differing += np.bitwise_count(column ^ part)
    if admitted is not None and not admitted.is_open:
        is_there &= np.isin(ids, np.array(store.chunk_ids(admitted), np.int64))
    ids, differing = ids[is_there], differing[is_there]
    if len(ids) <= count:
        return [int(id_) for id_ in ids]
    # Ties at the edge go to the lower id, so that an answer does not depend on how blocks are filled.
    edge = np.partition(differing, count)[count]
    inside_edge, on_edge = ids[differing < edge], np.sort(ids[differing == edge])
    return [int(id_) for id_ in (*inside_edge, *on_edge[: count - len(inside_edge)])]
