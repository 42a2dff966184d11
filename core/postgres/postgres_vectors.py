"""The vectors of chunks: their signs, to compare all of them, and their numbers, to compare the nearest ones.

pgvector counts the differing signs. The scan is exact; an approximate index would pay off only for many repositories
together.
"""

from collections.abc import Iterable, Sequence

from pgvector import Bit

from keyhole.core.index.rows import (
    MOST_ON_EDGE,
    ChunkScope,
    ChunkSigns,
    DocumentRow,
    SignMatch,
    StoredDocument,
    StoredTokens,
    StoredVector,
    Vector,
)
from keyhole.core.postgres.postgres_chunks import within_scope
from keyhole.core.postgres.repository_rows import RepositoryRows
from keyhole.core.postgres.repository_set import rows_with_ids

_DISTANCE = "signs <~> %(signs)s::varbit"
_CHUNK_OF_SIGNS = "JOIN chunk ON chunk.repo = chunk_signs.repo AND chunk.id = chunk_id"


class PostgresVectors(RepositoryRows):
    """Signs, numbers and tokens of chunks, and the documents of files."""

    def load_vectors(self) -> bool:
        """Return whether vectors can be compared; the connection has made sure that pgvector is there."""
        return True

    def nearest_by_signs(self, signs: bytes, scope: ChunkScope, count: int) -> list[int]:
        """Return the chunks whose signs differ least from these, in no particular order.

        Chunks that are as far as the last one are included; if there are too many, the first by path and line are.
        """
        near = self._nearest(signs, scope, count)
        if len(near) <= count:
            return [match.chunk_id for match in near]
        edge = near[-1].distance
        nearer = [match.chunk_id for match in near if match.distance < edge]
        on_edge = [match.chunk_id for match in near if match.distance == edge]
        if len(on_edge) <= MOST_ON_EDGE:
            return nearer + on_edge
        return nearer + self._at_distance(signs, scope, edge, count - len(nearer))

    def _nearest(self, signs: bytes, scope: ChunkScope, count: int) -> list[SignMatch]:
        """Return the `count` nearest chunks and all that are as far as the last one, nearest first."""
        join = "" if scope.is_open else _CHUNK_OF_SIGNS
        condition, values = within_scope(scope)
        return self.rows(
            SignMatch,
            f"""SELECT chunk_id, {_DISTANCE} AS distance FROM chunk_signs {join}
                WHERE chunk_signs.repo = %(repo)s AND {condition}
                ORDER BY distance FETCH FIRST %(count)s ROWS WITH TIES""",  # noqa: S608
            signs=Bit(signs),
            count=count,
            **values,
        )

    def _at_distance(self, signs: bytes, scope: ChunkScope, distance: float, limit: int) -> list[int]:
        condition, values = within_scope(scope)
        return self.column(
            f"""SELECT chunk_id FROM chunk_signs {_CHUNK_OF_SIGNS}
                JOIN file ON file.repo = chunk.repo AND file.id = chunk.file_id
                WHERE chunk_signs.repo = %(repo)s AND {_DISTANCE} = %(distance)s AND {condition}
                ORDER BY file.path, start_line, start LIMIT %(limit)s""",  # noqa: S608
            signs=Bit(signs),
            distance=distance,
            limit=limit,
            **values,
        )

    def all_signs(self) -> list[ChunkSigns]:
        """Return the signs of every vector, in no particular order."""
        # What PostgreSQL sends of a bit string starts with four bytes for its length.
        every = "SELECT chunk_id, substring(varbit_send(signs) FROM 5) FROM chunk_signs WHERE repo = %(repo)s"
        return self.rows(ChunkSigns, every)

    def vectors_of(self, chunk_ids: Iterable[int]) -> list[StoredVector]:
        """Return the vectors of the chunks that have one, in no particular order."""
        these = f"SELECT chunk_id, vector FROM {rows_with_ids('chunk_vector', 'chunk_id')}"  # noqa: S608
        return self.rows(StoredVector, these, **self.repositories.with_ids(chunk_ids))

    def token_ids(self, chunk_ids: Iterable[int]) -> list[StoredTokens]:
        """Return the tokens of the chunks whose tokens are recorded, in no particular order."""
        these = f"SELECT chunk_id, tokens FROM {rows_with_ids('chunk_tokens', 'chunk_id')}"  # noqa: S608
        return self.rows(StoredTokens, these, **self.repositories.with_ids(chunk_ids))

    def file_documents(self, file_ids: Iterable[int]) -> list[StoredDocument]:
        """Return the documents of the files that have one, in no particular order."""
        these = f"SELECT file_id, words, vector FROM {rows_with_ids('file_document', 'file_id')}"  # noqa: S608
        return self.rows(StoredDocument, these, **self.repositories.with_ids(file_ids))

    def reset_vectors(self) -> None:
        """Delete all vectors, and the tokens, whose ids mean nothing to another model."""
        self._has_changed = True
        for table in ("chunk_signs", "chunk_vector", "chunk_tokens"):
            self.query(f"DELETE FROM {table} WHERE repo = %(repo)s")  # noqa: S608
        self.query("UPDATE file_document SET vector = '' WHERE repo = %(repo)s")

    def _add_vectors(self, chunk_ids: Sequence[int], vectors: Sequence[Vector]) -> None:
        """Add the vectors of chunks; without a model there are none."""
        rows = list(zip(chunk_ids, vectors, strict=False))
        self._add("chunk_signs", [(id_, Bit(signs)) for id_, (signs, _) in rows])
        self._add("chunk_vector", [(id_, numbers) for id_, (_, numbers) in rows])

    def _add_tokens(self, chunk_ids: Sequence[int], tokens: Sequence[bytes]) -> None:
        self._add("chunk_tokens", list(zip(chunk_ids, tokens, strict=False)))

    def _add_document(self, file_id: int, document: DocumentRow) -> None:
        self._add("file_document", [(file_id, *document)])
