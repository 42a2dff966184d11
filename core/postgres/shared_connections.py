"""Connections that all readers of a process share: each answer borrows one, whichever repositories it is about.

The plans of statements belong to a connection, so few connections with all plans answer faster than many with some.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock

from psycopg.pq import TransactionStatus

from keyhole.core.deadline import acquire_slot
from keyhole.core.postgres.server_connection import Connection, connect_checked

# More would only wait for the interpreter lock and for the cores of the database.
MOST_CONNECTIONS = 8


class SharedConnections:
    """Lends connections that stay open; safe to use from any thread."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._slots = BoundedSemaphore(MOST_CONNECTIONS)
        self._lock = Lock()
        self._idle: list[Connection] = []
        self._is_closed = False

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait until a connection may be taken, and taken back at the end."""
        with acquire_slot(self._slots):
            yield

    def take(self) -> Connection:
        """Return the connection that was used last, or a new one; the server may have ended it meanwhile."""
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        return idle or connect_checked(self.url)

    def give_back(self, db: Connection) -> None:
        """Keep a connection for the next answer, unless something is wrong with it."""
        is_usable = not db.closed and db.info.transaction_status == TransactionStatus.IDLE
        with self._lock:
            is_kept = is_usable and not self._is_closed
            if is_kept:
                self._idle.append(db)
        if not is_kept:
            db.close()

    def close(self) -> None:
        """Close every connection; a lent one is closed when it is given back."""
        with self._lock:
            self._is_closed, idle, self._idle = True, self._idle, []
        for db in idle:
            db.close()
