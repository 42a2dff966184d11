"""The tables `file`, `skip` and `rule_file`: indexed files, skipped paths and ignore files."""

import json
from collections.abc import Iterable
from itertools import starmap

from keyhole.core.files.stamps import UNKNOWN_TIME
from keyhole.core.files.walk import Known
from keyhole.core.index.file_table import inside
from keyhole.core.index.rows import FileFacts, FileId, FileRows, FileStamp, StoredRole
from keyhole.core.masking import Mask
from keyhole.core.postgres.postgres_facts import PostgresFacts
from keyhole.core.postgres.repository_set import FILE_AT_PATH, rows_with_ids
from keyhole.core.roles.file_roles import known_role
from keyhole.core.types.choices import Role
from keyhole.core.types.inventory import IndexedFile
from keyhole.core.types.source_files import Candidate, Skip, SkipReason, Stamp

_STAMP = "size, mtime_ns, ctime_ns, inode"
_SKIP = "SELECT path, reason, detail, is_dir FROM skip WHERE repo = %(repo)s"
_UNPARSED = SkipReason.UNPARSED.value
_OWN = "WHERE repo = %(repo)s"
_IN_FOLDER = "repo = %(repo)s AND path > %(first)s AND path < %(last)s"


class PostgresFiles(PostgresFacts):
    """Files and skips, by path."""

    # Whether the repository had files or skips when the transaction began.
    _had_rows = True

    # Reading

    def known(self) -> Known:
        """Return the results of the last walk, for the next one to reuse."""
        # A file that could not be parsed is indexed, so the walk treats it like any other file.
        every = f"SELECT path, reason, detail, is_dir, {_STAMP} FROM skip WHERE repo = %(repo)s AND reason <> %(not)s"  # noqa: S608
        skips = self.query(every, **{"not": _UNPARSED})
        return Known(
            files=self._stamps_in("file"),
            skips={row[0]: (_skip(*row[:4]), None if row[4] is None else row[4:]) for row in skips},
            rule_files=self._stamps_in("rule_file"),
        )

    def _stamps_in(self, table: str) -> dict[str, Stamp]:
        found = self.query(f"SELECT path, {_STAMP} FROM {table} WHERE repo = %(repo)s")  # noqa: S608
        return {row[0]: row[1:] for row in found}

    def file_id(self, path: str) -> int | None:
        """Return the id of a file; None if it is not indexed."""
        found: int | None = self.value("SELECT id FROM file WHERE repo = %(repo)s AND path = %(path)s", path=path)
        return found

    def digests(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the content hashes of the paths that are indexed."""
        return {path: stamp.digest for path, stamp in self.file_stamps(paths).items()}

    def file_stamps(self, paths: Iterable[str]) -> dict[str, FileStamp]:
        """Return the stamps and content hashes of the paths that are indexed."""
        rows = self.query(f"SELECT path, digest, {_STAMP} FROM {FILE_AT_PATH}", **self.repositories.at_paths(paths))  # noqa: S608
        return {row[0]: FileStamp(row[2:], row[1]) for row in rows}

    def files_in(self, language: str = "") -> list[FileId]:
        """Return every file, or those in one language."""
        found = self.query(
            """SELECT id, path, role FROM file WHERE repo = %(repo)s AND %(language)s::text IN ('', language)
                ORDER BY id""",
            language=language,
        )
        return [FileId(file_id, path, known_role(role, path)) for file_id, path, role in found]

    def roles_of(self, paths: Iterable[str]) -> dict[str, Role]:
        """Return the roles of the paths that are indexed."""
        found = self.query(f"SELECT path, role FROM {FILE_AT_PATH}", **self.repositories.at_paths(paths))  # noqa: S608
        return {path: known_role(role, path) for path, role in found}

    def stored_roles(self) -> list[StoredRole]:
        """Return the recorded role of every file, and the facts that it is found by."""
        every = "SELECT id, path, language, content_hint, role FROM file WHERE repo = %(repo)s ORDER BY id"
        return self.rows(StoredRole, every)

    def file_facts(self, file_ids: Iterable[int]) -> list[FileFacts]:
        """Return what ranking needs to know about these files, in no particular order."""
        found = self.query(
            f"SELECT id, path, language, lines, role FROM {rows_with_ids('file')}",  # noqa: S608
            **self.repositories.with_ids(file_ids),
        )
        return [FileFacts._make([*facts, known_role(role, facts[1])]) for *facts, role in found]

    def files_at(self, paths: Iterable[str]) -> list[IndexedFile]:
        """Return the files of the paths that are indexed, in no particular order."""
        at_paths = f"SELECT path, language, lines FROM {FILE_AT_PATH}"  # noqa: S608
        return self.rows(IndexedFile, at_paths, **self.repositories.at_paths(paths))

    def indexed_files(self) -> list[IndexedFile]:
        """Return every file, sorted by path."""
        return self.rows(IndexedFile, "SELECT path, language, lines FROM file WHERE repo = %(repo)s ORDER BY path")

    def paths(self) -> list[str]:
        """Return the path of every file, in order."""
        return self.column("SELECT path FROM file WHERE repo = %(repo)s ORDER BY path")

    def paths_in(self, folder: str) -> list[str]:
        """Return the paths of all files inside a folder, in order."""
        return self.column(f"SELECT path FROM file WHERE {_IN_FOLDER} ORDER BY path", **bounds(folder))  # noqa: S608

    def languages(self) -> list[str]:
        """Return every language that has a file, in order."""
        return self.column("SELECT DISTINCT language FROM file WHERE repo = %(repo)s ORDER BY language")

    def count_files(self) -> int:
        """Count all files."""
        return int(self.value("SELECT count(*) FROM file WHERE repo = %(repo)s"))

    def outdated_files(self, analysis: int) -> list[Candidate]:
        """Return the files whose rows another version of the analysis made, in the order of their paths."""
        other = f"SELECT path, {_STAMP} FROM file WHERE repo = %(repo)s AND analysis <> %(analysis)s ORDER BY path"  # noqa: S608
        return self.rows(Candidate, other, analysis=analysis)

    def count_outdated_files(self, analysis: int) -> int:
        """Count the files whose rows another version of the analysis made."""
        other = "SELECT count(*) FROM file WHERE repo = %(repo)s AND analysis <> %(analysis)s"
        return int(self.value(other, analysis=analysis))

    def count_files_in(self, folder: str) -> int:
        """Count the files inside a folder, at any depth."""
        return int(self.value(f"SELECT count(*) FROM file WHERE {_IN_FOLDER}", **bounds(folder)))  # noqa: S608

    def masks_of(self, paths: Iterable[str]) -> dict[str, tuple[Mask, ...]]:
        """Return what is masked in those of the files that have masks."""
        masked = f"SELECT path, masked FROM {FILE_AT_PATH} AND masked <> ''"  # noqa: S608
        found = self.query(masked, **self.repositories.at_paths(paths))
        return {path: tuple(starmap(Mask, json.loads(masked))) for path, masked in found}

    def knows(self, path: str) -> bool:
        """Return whether a path is an indexed file, a folder of indexed files, or a skipped path."""
        known = f"""SELECT 1 FROM file WHERE repo = %(repo)s AND path = %(path)s
            UNION ALL SELECT 1 FROM file WHERE {_IN_FOLDER}
            UNION ALL SELECT 1 FROM skip WHERE repo = %(repo)s AND path = %(path)s LIMIT 1"""  # noqa: S608
        return bool(self.query(known, path=path, **bounds(path)))

    def skips(self) -> list[Skip]:
        """Return every path that is not indexed, in order."""
        return self.rows(_skip, f"{_SKIP} AND reason <> %(reason)s ORDER BY path", reason=_UNPARSED)

    def unparsed(self) -> list[Skip]:
        """Return the indexed files that could not be parsed, in order."""
        return self.rows(_skip, f"{_SKIP} AND reason = %(reason)s ORDER BY path", reason=_UNPARSED)

    def skip_of(self, path: str) -> Skip | None:
        """Return the skip of a path; None if it is not skipped."""
        found = self.rows(_skip, f"{_SKIP} AND path = %(path)s", path=path)
        return found[0] if found else None

    def count_skips(self) -> int:
        """Count the paths that are not indexed."""
        every = "SELECT count(*) FROM skip WHERE repo = %(repo)s AND reason <> %(reason)s"
        return int(self.value(every, reason=_UNPARSED))

    # Writing

    def restamp_file(self, path: str, stamp: Stamp) -> None:
        """Record a new stamp for a file whose content has not changed."""
        self.query(
            """UPDATE file SET size = %(size)s, mtime_ns = %(mtime)s, ctime_ns = %(ctime)s, inode = %(inode)s
                WHERE repo = %(repo)s AND path = %(path)s""",
            path=path,
            **dict(zip(("size", "mtime", "ctime", "inode"), stamp, strict=True)),
        )

    def put_roles(self, changes: Iterable[tuple[int, Role]]) -> None:
        """Record the roles of files, given with their ids."""
        rows = list(changes)
        self._has_changed = self._has_changed or bool(rows)
        self.query(
            """UPDATE file SET role = new.role FROM unnest(%(ids)s::bigint[], %(roles)s::text[]) new(id, role)
                WHERE repo = %(repo)s AND file.id = new.id""",
            ids=[file_id for file_id, _ in rows],
            roles=[role.value for _, role in rows],
        )

    def distrust_skip(self, path: str) -> None:
        """Make the next walk read a skipped file again, even if this run ends before it does."""
        again = "UPDATE skip SET mtime_ns = %(unknown)s WHERE repo = %(repo)s AND path = %(path)s"
        self.query(again, unknown=UNKNOWN_TIME, path=path)

    def put_rule_files(self, stamps: dict[str, Stamp]) -> None:
        """Record the ignore files of the last walk."""
        self.query("DELETE FROM rule_file WHERE repo = %(repo)s")
        self._add("rule_file", [(path, *stamp) for path, stamp in stamps.items()])

    def forget_digests(self) -> None:
        """Make the next walk read every file again; searches use the old rows until then."""
        self.query("UPDATE file SET digest = '', mtime_ns = %(unknown)s WHERE repo = %(repo)s", unknown=UNKNOWN_TIME)
        self.query("DELETE FROM skip WHERE repo = %(repo)s AND size IS NOT NULL")

    def _insert_file(self, file_id: int, rows: FileRows, role: str) -> None:
        masks = json.dumps([(mask.start_line, mask.end_line, mask.kind) for mask in rows.masked])
        stamp = rows.size, rows.mtime_ns, rows.ctime_ns, rows.inode
        facts = rows.digest, rows.encoding, rows.language, rows.lines, rows.has_errors, rows.text is not None
        found = masks if rows.masked else "", rows.content_hint, role, rows.analysis
        self._add("file", [(file_id, rows.path, *stamp, *facts, *found)])

    def _role_to_keep(self, file_id: int, rows: FileRows) -> str:
        """Return the role of a file that is indexed again; empty if it must be found again."""
        found = """SELECT role FROM file WHERE repo = %(repo)s AND id = %(id)s AND language = %(language)s
            AND content_hint = %(hint)s"""
        roles = self.direct(found, id=file_id, language=rows.language, hint=rows.content_hint)
        return roles[0][0] if roles else ""

    def _id_of(self, path: str) -> int | None:
        """Return the id of a file about which no row waits to be written."""
        if not self._may_have_rows(path):
            return None
        found = self.direct("SELECT id FROM file WHERE repo = %(repo)s AND path = %(path)s", path=path)
        return found[0][0] if found else None

    def _skip_at(self, path: str) -> Skip | None:
        """Return the skip of a path about which no row waits to be written."""
        if not self._may_have_rows(path):
            return None
        found = self.direct(f"{_SKIP} AND path = %(path)s", path=path)
        return _skip(*found[0]) if found else None

    def _put_skip(self, skip: Skip, stamp: Stamp | None) -> None:
        self._delete_skip(skip.path)
        self._add("skip", [(skip.path, skip.reason.value, skip.detail, skip.is_dir, *(stamp or [None] * 4))])

    def _delete_skip(self, path: str) -> None:
        if self._may_have_rows(path):
            self.direct("DELETE FROM skip WHERE repo = %(repo)s AND path = %(path)s", path=path)

    def _note_old_rows(self) -> None:
        """Find out whether the repository has rows: if not, none needs to be looked for."""
        has_rows = f"SELECT EXISTS (SELECT FROM file {_OWN}) OR EXISTS (SELECT FROM skip {_OWN})"  # noqa: S608
        self._had_rows = self.direct(has_rows)[0][0]
        self._written_paths.clear()

    def _note_written(self, path: str) -> None:
        self._waiting_paths.add(path)
        self._written_paths.add(path)

    def _may_have_rows(self, path: str) -> bool:
        return self._had_rows or path in self._written_paths


def bounds(folder: str) -> dict[str, str]:
    """Return the values of a condition for all paths inside a folder."""
    first, last = inside(folder)
    return {"first": first, "last": last}


def _skip(path: str, reason: str, detail: str, is_dir: object) -> Skip:
    return Skip(path, SkipReason(reason), detail, bool(is_dir))
