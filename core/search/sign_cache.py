"""Keeps the signs of all vectors in memory while the index is unchanged, which makes comparing ten times faster."""

from typing import TYPE_CHECKING

from keyhole.core.index.protocols import SearchStore
from keyhole.core.index.rows import MOST_ON_EDGE, ChunkScope
from keyhole.core.search.bounded_cache import BoundedCache

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    # Chunk ids, and a row of signs for each.
    Signs = tuple[NDArray[np.int64], NDArray[np.uint64]]

# Loading all signs takes as long as this many scans of the index, so it pays off only after that.
_SCANS_BEFORE_LOADING = 8


class SignCache:
    """Finds the nearest chunks by signs, as the store does; thread-safe."""

    def __init__(self) -> None:
        self._queries: BoundedCache[list[bytes]] = BoundedCache()
        self._signs: BoundedCache[Signs] = BoundedCache()

    def nearest(self, store: SearchStore, own: bytes, scope: ChunkScope, count: int) -> list[int]:
        """Return the chunks whose signs differ least from these, in any order."""
        # Signs are compared eight bytes at a time.
        loaded = self._loaded(store, own) if scope.is_open and len(own) % 8 == 0 else None
        near = _nearest(loaded, own, count) if loaded else None
        return store.nearest_by_signs(own, scope, count) if near is None else near

    def _loaded(self, store: SearchStore, own: bytes) -> "Signs | None":
        """Return the signs of this generation of the index, after enough queries to be worth loading them."""
        generation = store.facts().generation
        if (loaded := self._signs.get(generation)) is not None:
            return loaded
        queries = self._queries.get(generation)
        queries = self._queries.put(generation, []) if queries is None else queries
        queries.append(own)
        return self._signs.put(generation, _load(store)) if len(queries) > _SCANS_BEFORE_LOADING else None


def _load(store: SearchStore) -> "Signs":
    import numpy as np

    rows = store.all_signs()
    ids = np.array([row.chunk_id for row in rows], np.int64)
    return ids, np.frombuffer(b"".join(row.signs for row in rows), np.uint64).reshape(len(ids), -1)


def _nearest(loaded: "Signs", own: bytes, count: int) -> list[int] | None:
    """Compare all signs; return None if too many are equally far, which only the store can order."""
    import numpy as np

    ids, signs = loaded
    differing = np.zeros(len(ids), np.uint16)
    for column, part in zip(signs.T, np.frombuffer(own, np.uint64), strict=True):
        differing += np.bitwise_count(column ^ part)
    if len(ids) <= count:
        return [int(chunk_id) for chunk_id in ids]
    edge = np.partition(differing, count - 1)[count - 1]
    if np.count_nonzero(differing == edge) > MOST_ON_EDGE:
        return None
    return [int(chunk_id) for chunk_id in ids[differing <= edge]]
