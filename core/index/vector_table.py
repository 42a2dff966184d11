"""The vectors of chunks: their signs, to compare all of them, and their numbers, to compare the nearest ones.

sqlite-vec compares signs with a function over an ordinary table. Its virtual table finds the same vectors, but its time
grows steeply with the number of results (45 ms for 256 of 100,000 vectors, where this takes 15 ms). Many results are
needed because the nearest vectors by signs are not always the nearest.

The tokens that a vector is the sum of are stored too, to compare the words of a query with those of a chunk one by one.
"""

from collections.abc import Iterable, Sequence
from math import isqrt

from keyhole.core.index.chunk_table import within
from keyhole.core.index.extension import load_vectors
from keyhole.core.index.kept_rows import KeptRows
from keyhole.core.index.rows import MOST_ON_EDGE, ChunkScope, ChunkSigns, SignMatch, StoredTokens, StoredVector, Vector

# The sample has about _SAMPLE_FACTOR times the square root of the number of chunks. The distance estimated from it is
# for _MARGIN times as many chunks as are wanted.
_SAMPLE_FACTOR, _MARGIN = 4, 2
# How much to increase the distance if the estimate was too small.
_DISTANCE_STEP = 8
_DISTANCE = "vec_distance_hamming(vec_bit(signs), vec_bit(?))"


class VectorTable(KeptRows):
    """Signs, numbers and tokens, in separate tables so that a scan of all signs reads little else."""

    def load_vectors(self) -> bool:
        """Make the vectors searchable; return False if sqlite-vec cannot be loaded."""
        return load_vectors(self._db)

    def nearest_by_signs(self, signs: bytes, scope: ChunkScope, count: int) -> list[int]:
        """Return the chunks whose signs differ least from these, in no particular order.

        Chunks that are as far as the last one are included; if there are too many, the first by path and line are. So
        an answer never depends on the order in which chunks were written.
        """
        near = self._nearest(signs, scope, count)
        if len(near) <= count:
            return [match.chunk_id for match in near]
        edge = sorted(match.distance for match in near)[count - 1]
        nearer = [match.chunk_id for match in near if match.distance < edge]
        on_edge = [match.chunk_id for match in near if match.distance == edge]
        if len(on_edge) <= MOST_ON_EDGE:
            return nearer + on_edge
        return nearer + self._at_distance(signs, scope, edge, count - len(nearer))

    def _nearest(self, signs: bytes, scope: ChunkScope, count: int) -> list[SignMatch]:
        """Return at least `count` of the nearest chunks, or all if there are fewer.

        SQLite takes longer to sort than to compare, so nothing is sorted: a sample gives the distance to search within.
        """
        farthest = 8 * len(signs)
        last = int(self.value("SELECT ifnull(max(chunk_id), 0) FROM chunk_signs"))
        step = max(1, isqrt(last) // _SAMPLE_FACTOR)
        sample = sorted(self._sample(signs, scope, step))
        place = _MARGIN * count // step + 1
        distance = sample[place] if place < len(sample) else farthest
        while True:
            near = self._up_to(signs, scope, distance)
            if len(near) >= count or distance >= farthest:
                return near
            distance = min(farthest, distance + _DISTANCE_STEP)

    def all_signs(self) -> list[ChunkSigns]:
        """Return the signs of every vector, in no particular order."""
        return self.rows(ChunkSigns, "SELECT chunk_id, signs FROM chunk_signs")

    def vectors_of(self, chunk_ids: Iterable[int]) -> list[StoredVector]:
        """Return the vectors of the chunks that have one, in no particular order."""
        return self.kept_rows(
            StoredVector,
            "SELECT chunk_id, vector FROM json_each(?) near JOIN chunk_vector ON chunk_id = near.value",
            chunk_ids,
        )

    def token_ids(self, chunk_ids: Iterable[int]) -> list[StoredTokens]:
        """Return the tokens of the chunks whose tokens are recorded, in no particular order."""
        return self.kept_rows(
            StoredTokens,
            "SELECT chunk_id, tokens FROM json_each(?) wanted JOIN chunk_tokens ON chunk_id = wanted.value",
            chunk_ids,
        )

    def reset_vectors(self) -> None:
        """Delete all vectors, and the tokens, whose ids mean nothing to another model."""
        self._has_changed = True
        self._db.execute("DELETE FROM chunk_signs; DELETE FROM chunk_vector; DELETE FROM chunk_tokens")
        self._db.execute("UPDATE file_document SET vector = x''")

    def _sample(self, signs: bytes, scope: ChunkScope, step: int) -> list[float]:
        """Return the distances of every `step`-th chunk, looked up by id because a scan of all chunks takes longer."""
        tables, condition, values = _inside(scope)
        return self.rows(
            float,
            f"""WITH RECURSIVE chosen(id) AS (
                    SELECT {step} UNION ALL
                    SELECT id + {step} FROM chosen WHERE id < (SELECT max(chunk_id) FROM chunk_signs)
                ) SELECT {_DISTANCE} FROM chosen CROSS JOIN {tables} WHERE chunk_id = chosen.id AND {condition}""",  # noqa: S608
            signs,
            *values,
        )

    def _up_to(self, signs: bytes, scope: ChunkScope, distance: float) -> list[SignMatch]:
        tables, condition, values = _inside(scope)
        return self.rows(
            SignMatch,
            f"SELECT chunk_id, {_DISTANCE} FROM {tables} WHERE {condition} AND {_DISTANCE} <= ?",  # noqa: S608
            signs,
            *values,
            signs,
            distance,
        )

    def _at_distance(self, signs: bytes, scope: ChunkScope, distance: float, limit: int) -> list[int]:
        condition, values = within(scope)
        return self.rows(
            int,
            f"""SELECT chunk_id FROM chunk_signs JOIN chunk ON chunk.id = chunk_id JOIN file ON file.id = file_id
                WHERE {_DISTANCE} = ? AND {condition} ORDER BY file.path, start_line, start LIMIT ?""",  # noqa: S608
            signs,
            distance,
            *values,
            limit,
        )

    def _add_vectors(self, first: int, vectors: Sequence[Vector]) -> None:
        """Add the vectors of chunks with consecutive ids."""
        rows = list(enumerate(vectors, first))
        self._db.executemany(
            "INSERT INTO chunk_signs (chunk_id, signs) VALUES (?, ?)", [(id_, signs) for id_, (signs, _) in rows]
        )
        self._db.executemany(
            "INSERT INTO chunk_vector (chunk_id, vector) VALUES (?, ?)", [(id_, numbers) for id_, (_, numbers) in rows]
        )

    def _add_tokens(self, first: int, tokens: Sequence[bytes]) -> None:
        """Add the tokens of chunks with consecutive ids."""
        self._db.executemany("INSERT INTO chunk_tokens (chunk_id, tokens) VALUES (?, ?)", enumerate(tokens, first))

    def _delete_vectors(self, file_id: int) -> None:
        for table in ("chunk_signs", "chunk_vector", "chunk_tokens"):
            self._db.execute(
                f"DELETE FROM {table} WHERE chunk_id IN (SELECT id FROM chunk WHERE file_id = ?)",  # noqa: S608
                (file_id,),
            )


def _inside(scope: ChunkScope) -> tuple[str, str, list[object]]:
    """Return a scope as tables, a condition and its values; the table `chunk` is joined only if the scope needs it."""
    if scope.is_open:
        return "chunk_signs", "1", []
    return "chunk_signs JOIN chunk ON chunk.id = chunk_id", *within(scope)
