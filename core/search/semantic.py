"""Candidates by meaning: a scan over the signs of all vectors, then the numbers of the nearest.

Signs are an eighth of the numbers in size and quick to compare, but coarse. So more are taken than are wanted, and the
numbers decide among them: of the ten nearest by numbers, 98 in 100 are among the nearest 256 by signs.
"""

from collections import Counter
from typing import TYPE_CHECKING

from keyhole.core.index.embedder import quantise
from keyhole.core.index.protocols import SearchStore
from keyhole.core.index.rows import ChunkScope
from keyhole.core.search.sign_cache import SignCache

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# How many of the nearest by signs are compared by their numbers, at least.
_COMPARED = 256
# What is farther from the query than nearly every right answer was (bench/quality.py), is noise.
_LEAST_COSINE = 0.1
EVERYWHERE = ChunkScope()


def nearest_chunks(
    store: SearchStore, query: "NDArray[np.float32]", scope: ChunkScope, cache: SignCache, *, limit: int
) -> list[int]:
    """Return the ids of the chunks whose vectors are nearest to a query's; none for words that mean nothing."""
    nearest = nearest_to(store, query, cache, scope, limit=limit)
    return [chunk_id for chunk_id, closeness in nearest if closeness >= _LEAST_COSINE]


def nearest_to(
    store: SearchStore, query: "NDArray[np.float32]", cache: SignCache, scope: ChunkScope = EVERYWHERE, *, limit: int
) -> list[tuple[int, float]]:
    """Return the ids of the chunks whose vectors are nearest to a vector, and how near each is, at most 1."""
    import numpy as np

    length = float(np.linalg.norm(query))
    if not length:
        return []
    ((signs, _),) = quantise(query[None])
    rows = store.vectors_of(cache.nearest(store, signs, scope, max(_COMPARED, 2 * limit)))
    if not rows:
        return []
    vectors: NDArray[np.int8] = np.frombuffer(b"".join(row.numbers for row in rows), np.int8).reshape(len(rows), -1)
    closeness = np.round(vectors.astype(np.float32) @ query / (127 * length), 6)
    # What is equally near as the last one wanted is still in, until paths and lines decide.
    least = np.partition(closeness, -limit)[-limit] if len(rows) > limit else -1.0
    near = {rows[number].chunk_id: min(1.0, float(closeness[number])) for number in np.flatnonzero(closeness >= least)}
    return [(chunk_id, near[chunk_id]) for chunk_id in _in_order(store, near)[:limit]]


def _in_order(store: SearchStore, near: dict[int, float]) -> list[int]:
    """Order chunks by how near they are; equally near ones by path and line, which are looked up for those alone."""
    times = Counter(near.values())
    tied = [chunk_id for chunk_id, share in near.items() if times[share] > 1]
    places = {place.chunk_id: (place.path, place.start_line) for place in store.chunk_places(tied)} if tied else {}
    return sorted(near, key=lambda chunk_id: (-near[chunk_id], places.get(chunk_id, ("", 0)), chunk_id))
