"""Where the index of several repositories of a team is; nobody writes it as a whole."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Never

from keyhole.core.errors import ErrorKind, UnwritableStoreError
from keyhole.core.masking import mask_address
from keyhole.core.postgres.postgres_store import PostgresStore
from keyhole.core.postgres.repository_set import RepositorySet
from keyhole.core.postgres.shared_connections import SharedConnections
from keyhole.core.postgres.shared_reader import SharedReader


@dataclass(frozen=True, slots=True)
class GroupHome:
    """Opens readers of a set of repositories."""

    connections: SharedConnections
    repositories: RepositorySet

    @property
    def address(self) -> str:
        """The address of the database without its password."""
        return mask_address(self.connections.url)

    @property
    def keeps_text(self) -> bool:
        """Whether the index contains the texts of files: readers have nothing else."""
        return True

    def identity(self) -> object:
        """Return what tells this set from others."""
        return self.repositories.numbers

    def open_index(self, *, is_reader: bool = False) -> AbstractContextManager[PostgresStore]:
        """Open the index for reading."""
        return self.open_reader() if is_reader else self._refuse()

    def open_reader(self) -> PostgresStore:
        """Open the index for a reader that stays open."""
        return SharedReader(self.connections, self.repositories)

    def writer_lock(self, *, wait: bool, on_wait: Callable[[], None] | None = None) -> AbstractContextManager[None]:  # noqa: ARG002
        """Refuse: workers write one repository at a time."""
        return self._refuse()

    def has_writer(self) -> bool:
        """Return False: while a repository is indexed, its readers see the revision before."""
        return False

    def is_sound(self) -> bool:
        """Return True: the server checks and repairs its own files."""
        return True

    def size_on_disk(self) -> int:
        """Return 0: many repositories share the tables."""
        return 0

    def close(self) -> None:
        """Do nothing: whoever opened the connections closes them."""

    def delete_elsewhere(self) -> bool:
        """Refuse: `keyhole team remove` deletes a repository."""
        return self._refuse()

    def _refuse(self) -> Never:
        raise UnwritableStoreError("a team's repositories are only read here", ErrorKind.NO_DATABASE_RIGHTS)
