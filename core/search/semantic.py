"""Candidates by meaning: a scan over the signs of the vectors, then the stored vectors of the nearest."""

from typing import TYPE_CHECKING

from keyhole.core.index.embedder import Embedder, quantise
from keyhole.core.index.store import Store
from keyhole.core.search.filters import Filter

if TYPE_CHECKING:
    from numpy.typing import NDArray


# What is farther from the query than nearly every right answer was (bench/quality.py), is noise.
_LEAST_COSINE = 0.1


def nearest_chunks(store: Store, embedder: Embedder, text: str, admitted: Filter, *, limit: int) -> list[int]:
    """Return the ids of the chunks whose vectors are nearest to the text's; none for words that mean nothing."""
    import numpy as np

    query = embedder.encode([text])
    if not query.any():
        return []
    ((signs, _),) = quantise(query)
    inside, values = admitted.as_sql()
    among = "" if admitted.is_open else f"AND rowid IN (SELECT id FROM chunk WHERE {inside})"  # noqa: S608
    rows = store.query(
        f"""SELECT chunk_id, vector
            FROM (SELECT rowid FROM chunk_bits WHERE signs MATCH vec_bit(?) AND k = ? {among})
            JOIN chunk_vector ON chunk_id = rowid""",  # noqa: S608
        signs,
        limit,
        *values,
    )
    if not rows:
        return []
    vectors: NDArray[np.int8] = np.frombuffer(b"".join(row[1] for row in rows), np.int8).reshape(len(rows), -1)
    closeness = vectors.astype(np.float32) @ query[0] / (127 * np.linalg.norm(query[0]))
    near = np.flatnonzero(closeness >= _LEAST_COSINE).tolist()
    order = sorted(near, key=lambda number: (-round(float(closeness[number]), 6), rows[number][0]))
    return [rows[number][0] for number in order]
