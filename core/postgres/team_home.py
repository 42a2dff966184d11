"""Writing a revision of a team's repository: it appears at once, and only if its worker still has the job.

Nothing of it depends on the folder it was unpacked to: files are known by their content, never by their times.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from keyhole.core.errors import StoreError
from keyhole.core.masking import mask_address
from keyhole.core.postgres.job_rows import end_job, name_connection
from keyhole.core.postgres.postgres_store import PostgresStore
from keyhole.core.postgres.repository_lock import has_writer_on, repository_lock
from keyhole.core.postgres.repository_set import RepositorySet
from keyhole.core.postgres.server_connection import connect, explained
from keyhole.core.types.source_files import Stamp


@dataclass(frozen=True, slots=True)
class ClaimedRevision:
    """A revision that a worker is to write."""

    repository: int
    revision: str
    worker: str


class TeamHome:
    """Where the index of one of a team's repositories is, for the worker that writes a revision of it."""

    def __init__(self, url: str, claimed: ClaimedRevision) -> None:
        self._url = url
        self._claimed = claimed

    @property
    def address(self) -> str:
        """The address of the database without its password, and the number of the repository."""
        return f"{mask_address(self._url)} (repository {self._claimed.repository})"

    @property
    def keeps_text(self) -> bool:
        """Whether the index contains the texts of files: its readers don't have the files."""
        return True

    def identity(self) -> int | None:
        """Return the number of the repository."""
        return self._claimed.repository

    def open_index(self, *, is_reader: bool = False) -> AbstractContextManager[PostgresStore]:
        """Open the index to write the revision."""
        return self.open_reader() if is_reader else TeamWriter(self._url, self._claimed)

    def open_reader(self) -> PostgresStore:
        """Open the index for a reader."""
        return PostgresStore(self._url, RepositorySet((self._claimed.repository,)))

    def writer_lock(self, *, wait: bool, on_wait: Callable[[], None] | None = None) -> AbstractContextManager[None]:
        """Hold the lock of the repository on the server."""
        claimed = self._claimed
        return repository_lock(self._url, claimed.repository, wait=wait, on_wait=on_wait, name=claimed.worker)

    def has_writer(self) -> bool:
        """Return whether a process on any machine is indexing."""
        with explained(self._url), connect(self._url) as db:
            return has_writer_on(db, self._claimed.repository)

    def is_sound(self) -> bool:
        """Return True: the server checks and repairs its own files."""
        return True

    def size_on_disk(self) -> int:
        """Return 0: many repositories share the tables."""
        return 0

    def close(self) -> None:
        """Do nothing: no connection stays open."""

    def delete_elsewhere(self) -> bool:
        """Refuse: `keyhole team remove` deletes a team's repository."""
        raise StoreError("a repository of a team can't be deleted like this")


class TeamWriter(PostgresStore):
    """Writes one revision, all or nothing; the transaction fails if another worker has the job at its end."""

    def __init__(self, url: str, claimed: ClaimedRevision) -> None:
        super().__init__(url, RepositorySet((claimed.repository,)))
        self._claimed = claimed
        with explained(url):
            name_connection(self._db, claimed.worker)

    @contextmanager
    def revision(self) -> Iterator[None]:
        """Make everything inside appear to readers at once, or not at all, and end the job with it."""
        with super().revision():
            yield
            self._write_waiting()
            with explained(self.url):
                end_job(self._db, self._claimed.repository, self._claimed.worker)
            self.direct(_RECORD, id=self._claimed.repository, revision=self._claimed.revision)

    def announce(self, *, pending: int, total: int) -> None:
        """Do nothing: readers see the old revision until the new one is complete."""

    def restamp_file(self, path: str, stamp: Stamp) -> None:
        """Do nothing: times of files in a temporary folder say nothing."""


_RECORD = "UPDATE repository SET revision = %(revision)s, indexed = clock_timestamp() WHERE id = %(id)s"
