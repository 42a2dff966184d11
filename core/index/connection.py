"""Opening the index file, and converting SQLite's errors to Keyhole's."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from keyhole.core.deadline import check_time, is_over
from keyhole.core.errors import (
    CorruptStoreError,
    ErrorKind,
    FullStoreError,
    LockedStoreError,
    NewerStoreError,
    StoreError,
)
from keyhole.core.index import schema

_BUSY_MILLISECONDS = 10_000
# SQLite checks the deadline after this many of its steps, which take a fraction of a millisecond.
_STEPS = 20_000


def connect(path: Path, *, vfs: str | None = None) -> apsw.Connection:
    """Open an index, creating it or migrating it from an older version."""
    with explained(path):
        db = apsw.Connection(str(path), vfs=vfs)
        try:
            _prepare(db, path)
        except BaseException:
            db.close()
            raise
    return db


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
        raise StoreError(f"cannot use the index {path} ({error})", ErrorKind.UNUSABLE_FOLDER) from error


def _prepare(db: apsw.Connection, path: Path) -> None:
    db.set_busy_timeout(_BUSY_MILLISECONDS)
    db.set_progress_handler(is_over, _STEPS)
    db.pragma("journal_mode", "wal")
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
    with transaction(db):
        # Another process may have created the tables while this one waited.
        if db.pragma("user_version") == 0:
            _refuse_foreign(db, path)
            schema.create(db)
        schema.migrate(db)


def _refuse_foreign(db: apsw.Connection, path: Path) -> None:
    if db.execute("SELECT count(*) FROM sqlite_schema").get:
        raise CorruptStoreError(f"{path} is not a keyhole index", ErrorKind.DAMAGED_INDEX)
