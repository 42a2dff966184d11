"""The journal's file: its tables, and how to open and delete it while other processes use it.

Version 1: calls; their answers in a table of their own, so that lists do not read them; and a counter of changes that
only grows, with a random number that identifies the journal.
Version 2: calls have a session, so that they can be grouped by conversation, and the files that their answers show, so
that follow-ups and repeated reads can be found.
Version 3: calls have the server that was wrapped, and a table says how each of these is started, to replay calls.
Version 4: calls have the name of the token that was used, for the server of a team.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import apsw

from keyhole.core.errors import ErrorKind, LockedStoreError, NewerStoreError, StoreError
from keyhole.core.index.connection import connect_frozen, transaction
from keyhole.core.index.location import JOURNAL_FILE, JOURNAL_LOCK_FILE
from keyhole.core.index.private_files import PRIVATE_FILE, create_private_file, make_private_folder
from keyhole.core.types.calls import Call

VERSION = 4
APPLICATION_ID = 0x4B484A4C
_LARGEST_LOG = 4_000_000
_PATIENCE = 2.0

_TABLES = """
CREATE TABLE call (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    change INTEGER NOT NULL,
    started REAL NOT NULL,
    process INTEGER NOT NULL,
    transport TEXT NOT NULL,
    client TEXT NOT NULL,
    client_version TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    status TEXT NOT NULL,
    ms REAL NOT NULL,
    tokens INTEGER NOT NULL,
    budget INTEGER NOT NULL,
    utilisation REAL NOT NULL,
    response_bytes INTEGER NOT NULL,
    note TEXT NOT NULL,
    session TEXT NOT NULL DEFAULT '',
    shown TEXT NOT NULL DEFAULT '',
    server TEXT NOT NULL DEFAULT '',
    caller TEXT NOT NULL DEFAULT ''
);
CREATE INDEX call_by_change ON call (change);
CREATE TABLE answer (
    call_id INTEGER PRIMARY KEY REFERENCES call (id) ON DELETE CASCADE,
    response BLOB NOT NULL,
    truncation TEXT NOT NULL
);
CREATE TABLE counter (journal INTEGER NOT NULL, value INTEGER NOT NULL);
INSERT INTO counter (journal, value) VALUES (abs(random()), 0);
"""
_SERVERS = """
CREATE TABLE server (name TEXT PRIMARY KEY, command TEXT NOT NULL, url TEXT NOT NULL, folder TEXT NOT NULL);
"""
# What each version added to the one before.
_ADDED = {
    2: """
ALTER TABLE call ADD COLUMN session TEXT NOT NULL DEFAULT '';
ALTER TABLE call ADD COLUMN shown TEXT NOT NULL DEFAULT '';
""",
    3: f"ALTER TABLE call ADD COLUMN server TEXT NOT NULL DEFAULT '';{_SERVERS}",
    4: "ALTER TABLE call ADD COLUMN caller TEXT NOT NULL DEFAULT '';",
}
CALL_COLUMNS = tuple(column.name for column in fields(Call))

# Identifies the file, because another process may delete it and make a new one. The system can reuse the number of a
# file only after it is closed, so an open file is always identified correctly.
Identity = tuple[int, int]


def identity(folder: Path) -> Identity | None:
    """Return which journal file exists now, or None; raise OSError if the folder can't be read."""
    try:
        status = (folder / JOURNAL_FILE).stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


def open_for_writing(folder: Path, *, busy_ms: int) -> apsw.Connection:
    """Open the journal, and create it if it does not exist."""
    make_private_folder(folder)
    path = folder / JOURNAL_FILE
    with _exclusive(folder):
        # SQLite gives the -wal and -shm files the same mode.
        create_private_file(path)
        return _opened(path, busy_ms, is_writer=True)


def open_for_reading(folder: Path, *, busy_ms: int) -> apsw.Connection:
    """Open an existing journal; one that can't be written is opened without any protection from writers."""
    path = folder / JOURNAL_FILE
    try:
        with _exclusive(folder):
            return _opened(path, busy_ms, is_writer=False)
    except (OSError, apsw.CantOpenError, apsw.IOError, apsw.ReadOnlyError, apsw.FullError):
        db = connect_frozen(path)
        if db is None:
            raise
    _check(db, path)
    return db


def delete(folder: Path, only: Identity | None = None) -> bool:
    """Delete the journal, or the file `only` if it still exists; processes that have it open then open the next one."""
    found = identity(folder)
    if found is None:
        return False
    with _exclusive(folder):
        if only in (None, identity(folder)):
            for suffix in ("", "-wal", "-shm"):
                (folder / f"{JOURNAL_FILE}{suffix}").unlink(missing_ok=True)
    return True


@contextmanager
def _exclusive(folder: Path) -> Iterator[None]:
    """Hold the lock for opening the journal, so that two new journals never share a -wal or -shm file."""
    from filelock import FileLock, Timeout

    try:
        with FileLock(folder / JOURNAL_LOCK_FILE, timeout=_PATIENCE, mode=PRIVATE_FILE):
            yield
    except Timeout:
        raise LockedStoreError("another process is opening the journal", ErrorKind.BUSY) from None


def _opened(path: Path, busy_ms: int, *, is_writer: bool) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if is_writer else 0)
    db = apsw.Connection(str(path), flags=flags)
    try:
        db.set_busy_timeout(busy_ms)
        if is_writer and not db.pragma("user_version"):
            _create(db)
        _check(db, path)
        _migrate(db)
        db.pragma("journal_size_limit", _LARGEST_LOG)
        db.pragma("synchronous", "normal")
        db.pragma("foreign_keys", True)
    except BaseException:
        db.close()
        raise
    return db


def _create(db: apsw.Connection) -> None:
    db.pragma("auto_vacuum", "incremental")
    db.pragma("journal_mode", "wal")
    with transaction(db):
        db.execute(_TABLES + _SERVERS)
        db.pragma("application_id", APPLICATION_ID)
        db.pragma("user_version", VERSION)


def _migrate(db: apsw.Connection) -> None:
    """Bring an older journal up to date; servers of an older version that have it open can still write to it."""
    if int(db.pragma("user_version")) < VERSION and not db.readonly("main"):
        with transaction(db):
            # Another process may have been first.
            for version in range(int(db.pragma("user_version")) + 1, VERSION + 1):
                db.execute(_ADDED[version])
                db.pragma("user_version", version)


def _check(db: apsw.Connection, path: Path) -> None:
    if int(db.pragma("user_version")) > VERSION:
        raise NewerStoreError(f"the journal {path} was made by a newer version of keyhole", ErrorKind.NEWER_INDEX)
    if db.pragma("application_id") != APPLICATION_ID:
        raise StoreError(f"{path} is not a keyhole journal", ErrorKind.DAMAGED_JOURNAL)
