"""The content store: what was found out about texts, once per user, for every workspace that contains them.

An entry is a key and packed bytes; the key is a hash of everything that the bytes depend on (content_keys.py). So an
entry is never out of date, and losing one costs only the time to make it again. That is why every problem with the
store (in use, full disk, damaged file, no rights) means that there is no entry, and never an error of an index run.

Several processes may read and write at once: the file has a write-ahead log, and a batch is one transaction. A checksum
over key and bytes shows a damaged entry. When the file is larger than allowed, the entries that were not used for the
longest time are deleted.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import apsw

from keyhole.core.index.connection import transaction
from keyhole.core.index.location import STORE_FILE
from keyhole.core.index.private_files import create_private_file, make_private_folder
from keyhole.core.masking import MASKING_VERSION
from keyhole.core.types.index import StoreSize

# "Khcs" in ASCII.
_APPLICATION_ID = 0x4B686373
# Version 1: entries with their checksum and the time of their last use. Other versions are deleted, not migrated.
_VERSION = 1
_TABLES = """
CREATE TABLE entry (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    used INTEGER NOT NULL,  -- seconds since 1970
    checksum BLOB NOT NULL,
    packed BLOB NOT NULL
);
CREATE INDEX entry_by_use ON entry (used);
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
"""
# Nobody waits long for the store: without it, files are analysed as if it were empty.
_BUSY_MILLISECONDS = 2_000
# The time of use is written again only if it is older than this, so that reading rarely means writing.
_USE_STEP_SECONDS = 3_600
# After an eviction this share of the size is left, so that the next batches need none.
_KEPT_SHARE = 0.9
# The log is copied to the file when it has so many pages, and cut to so many bytes afterwards.
_LOG_PAGES = 4_000
_LOG_BYTES = 4_000_000


class ContentPlace(NamedTuple):
    """The folder of a content store and its size limit in bytes."""

    folder: Path
    max_bytes: int


class ContentEntry(NamedTuple):
    """An entry; `is_use_old` says that its use should be recorded again."""

    packed: bytes
    is_use_old: bool


class ContentStore:
    """An open content store. Reading returns nothing, and writing does nothing, if it can't be used."""

    def __init__(self, place: ContentPlace, *, is_writer: bool = False) -> None:
        self.path = place.folder / STORE_FILE
        self._max_bytes = place.max_bytes
        self._db: apsw.Connection | None = None
        with self._forgiving():
            self._db = _open_for_writing(self.path) if is_writer else _open_for_reading(self.path)

    def get(self, key: bytes) -> ContentEntry | None:
        """Return an entry; None if there is none or it is damaged."""
        with self._forgiving():
            if self._db is None:
                return None
            row = self._db.execute("SELECT packed, checksum, used FROM entry WHERE key = ?", (key,)).fetchone()
            if row and row[1] == _checksum(key, row[0]):
                return ContentEntry(row[0], time.time() - row[2] > _USE_STEP_SECONDS)
        return None

    def put(self, entries: Iterable[tuple[bytes, bytes]], used: Iterable[bytes] = ()) -> None:
        """Add entries, given as keys with packed bytes, and record that others were used; all of it or nothing."""
        now = int(time.time())
        with self._forgiving():
            if self._db is None:
                return
            with transaction(self._db):
                # A damaged entry is replaced.
                self._db.executemany(
                    "INSERT OR REPLACE INTO entry (key, used, checksum, packed) VALUES (?, ?, ?, ?)",
                    [(key, now, _checksum(key, packed), packed) for key, packed in entries],
                )
                self._db.executemany("UPDATE entry SET used = ? WHERE key = ?", [(now, key) for key in used])
            self._evict()

    def size(self) -> StoreSize:
        """Return how much the store contains; nothing if there is none."""
        count = 0
        with self._forgiving():
            if self._db is not None:
                count = int(self._db.execute("SELECT count(*) FROM entry").get)
        return StoreSize(str(self.path), count, sum(map(_size_of, _files(self.path))), self._max_bytes)

    def close(self) -> None:
        """Close the file."""
        db, self._db = self._db, None
        if db is not None:
            with suppress(apsw.Error):
                db.close(True)

    def _evict(self) -> None:
        """Delete the entries that were not used for the longest time, if the store is larger than allowed."""
        db = self._db
        if db is None or self._used_bytes(db) <= self._max_bytes:
            return
        while (excess := self._used_bytes(db) - int(self._max_bytes * _KEPT_SHARE)) > 0:
            with transaction(db):
                oldest = list(_oldest(db, excess))
                db.executemany("DELETE FROM entry WHERE id = ?", oldest)
            if not oldest:
                break
        db.execute("PRAGMA incremental_vacuum").fetchall()

    @staticmethod
    def _used_bytes(db: apsw.Connection) -> int:
        return int(db.pragma("page_count") - db.pragma("freelist_count")) * int(db.pragma("page_size"))

    @contextmanager
    def _forgiving(self) -> Iterator[None]:
        """Continue without the store after any problem, and delete a damaged one."""
        try:
            yield
        except (apsw.CorruptError, apsw.NotADBError):
            self.close()
            delete_content(self.path.parent)
        except (apsw.Error, OSError):
            self.close()


