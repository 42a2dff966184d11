"""The table `chunk`: the position of each chunk in its file, and what it defines."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from keyhole.core.index.database import json_ids
from keyhole.core.index.kept_rows import KeptRows
from keyhole.core.index.rows import ChunkPlace, ChunkRow, ChunkScope, ChunkSource, ChunkSpan
from keyhole.core.roles.file_roles import known_role


class ChunkTable(KeptRows):
    """Chunks, by id or by file."""

    def chunk_places(self, chunk_ids: Iterable[int]) -> list[ChunkPlace]:
        """Return the positions of these chunks, in no particular order."""
        return self.kept_rows(
            chunk_place,
            """SELECT chunk.id, file_id, file.path, language, start_line, end_line, definitions, lines, role
                FROM json_each(?) wanted JOIN chunk ON chunk.id = wanted.value JOIN file ON file.id = file_id""",
            chunk_ids,
        )

    def chunk_sources(self, chunk_ids: Iterable[int]) -> list[ChunkSource]:
        """Return the files and offsets of these chunks, grouped by file."""
        return self.rows(
            ChunkSource,
            """SELECT chunk.id, file.path, digest, start, length FROM json_each(?) wanted
                JOIN chunk ON chunk.id = wanted.value JOIN file ON file.id = file_id ORDER BY file.path""",
            json_ids(chunk_ids),
        )

    def chunks_of_file(self, file_id: int) -> list[ChunkSpan]:
        """Return the chunks of a file, in order."""
        return self.rows(
            ChunkSpan,
            """SELECT id, start, length, start_line, end_line, definitions FROM chunk
                WHERE file_id = ? ORDER BY start""",
            file_id,
        )

    def chunks_of_files(self, file_ids: Iterable[int]) -> dict[int, list[ChunkSpan]]:
        """Return the chunks of several files, in order."""
        wanted = list(file_ids)
        found: dict[int, list[ChunkSpan]] = {file_id: [] for file_id in wanted}
        rows = self.query(
            """SELECT file_id, id, start, length, start_line, end_line, definitions FROM chunk
                WHERE file_id IN (SELECT value FROM json_each(?)) ORDER BY file_id, start""",
            json_ids(wanted),
        )
        for file_id, *span in rows:
            found[file_id].append(ChunkSpan(*span))
        return found

    def chunk_at(self, path: str, line: int) -> ChunkSpan | None:
        """Return the chunk that contains a line, or else the last one before it."""
        found = self.rows(
            ChunkSpan,
            """SELECT chunk.id, start, length, start_line, end_line, definitions
                FROM chunk JOIN file ON file.id = file_id
                WHERE path = ? AND start_line <= ? ORDER BY start_line DESC, chunk.id LIMIT 1""",
            path,
            line,
        )
        return found[0] if found else None

    def count_chunks(self) -> int:
        """Count all chunks."""
        return int(self.value("SELECT count(*) FROM chunk"))

    def _delete_chunks(self, file_id: int) -> None:
        self._db.execute("DELETE FROM chunk WHERE file_id = ?", (file_id,))

    def _insert_chunks(self, file_id: int, chunks: Sequence[ChunkRow]) -> int:
        """Add the chunks of a file with consecutive ids; return the first id."""
        first = self._next_id("chunk")
        self._db.executemany(
            """INSERT INTO chunk (id, file_id, start_line, end_line, start, length, definitions)
                VALUES (?, ?, ?, ?, ?, ?, ?)""",
            [
                (id_, file_id, chunk.start_line, chunk.end_line, chunk.start, chunk.length, chunk.definitions)
                for id_, chunk in enumerate(chunks, first)
            ],
        )
        return first


def chunk_place(*cells: Any) -> ChunkPlace:
    """Return the cells of a row as the place of a chunk, with the most likely role if none is recorded yet."""
    *place, role = cells
    return ChunkPlace._make([*place, known_role(role, place[2])])


def within(scope: ChunkScope) -> tuple[str, list[object]]:
    """Return a scope as a condition on the table `chunk`, with its values."""
    conditions, values = ["1"], list[object]()
    if scope.file_ids is not None:
        conditions.append("chunk.file_id IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(sorted(scope.file_ids)))
    if scope.chunk_ids is not None:
        conditions.append("chunk.id IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(sorted(scope.chunk_ids)))
    if scope.kind:
        # Definitions are stored as "class A, method b", so a kind is at the start or after a comma.
        conditions.append("instr(', ' || chunk.definitions, ?) > 0")
        values.append(f", {scope.kind} ")
    return " AND ".join(conditions), values
