"""A connection for short questions, which stays open and is opened again if the server has ended it."""

from collections.abc import Callable
from threading import Lock
from typing import TypeVar

import psycopg

from keyhole.core.postgres.server_connection import Connection, connect_checked, explained

Answer = TypeVar("Answer")


class KeptConnection:
    """Asks one question at a time; safe to use from any thread."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = Lock()
        self._db: Connection | None = None

    def ask(self, question: Callable[[Connection], Answer]) -> Answer:
        """Ask on the connection, and once more on a new one if the server has ended that."""
        with self._lock, explained(self._url):
            if self._db and not self._db.closed:
                try:
                    return question(self._db)
                except psycopg.OperationalError:
                    self._db.close()
            self._db = connect_checked(self._url)
            return question(self._db)

    def close(self) -> None:
        """Close the connection; the next question opens it again."""
        with self._lock:
            if self._db:
                self._db.close()
            self._db = None
