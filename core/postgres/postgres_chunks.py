"""The table `chunk`: the position of each chunk in its file, what it defines, and how many words it has."""

from collections.abc import Iterable, Sequence

from keyhole.core.index.chunk_table import chunk_place
from keyhole.core.index.rows import ChunkPlace, ChunkRow, ChunkScope, ChunkSource, ChunkSpan
from keyhole.core.postgres.repository_rows import RepositoryRows
from keyhole.core.postgres.repository_set import rows_with_ids

_FILE_OF_CHUNK = "JOIN file ON file.repo = chunk.repo AND file.id = chunk.file_id"
_THESE = rows_with_ids("chunk")
_OF_FILES = rows_with_ids("chunk", "file_id")


class PostgresChunks(RepositoryRows):
    """Chunks, by id or by file."""

    def chunk_places(self, chunk_ids: Iterable[int]) -> list[ChunkPlace]:
        """Return the positions of these chunks, in no particular order."""
        return self.rows(
            chunk_place,
            f"""SELECT chunk.id, file_id, path, language, start_line, end_line, definitions, lines, role
                FROM {_THESE} {_FILE_OF_CHUNK}""",  # noqa: S608
            **self.repositories.with_ids(chunk_ids),
        )

    def chunk_sources(self, chunk_ids: Iterable[int]) -> list[ChunkSource]:
        """Return the files and offsets of these chunks, grouped by file."""
        return self.rows(
            ChunkSource,
            f"""SELECT chunk.id, path, digest, start, length FROM {_THESE} {_FILE_OF_CHUNK}
                ORDER BY path, chunk.id""",  # noqa: S608
            **self.repositories.with_ids(chunk_ids),
        )

    def chunks_of_file(self, file_id: int) -> list[ChunkSpan]:
        """Return the chunks of a file, in order."""
        return self.chunks_of_files([file_id])[file_id]

    def chunks_of_files(self, file_ids: Iterable[int]) -> dict[int, list[ChunkSpan]]:
        """Return the chunks of several files, in order."""
        wanted = list(file_ids)
        found: dict[int, list[ChunkSpan]] = {file_id: [] for file_id in wanted}
        rows = self.query(
            f"""SELECT file_id, id, start, length, start_line, end_line, definitions FROM {_OF_FILES}
                ORDER BY file_id, start""",  # noqa: S608
            **self.repositories.with_ids(wanted),
        )
        for file_id, *span in rows:
            found[file_id].append(ChunkSpan(*span))
        return found

    def chunk_at(self, path: str, line: int) -> ChunkSpan | None:
        """Return the chunk that contains a line, or else the last one before it."""
        found = self.rows(
            ChunkSpan,
            f"""SELECT chunk.id, start, length, start_line, end_line, definitions FROM chunk {_FILE_OF_CHUNK}
                WHERE chunk.repo = %(repo)s AND path = %(path)s AND start_line <= %(line)s
                ORDER BY start_line DESC, chunk.id LIMIT 1""",  # noqa: S608
            path=path,
            line=line,
        )
        return found[0] if found else None

    def count_chunks(self) -> int:
        """Count all chunks."""
        return int(self.value("SELECT count(*) FROM chunk WHERE repo = %(repo)s"))

    def _insert_chunks(
        self, file_id: int, ids: Sequence[int], chunks: Sequence[ChunkRow], words: Sequence[int]
    ) -> None:
        """Add the chunks of a file, each with the number of its words."""
        self._add(
            "chunk",
            [
                (id_, file_id, chunk.start_line, chunk.end_line, chunk.start, chunk.length, chunk.definitions, size)
                for id_, chunk, size in zip(ids, chunks, words, strict=True)
            ],
        )


def within_scope(scope: ChunkScope) -> tuple[str, dict[str, object]]:
    """Return a scope as a condition on the table `chunk`, with its values."""
    conditions, values = ["true"], dict[str, object]()
    if scope.file_ids is not None:
        conditions.append("chunk.file_id = ANY(%(file_ids)s::bigint[])")
        values["file_ids"] = sorted(scope.file_ids)
    if scope.chunk_ids is not None:
        conditions.append("chunk.id = ANY(%(chunk_ids)s::bigint[])")
        values["chunk_ids"] = sorted(scope.chunk_ids)
    if scope.kind:
        # Definitions are stored as "class A, method b", so a kind is at the start or after a comma.
        conditions.append("strpos(', ' || chunk.definitions, %(kind)s) > 0")
        values["kind"] = f", {scope.kind} "
    return " AND ".join(conditions), values