def delete_content(folder: Path) -> bool:
    """Delete a content store; return False if there is none. Processes that have it open keep what they have."""
    path = folder / STORE_FILE
    is_there = path.exists()
    # The log first: next to a new file, SQLite would take it for a part of that one. If a process opens the store in
    # between, it may be damaged afterwards; then the checksums say so.
    for part in reversed(_files(path)):
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return is_there


def _oldest(db: apsw.Connection, wanted: int) -> Iterator[tuple[int]]:
    """Yield the ids of the entries that were not used for the longest time, up to so many bytes."""
    for id_, size in db.execute("SELECT id, length(packed) FROM entry ORDER BY used, id"):
        if wanted <= 0:
            return
        yield (id_,)
        wanted -= size


def _open_for_reading(path: Path) -> apsw.Connection | None:
    if not path.exists():
        return None
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    db.set_busy_timeout(_BUSY_MILLISECONDS)
    if _is_ours(db) and _masking_of(db) == MASKING_VERSION:
        return db
    db.close(True)
    return None


def _open_for_writing(path: Path) -> apsw.Connection | None:
    make_private_folder(path.parent)
    create_private_file(path)
    db = apsw.Connection(str(path))
    try:
        db.set_busy_timeout(_BUSY_MILLISECONDS)
        # Before the first table: makes it possible to return free pages to the system.
        db.pragma("auto_vacuum", 2)
        db.pragma("journal_mode", "wal")
        db.pragma("wal_autocheckpoint", _LOG_PAGES)
        db.pragma("journal_size_limit", _LOG_BYTES)
        db.pragma("synchronous", "normal")
        # What an eviction deletes is overwritten.
        db.pragma("secure_delete", "on")
        if not _is_ours(db):
            _create(db)
        return db if _has_masks(db) else None
    except BaseException:
        db.close(True)
        raise


def _is_ours(db: apsw.Connection) -> bool:
    return bool(db.pragma("application_id") == _APPLICATION_ID and db.pragma("user_version") == _VERSION)


def _create(db: apsw.Connection) -> None:
    """Create the tables, in place of those of another version."""
    with transaction(db):
        # Another process may have created them while this one waited.
        if not _is_ours(db):
            db.execute("DROP TABLE IF EXISTS entry; DROP TABLE IF EXISTS meta;" + _TABLES)
            db.execute("INSERT INTO meta (key, value) VALUES ('masking', ?)", (MASKING_VERSION,))
            db.pragma("application_id", _APPLICATION_ID)
            db.pragma("user_version", _VERSION)


def _has_masks(db: apsw.Connection) -> bool:
    """Return whether all entries are from texts with today's masks; those with older masks are deleted."""
    known = _masking_of(db)
    if known < MASKING_VERSION:
        with transaction(db):
            db.execute("DELETE FROM entry")
            db.execute("UPDATE meta SET value = ? WHERE key = 'masking'", (MASKING_VERSION,))
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return known <= MASKING_VERSION


def _masking_of(db: apsw.Connection) -> int:
    return int(db.execute("SELECT value FROM meta WHERE key = 'masking'").get)


def _checksum(key: bytes, packed: bytes) -> bytes:
    return blake2b(key + packed, digest_size=16).digest()


def _files(path: Path) -> list[Path]:
    return [path, path.with_name(f"{path.name}-shm"), path.with_name(f"{path.name}-wal")]


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
