"""The writer lock of a repository: the server releases it if the connection that holds it ends."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psycopg

from keyhole.core.errors import ErrorKind, LockedStoreError
from keyhole.core.postgres.job_rows import name_connection
from keyhole.core.postgres.server_connection import Connection, connect, explained

# The first number of all locks of Keyhole; the second one is the repository.
_LOCKS = 0x4B68


@contextmanager
def repository_lock(
    url: str, repository: int, *, wait: bool, on_wait: Callable[[], None] | None = None, name: str = ""
) -> Iterator[None]:
    """Hold the writer lock; if another process holds it, `wait` for it or raise LockedStoreError.

    `name` is what the connection is called on the server.
    """
    db = connect(url)
    try:
        with explained(url):
            if name:
                name_connection(db, name)
            _lock(db, repository, wait=wait, on_wait=on_wait)
        try:
            yield
        finally:
            # The server also releases it when the connection ends, but only some time later.
            with suppress(psycopg.Error):
                db.execute("SELECT pg_advisory_unlock(%s::integer, %s::integer)", [_LOCKS, repository])
    finally:
        db.close()


def _lock(db: Connection, repository: int, *, wait: bool, on_wait: Callable[[], None] | None) -> None:
    key = [_LOCKS, repository]
    tried = db.execute("SELECT pg_try_advisory_lock(%s::integer, %s::integer)", key).fetchone()
    if tried and tried[0]:
        return
    if not wait:
        raise LockedStoreError("another process is indexing this workspace", ErrorKind.LOCKED_INDEX)
    if on_wait:
        on_wait()
    db.execute("SELECT pg_advisory_lock(%s::integer, %s::integer)", key)


def has_writer_on(db: Connection, repository: int) -> bool:
    """Return whether some process holds the writer lock now."""
    held = """SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
        AND classid = %s::integer::oid AND objid = %s::integer::oid
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
    return db.execute(held, [_LOCKS, repository]).fetchone() is not None
