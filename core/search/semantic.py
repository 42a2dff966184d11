"""Candidates by meaning: a scan over the signs of all vectors, then the stored vectors of the nearest."""

from typing import TYPE_CHECKING

from keyhole.core.index.embedder import Embedder, quantise
from keyhole.core.index.store import Store
from keyhole.core.search.filters import Filter

if TYPE_CHECKING:
    from numpy.typing import NDArray

# With a filter, what the scan brings may all lie outside, so it brings more; sqlite-vec takes no more than this.
_FILTERED_SCAN = 4_000


def nearest_chunks(store: Store, embedder: Embedder, text: str, admitted: Filter, *, limit: int) -> list[int]:
    """Return the ids of the chunks whose vectors are nearest to the text's."""
    import numpy as np

    query = embedder.encode([text])
    ((signs, _),) = quantise(query)
    wanted = limit if admitted.is_open else _FILTERED_SCAN
    rows = store.query(
        """SELECT chunk.id, file_id, definitions, vector
            FROM (SELECT rowid FROM chunk_bits WHERE signs MATCH vec_bit(?) AND k = ?) near
            JOIN chunk ON chunk.id = near.rowid JOIN chunk_vector ON chunk_id = chunk.id""",
        signs,
        wanted,
    )
    rows = [row for row in rows if admitted.admits(row[1], row[2])]
    if not rows:
        return []
    vectors: NDArray[np.int8] = np.frombuffer(b"".join(row[3] for row in rows), np.int8).reshape(len(rows), -1)
    closeness = vectors.astype(np.float32) @ query[0]
    order = sorted(range(len(rows)), key=lambda number: (-round(float(closeness[number]), 6), rows[number][0]))
    return [rows[number][0] for number in order[:limit]]
