"""The tables `file`, `skip` and `rule_file`: indexed files, skipped paths and ignore files."""

import json
from collections.abc import Iterable

from keyhole.core.files.walk import Known, Stamp
from keyhole.core.index.database import Database
from keyhole.core.index.rows import FileId, FileRows, FileStamp
from keyhole.core.types import IndexedFile, Skip, SkipReason

# No file has this time, so a file recorded with it is always read again.
UNKNOWN_TIME = -1


class FileTable(Database):
    """Files and skips, by path."""

    # Reading

    def known(self) -> Known:
        """Return the results of the last walk, for the next one to reuse."""
        # A file that could not be parsed is indexed, so the walk treats it like any other file.
        skips = self.query(
            "SELECT path, reason, detail, is_dir, size, mtime_ns FROM skip WHERE reason != ?", SkipReason.UNPARSED.value
        )
        return Known(
            files={path: (size, mtime) for path, size, mtime in self.query("SELECT path, size, mtime_ns FROM file")},
            skips={
                path: (_skip(path, reason, detail, is_dir), None if size is None else (size, mtime))
                for path, reason, detail, is_dir, size, mtime in skips
            },
            rule_files={
                path: (size, mtime) for path, size, mtime in self.query("SELECT path, size, mtime_ns FROM rule_file")
            },
        )

    def file_id(self, path: str) -> int | None:
        """Return the id of a file; None if it is not indexed."""
        found: int | None = self.value("SELECT id FROM file WHERE path = ?", path)
        return found

    def digests(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the content hashes of the paths that are indexed."""
        return {path: stamp.digest for path, stamp in self.file_stamps(paths).items()}

    def file_stamps(self, paths: Iterable[str]) -> dict[str, FileStamp]:
        """Return the size, time and hash of the paths that are indexed."""
        rows = self.query(
            """SELECT file.path, size, mtime_ns, digest FROM json_each(?) wanted
                CROSS JOIN file ON file.path = wanted.value""",
            json.dumps(list(paths)),
        )
        return {path: FileStamp(*stamp) for path, *stamp in rows}

    def files_in(self, language: str = "") -> list[FileId]:
        """Return every file, or those in one language."""
        return self.rows(FileId, "SELECT id, path FROM file WHERE ? IN ('', language)", language)

    def files_at(self, paths: Iterable[str]) -> list[IndexedFile]:
        """Return the files of the paths that are indexed, in no particular order."""
        return self.rows(
            IndexedFile,
            "SELECT file.path, language, lines FROM json_each(?) wanted JOIN file ON file.path = wanted.value",
            json.dumps(list(paths)),
        )

    def indexed_files(self) -> list[IndexedFile]:
        """Return every file, sorted by path."""
        return self.rows(IndexedFile, "SELECT path, language, lines FROM file ORDER BY path")

    def paths(self) -> list[str]:
        """Return the path of every file."""
        return self.column("SELECT path FROM file")

    def paths_in(self, folder: str) -> list[str]:
        """Return the paths of all files inside a folder, in order."""
        # A query for paths alone is answered from the SQL index, without reading the table.
        return self.column("SELECT path FROM file WHERE path > ? AND path < ? ORDER BY path", *inside(folder))

    def languages(self) -> list[str]:
        """Return every language that has a file."""
        return self.column("SELECT DISTINCT language FROM file")

    def count_files(self) -> int:
        """Count all files."""
        return int(self.value("SELECT count(*) FROM file"))

    def count_files_in(self, folder: str) -> int:
        """Count the files inside a folder, at any depth."""
        return int(self.value("SELECT count(*) FROM file WHERE path > ? AND path < ?", *inside(folder)))

    def knows(self, path: str) -> bool:
        """Return whether a path is an indexed file, a folder of indexed files, or a skipped path."""
        known = """SELECT 1 FROM file WHERE path = ? OR (path > ? AND path < ?)
            UNION SELECT 1 FROM skip WHERE path = ? LIMIT 1"""
        return bool(self.query(known, path, *inside(path), path))

    def skips(self) -> list[Skip]:
        """Return every path that is not indexed, in order."""
        every = "SELECT path, reason, detail, is_dir FROM skip WHERE reason != ? ORDER BY path"
        return self.rows(_skip, every, SkipReason.UNPARSED.value)

    def unparsed(self) -> list[Skip]:
        """Return the indexed files that could not be parsed, in order."""
        found = "SELECT path, reason, detail, is_dir FROM skip WHERE reason = ? ORDER BY path"
        return self.rows(_skip, found, SkipReason.UNPARSED.value)

    def skip_of(self, path: str) -> Skip | None:
        """Return the skip of a path; None if it is not skipped."""
        found = self.rows(_skip, "SELECT path, reason, detail, is_dir FROM skip WHERE path = ?", path)
        return found[0] if found else None

    def count_skips(self) -> int:
        """Count the paths that are not indexed."""
        return int(self.value("SELECT count(*) FROM skip WHERE reason != ?", SkipReason.UNPARSED.value))

    # Writing

    def restamp_file(self, path: str, stamp: Stamp) -> None:
        """Record a new time for a file whose content has not changed."""
        self._db.execute("UPDATE file SET size = ?, mtime_ns = ? WHERE path = ?", (*stamp, path))

    def put_rule_files(self, stamps: dict[str, Stamp]) -> None:
        """Record the ignore files of the last walk."""
        self._db.execute("DELETE FROM rule_file")
        self._db.executemany(
            "INSERT INTO rule_file (path, size, mtime_ns) VALUES (?, ?, ?)",
            [(path, *stamp) for path, stamp in stamps.items()],
        )

    def forget_digests(self) -> None:
        """Make the next walk read every file again; searches use the old rows until then."""
        self._db.execute("UPDATE file SET digest = '', mtime_ns = ?", (UNKNOWN_TIME,))
        self._db.execute("DELETE FROM skip WHERE size IS NOT NULL")

    def _insert_file(self, file_id: int, rows: FileRows) -> None:
        self._db.execute(
            """INSERT INTO file (id, path, size, mtime_ns, digest, encoding, language, lines, has_errors, has_trigrams)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)""",
            (
                file_id,
                rows.path,
                rows.size,
                rows.mtime_ns,
                rows.digest,
                rows.encoding,
                rows.language,
                rows.lines,
                rows.has_errors,
            ),
        )

    def _delete_file(self, file_id: int) -> None:
        self._db.execute("DELETE FROM file WHERE id = ?", (file_id,))

    def _put_skip(self, skip: Skip, stamp: Stamp | None) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO skip (path, reason, detail, is_dir, size, mtime_ns) VALUES (?, ?, ?, ?, ?, ?)",
            (skip.path, skip.reason.value, skip.detail, skip.is_dir, *(stamp or (None, None))),
        )

    def _delete_skip(self, path: str) -> None:
        self._db.execute("DELETE FROM skip WHERE path = ?", (path,))


def inside(folder: str) -> tuple[str, str]:
    """Return the bounds of all paths inside a folder: in byte order, `0` is the character after the slash."""
    return (f"{folder}/", f"{folder}0") if folder else ("", "\U0010ffff")


def _skip(path: str, reason: str, detail: str, is_dir: int) -> Skip:
    return Skip(path, SkipReason(reason), detail, bool(is_dir))
