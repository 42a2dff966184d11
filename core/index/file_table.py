"""The tables `file`, `skip` and `rule_file`: indexed files, skipped paths and ignore files."""

import json
from collections.abc import Iterable
from itertools import starmap

from keyhole.core.files.stamps import UNKNOWN_TIME
from keyhole.core.files.walk import Known
from keyhole.core.index.database import Database, json_ids
from keyhole.core.index.rows import FileFacts, FileId, FileRows, FileStamp, StoredRole
from keyhole.core.masking import Mask
from keyhole.core.roles.file_roles import known_role
from keyhole.core.types.choices import Role
from keyhole.core.types.inventory import IndexedFile
from keyhole.core.types.source_files import Candidate, Skip, SkipReason, Stamp

_STAMP = "size, mtime_ns, ctime_ns, inode"


class FileTable(Database):
    """Files and skips, by path."""

    # Reading

    def known(self) -> Known:
        """Return the results of the last walk, for the next one to reuse."""
        # A file that could not be parsed is indexed, so the walk treats it like any other file.
        every = f"SELECT path, reason, detail, is_dir, {_STAMP} FROM skip WHERE reason != ?"  # noqa: S608
        skips = self.query(every, SkipReason.UNPARSED.value)
        return Known(
            files=self._stamps_in("file"),
            skips={row[0]: (_skip(*row[:4]), None if row[4] is None else row[4:]) for row in skips},
            rule_files=self._stamps_in("rule_file"),
        )

    def _stamps_in(self, table: str) -> dict[str, Stamp]:
        return {row[0]: row[1:] for row in self.query(f"SELECT path, {_STAMP} FROM {table}")}  # noqa: S608

    def file_id(self, path: str) -> int | None:
        """Return the id of a file; None if it is not indexed."""
        found: int | None = self.value("SELECT id FROM file WHERE path = ?", path)
        return found

    def digests(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the content hashes of the paths that are indexed."""
        return {path: stamp.digest for path, stamp in self.file_stamps(paths).items()}

    def file_stamps(self, paths: Iterable[str]) -> dict[str, FileStamp]:
        """Return the stamps and content hashes of the paths that are indexed."""
        rows = self.query(
            f"""SELECT file.path, digest, {_STAMP} FROM json_each(?) wanted
                CROSS JOIN file ON file.path = wanted.value""",  # noqa: S608
            json.dumps(list(paths)),
        )
        return {row[0]: FileStamp(row[2:], row[1]) for row in rows}

    def files_in(self, language: str = "") -> list[FileId]:
        """Return every file, or those in one language."""
        found = self.query("SELECT id, path, role FROM file WHERE ? IN ('', language)", language)
        return [FileId(file_id, path, known_role(role, path)) for file_id, path, role in found]

    def roles_of(self, paths: Iterable[str]) -> dict[str, Role]:
        """Return the roles of the paths that are indexed."""
        found = self.query(
            "SELECT file.path, role FROM json_each(?) wanted JOIN file ON file.path = wanted.value",
            json.dumps(list(paths)),
        )
        return {path: known_role(role, path) for path, role in found}

    def stored_roles(self) -> list[StoredRole]:
        """Return the recorded role of every file, and the facts that it is found by."""
        return self.rows(StoredRole, "SELECT id, path, language, content_hint, role FROM file")

    def file_facts(self, file_ids: Iterable[int]) -> list[FileFacts]:
        """Return what ranking needs to know about these files, in no particular order."""
        found = self.query(
            """SELECT file.id, file.path, language, lines, role FROM json_each(?) wanted
                JOIN file ON file.id = wanted.value""",
            json_ids(file_ids),
        )
        return [
            FileFacts(id_, path, language, lines, known_role(role, path)) for id_, path, language, lines, role in found
        ]

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
        """Return the path of every file, in order."""
        return self.column("SELECT path FROM file ORDER BY path")

    def paths_in(self, folder: str) -> list[str]:
        """Return the paths of all files inside a folder, in order."""
        # A query for paths alone is answered from the SQL index, without reading the table.
        return self.column("SELECT path FROM file WHERE path > ? AND path < ? ORDER BY path", *inside(folder))

    def languages(self) -> list[str]:
        """Return every language that has a file, in order."""
        return self.column("SELECT DISTINCT language FROM file ORDER BY language")

    def count_files(self) -> int:
        """Count all files."""
        return int(self.value("SELECT count(*) FROM file"))

    def outdated_files(self, analysis: int) -> list[Candidate]:
        """Return the files whose rows another version of the analysis made, in the order of their paths."""
        other = f"SELECT path, {_STAMP} FROM file WHERE analysis <> ? ORDER BY path"  # noqa: S608
        return self.rows(Candidate, other, analysis)

    def count_outdated_files(self, analysis: int) -> int:
        """Count the files whose rows another version of the analysis made."""
        return int(self.value("SELECT count(*) FROM file WHERE analysis <> ?", analysis))

    def count_files_in(self, folder: str) -> int:
        """Count the files inside a folder, at any depth."""
        return int(self.value("SELECT count(*) FROM file WHERE path > ? AND path < ?", *inside(folder)))

    def masks_of(self, paths: Iterable[str]) -> dict[str, tuple[Mask, ...]]:
        """Return what is masked in those of the files that have masks."""
        found = self.query(
            """SELECT file.path, masked FROM json_each(?) wanted JOIN file ON file.path = wanted.value
                WHERE masked <> ''""",
            json.dumps(list(paths)),
        )
        return {path: tuple(starmap(Mask, json.loads(masked))) for path, masked in found}

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
        """Record a new stamp for a file whose content has not changed."""
        self._db.execute(f"UPDATE file SET ({_STAMP}) = (?, ?, ?, ?) WHERE path = ?", (*stamp, path))  # noqa: S608

    def put_roles(self, changes: Iterable[tuple[int, Role]]) -> None:
        """Record the roles of files, given with their ids."""
        rows = [(role.value, file_id) for file_id, role in changes]
        self._has_changed = self._has_changed or bool(rows)
        self._db.executemany("UPDATE file SET role = ? WHERE id = ?", rows)

    def distrust_skip(self, path: str) -> None:
        """Make the next walk read a skipped file again, even if this run ends before it does."""
        self._db.execute("UPDATE skip SET mtime_ns = ? WHERE path = ?", (UNKNOWN_TIME, path))

    def put_rule_files(self, stamps: dict[str, Stamp]) -> None:
        """Record the ignore files of the last walk."""
        self._db.execute("DELETE FROM rule_file")
        self._db.executemany(
            f"INSERT INTO rule_file (path, {_STAMP}) VALUES (?, ?, ?, ?, ?)",  # noqa: S608
            [(path, *stamp) for path, stamp in stamps.items()],
        )

    def forget_digests(self) -> None:
        """Make the next walk read every file again; searches use the old rows until then."""
        self._db.execute("UPDATE file SET digest = '', mtime_ns = ?", (UNKNOWN_TIME,))
        self._db.execute("DELETE FROM skip WHERE size IS NOT NULL")

    def _insert_file(self, file_id: int, rows: FileRows, role: str) -> None:
        self._db.execute(
            f"""INSERT INTO file (id, path, {_STAMP}, digest, encoding, language, lines, has_errors, has_trigrams,
                    masked, content_hint, role, analysis)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?)""",  # noqa: S608
            (
                file_id,
                rows.path,
                rows.size,
                rows.mtime_ns,
                rows.ctime_ns,
                rows.inode,
                rows.digest,
                rows.encoding,
                rows.language,
                rows.lines,
                rows.has_errors,
                json.dumps([(mask.start_line, mask.end_line, mask.kind) for mask in rows.masked])
                if rows.masked
                else "",
                rows.content_hint,
                role,
                rows.analysis,
            ),
        )

    def _role_to_keep(self, file_id: int, rows: FileRows) -> str:
        """Return the role of a file that is indexed again; empty if it must be found again."""
        found = "SELECT role FROM file WHERE id = ? AND language = ? AND content_hint = ?"
        return self.value(found, file_id, rows.language, rows.content_hint) or ""

    def _delete_file(self, file_id: int) -> None:
        self._db.execute("DELETE FROM file WHERE id = ?", (file_id,))

    def _put_skip(self, skip: Skip, stamp: Stamp | None) -> None:
        self._db.execute(
            f"INSERT OR REPLACE INTO skip (path, reason, detail, is_dir, {_STAMP}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
            (skip.path, skip.reason.value, skip.detail, skip.is_dir, *(stamp or [None] * 4)),
        )

    def _delete_skip(self, path: str) -> None:
        self._db.execute("DELETE FROM skip WHERE path = ?", (path,))


def inside(folder: str) -> tuple[str, str]:
    """Return the bounds of all paths inside a folder: in byte order, `0` is the character after the slash."""
    return (f"{folder}/", f"{folder}0") if folder else ("", "\U0010ffff")


def _skip(path: str, reason: str, detail: str, is_dir: int) -> Skip:
    return Skip(path, SkipReason(reason), detail, bool(is_dir))
