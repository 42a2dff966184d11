"""Opening the index file, and converting SQLite's errors to Keyhole's."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from keyhole.core.deadline import check_time, is_over
from keyhole.core.errors import (
    CorruptStoreError,
    ErrorKind,
    FullStoreError,
    LockedStoreError,
    NewerStoreError,
    UnwritableStoreError,
)
from keyhole.core.index import schema
from keyhole.core.index.private_files import create_private_file

# SQLite's mode in which unused pages can be returned to the system without copying the others.
INCREMENTAL = 2
_BUSY_MILLISECONDS = 10_000
# SQLite checks the deadline after this many of its steps, which take a fraction of a millisecond.
_STEPS = 20_000
# SQLite's access to files without any locks.
_WITHOUT_LOCKS = "unix-none"
_LEAST_FREE_BYTES = 100_000
# The log is copied to the file when it has so many pages (16 MB), and cut to so many bytes afterwards. Batches change
# many of the same pages, which this way are copied once for several batches.
_LOG_PAGES = 4_000
_LOG_BYTES = 4_000_000


def connect(path: Path, *, vfs: str | None = None, is_reader: bool = False) -> apsw.Connection:
    """Open an index, creating it or migrating it from an older version.

    A reader can also open an index that can't be written, as on a full disk or a read-only file system.
    """
    with explained(path):
        try:
            if not is_reader:
                # SQLite would let everyone read a new file. Its -wal and -shm files get the mode of this one.
                with suppress(OSError):
                    create_private_file(path)
            return _prepared(apsw.Connection(str(path), vfs=vfs), path)
        except (apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError, apsw.FullError, apsw.PermissionsError):
            db = connect_frozen(path) if is_reader else None
            if db is None:
                raise
    return _prepared(db, path, can_write=False)


def connect_frozen(path: Path) -> apsw.Connection | None:
    """Open an existing file without writing anything, not even the files that SQLite shares between processes.

    Nothing then protects a reader from a writer, so the connection should be closed soon. Return None if that fails.
    """
    for uri, locking in _frozen_uris(path):
        db = None
        try:
            db = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
            db.pragma("locking_mode", locking)
            db.pragma("user_version")
        except apsw.Error:
            if db is not None:
                db.close(True)
        else:
            return db
    return None


def _frozen_uris(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the ways to open a file without writing, the safest first, each with its locking mode."""
    uri = path.absolute().as_uri()
    # If another process has the index open, its files can be used.
    yield f"{uri}?mode=ro", "normal"
    try:
        has_log = path.with_name(f"{path.name}-wal").stat().st_size > 0
    except OSError:
        has_log = False
    if not has_log:
        yield f"{uri}?mode=ro&immutable=1", "normal"
    elif _WITHOUT_LOCKS in apsw.vfs_names():
        # The log of a killed writer. In exclusive mode SQLite indexes it in memory, and without locks it needs no
        # right to write.
        yield f"{uri}?mode=ro&vfs={_WITHOUT_LOCKS}", "exclusive"


@contextmanager
def transaction(db: apsw.Connection) -> Iterator[None]:
    """Commit everything inside, or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        # After some errors, such as a full disk, SQLite has already rolled back.
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Raise SQLite's errors as Keyhole's errors, which explain what happened."""
    try:
        yield
    except apsw.InterruptError:
        check_time()
        raise
    except (apsw.CorruptError, apsw.NotADBError, apsw.ConstraintError, UnicodeDecodeError) as error:
        raise CorruptStoreError(f"the index {path} is damaged ({error})", ErrorKind.DAMAGED_INDEX) from error
    except apsw.FullError as error:
        raise FullStoreError(f"no space left to write the index {path}", ErrorKind.FULL_DISK) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise LockedStoreError(f"the index {path} is in use by another process", ErrorKind.LOCKED_INDEX) from error
    except (apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError) as error:
        if isinstance(error, apsw.IOError) and _is_full(path.parent):
            raise FullStoreError(f"no space left to write the index {path}", ErrorKind.FULL_DISK) from error
        reason = system_problem(path) or str(error)
        raise UnwritableStoreError(f"cannot use the index {path} ({reason})", ErrorKind.UNUSABLE_FOLDER) from error


def _is_full(folder: Path) -> bool:
    """Return whether there is too little room for SQLite's own files, which it reports as an unspecific error."""
    try:
        return shutil.disk_usage(folder).free < _LEAST_FREE_BYTES
    except OSError:
        return False


def system_problem(path: Path) -> str:
    """Return why the system lets nobody read a file; empty if it can be read."""
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _prepared(db: apsw.Connection, path: Path, *, can_write: bool = True) -> apsw.Connection:
    try:
        _prepare(db, path, can_write=can_write)
    except BaseException:
        db.close(True)
        raise
    return db


def _prepare(db: apsw.Connection, path: Path, *, can_write: bool) -> None:
    db.set_busy_timeout(_BUSY_MILLISECONDS)
    db.set_progress_handler(is_over, _STEPS)
    if can_write:
        # Only a new file gets this mode without a copy of all pages, and setting it again would write.
        if not db.pragma("page_count"):
            db.pragma("auto_vacuum", INCREMENTAL)
        db.pragma("journal_mode", "wal")
        db.pragma("wal_autocheckpoint", _LOG_PAGES)
        db.pragma("journal_size_limit", _LOG_BYTES)
    # In WAL mode, "normal" loses no commit if the process dies, and does not corrupt the file if power fails.
    db.pragma("synchronous", "normal")
    db.pragma("temp_store", "memory")
    db.pragma("cache_size", -65_536)
    version = int(db.pragma("user_version"))
    if version and db.pragma("application_id") != schema.APPLICATION_ID:
        raise CorruptStoreError(f"{path} is not a keyhole index", ErrorKind.DAMAGED_INDEX)
    if version == schema.VERSION:
        return
    if version > schema.VERSION:
        raise NewerStoreError(f"the index {path} was made by a newer version of keyhole", ErrorKind.NEWER_INDEX)
    if not can_write:
        text = f"the index {path} is from an older version of keyhole, and can't be updated here"
        raise UnwritableStoreError(text, ErrorKind.UNUSABLE_FOLDER)
    with transaction(db):
        # Another process may have created the tables while this one waited.
        if db.pragma("user_version") == 0:
            _refuse_foreign(db, path)
            schema.create(db)
        schema.migrate(db)


def _refuse_foreign(db: apsw.Connection, path: Path) -> None:
    if db.execute("SELECT count(*) FROM sqlite_schema").get:
        raise CorruptStoreError(f"{path} is not a keyhole index", ErrorKind.DAMAGED_INDEX)
