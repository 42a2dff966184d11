"""The index of a workspace on a PostgreSQL server: found, opened, locked and deleted by the name of its repository."""

import platform
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from keyhole.core.errors import ErrorKind, StoreError
from keyhole.core.masking import mask_address
from keyhole.core.postgres.kept_connection import KeptConnection
from keyhole.core.postgres.postgres_schema import TABLES
from keyhole.core.postgres.postgres_store import PostgresStore
from keyhole.core.postgres.repository_lock import has_writer_on, repository_lock
from keyhole.core.postgres.repository_set import RepositorySet
from keyhole.core.postgres.server_connection import Connection


class PostgresHome:
    """Where the index of one workspace is; safe to use from any thread."""

    def __init__(self, url: str, name: str, root: Path) -> None:
        self._url = url
        # The same folder on two machines has different files.
        self._name = f"{name}@{platform.node()}"
        self._root = root
        self._kept = KeptConnection(url)

    @property
    def address(self) -> str:
        """The address of the database without its password, and the name of the repository."""
        return f"{mask_address(self._url)} ({self._name})"

    @property
    def keeps_text(self) -> bool:
        """Whether the index contains the texts of files: they are where the workspace is."""
        return False

    def identity(self) -> int | None:
        """Return the number of the repository; None if the server does not know it yet."""
        named = "SELECT id FROM repository WHERE name = %s"
        found = self._kept.ask(lambda db: db.execute(named, [self._name]).fetchone())
        return found[0] if found else None

    def open_index(self, *, is_reader: bool = False) -> AbstractContextManager[PostgresStore]:
        """Open the index; a writer adds the repository if the server does not know it yet."""
        return self.open_reader() if is_reader else PostgresStore(self._url, RepositorySet((self._repository(),)))

    def open_reader(self) -> PostgresStore:
        """Open the index for a reader that stays open."""
        repository = self.identity()
        if repository is None:
            raise StoreError("this workspace has no index yet", ErrorKind.NO_INDEX)
        return PostgresStore(self._url, RepositorySet((repository,)))

    def writer_lock(self, *, wait: bool, on_wait: Callable[[], None] | None = None) -> AbstractContextManager[None]:
        """Hold the lock of the repository on the server."""
        return repository_lock(self._url, self._repository(), wait=wait, on_wait=on_wait)

    def has_writer(self) -> bool:
        """Return whether a process on any machine is indexing."""
        repository = self.identity()
        return repository is not None and self._kept.ask(lambda db: has_writer_on(db, repository))

    def is_sound(self) -> bool:
        """Return True: the server checks and repairs its own files."""
        return True

    def size_on_disk(self) -> int:
        """Return 0: many repositories share the tables."""
        return 0

    def close(self) -> None:
        """Close the connection for short questions."""
        self._kept.close()

    def delete_elsewhere(self) -> bool:
        """Delete all rows of the repository; return whether there were any."""
        repository = self.identity()
        if repository is None:
            return False
        with self.writer_lock(wait=False):
            self._kept.ask(lambda db: delete_repository(db, repository))
        return True

    def _repository(self) -> int:
        """Return the number of the repository, which is added if it is new."""
        added = "INSERT INTO repository (name, host, root) VALUES (%s, %s, %s) ON CONFLICT (name) DO NOTHING"
        root = str(self._root).encode("utf-8", "replace").decode()
        self._kept.ask(lambda db: db.execute(added, [self._name, platform.node(), root]))
        found = self.identity()
        if found is None:
            raise StoreError("another process is deleting this index", ErrorKind.LOCKED_INDEX)
        return found


def delete_repository(db: Connection, repository: int) -> None:
    """Delete all rows of a repository, whose writer lock must be held."""
    with db.transaction():
        for table in TABLES:
            db.execute(f"DELETE FROM {table} WHERE repo = %s", [repository])  # noqa: S608
        db.execute("DELETE FROM repository WHERE id = %s", [repository])
