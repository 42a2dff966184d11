"""Finds candidates by meaning: scans the signs of all vectors, then compares the numbers of the nearest.

Signs take an eighth of the space of the numbers and are fast to compare, but coarse. So the scan takes more chunks than
needed, and the numbers decide: of the ten nearest by numbers, 98% are among the nearest 256 by signs.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from keyhole.core.index.embedder import quantise
from keyhole.core.index.protocols import SearchStore
from keyhole.core.index.rows import ChunkScope
from keyhole.core.search.sign_cache import SignCache

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# At least this many of the nearest by signs are compared by their numbers.
_COMPARED = 256
# Below this similarity are hardly any right answers (bench/quality.py), so such chunks are noise.
_LEAST_COSINE = 0.1
EVERYWHERE = ChunkScope()


def nearest_chunks(
    store: SearchStore, query: "NDArray[np.float32]", scope: ChunkScope, cache: SignCache, *, limit: int
) -> list[int]:
    """Return the ids of the chunks nearest to a query; none if the model knows none of its words."""
    nearest = nearest_to(store, query, cache, scope, limit=limit)
    return [chunk_id for chunk_id, closeness in nearest if closeness >= _LEAST_COSINE]


def nearest_to(
    store: SearchStore, query: "NDArray[np.float32]", cache: SignCache, scope: ChunkScope = EVERYWHERE, *, limit: int
) -> list[tuple[int, float]]:
    """Return the ids of the chunks nearest to a vector, each with its similarity, at most 1."""
    import numpy as np

    if not query.any():
        return []
    ((signs, _),) = quantise(query[None])
    rows = store.vectors_of(cache.nearest(store, signs, scope, max(_COMPARED, 2 * limit)))
    if not rows:
        return []
    closeness = np.array(similarities([row.numbers for row in rows], query))
    # Chunks as near as the last one are kept too, until path and line decide between them.
    least = np.partition(closeness, -limit)[-limit] if len(rows) > limit else -1.0
    near = {rows[number].chunk_id: float(closeness[number]) for number in np.flatnonzero(closeness >= least)}
    return [(chunk_id, near[chunk_id]) for chunk_id in _in_order(store, near)[:limit]]


def similarities(numbers: Sequence[bytes], query: "NDArray[np.float32]") -> list[float]:
    """Return how similar stored vectors are to a query, at most 1."""
    import numpy as np

    length = float(np.linalg.norm(query))
    if not numbers or not length:
        return [0.0] * len(numbers)
    vectors: NDArray[np.int8] = np.frombuffer(b"".join(numbers), np.int8).reshape(len(numbers), -1)
    # Summed row by row: a product of matrices rounds a row differently at another place in the matrix, and the place
    # depends on the order in which files were written.
    found = np.round((vectors * query.astype(np.float64)).sum(axis=1) / (127 * length), 6)
    return [min(1.0, value) for value in found.tolist()]


def _in_order(store: SearchStore, near: dict[int, float]) -> list[int]:
    """Order chunks by similarity, and equal ones by path and line, which are looked up only for those."""
    times = Counter(near.values())
    tied = [chunk_id for chunk_id, share in near.items() if times[share] > 1]
    places = {place.chunk_id: (place.path, place.start_line) for place in store.chunk_places(tied)} if tied else {}
    return sorted(near, key=lambda chunk_id: (-near[chunk_id], places.get(chunk_id, ("", 0)), chunk_id))
