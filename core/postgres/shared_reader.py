"""A reader of a team's repositories: borrows a connection for each answer, and keeps what only new revisions change."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from keyhole.core.index.rows import FileId
from keyhole.core.postgres.postgres_facts import Facts
from keyhole.core.postgres.postgres_store import PostgresStore
from keyhole.core.postgres.repository_set import RepositorySet
from keyhole.core.postgres.shared_connections import SharedConnections

Answer = TypeVar("Answer")
# Changes with every revision of one of the repositories. A sum, because revisions may end in another order than they
# were numbered in, so that the highest time could stay the same.
_REVISIONS = """SELECT count(*), coalesce(sum(extract(epoch FROM indexed)), 0)::text FROM repository
    WHERE id = %(repo)s"""


class SharedReader(PostgresStore):
    """Reads some repositories of a team; it has a connection only during an answer."""

    def __init__(self, connections: SharedConnections, repositories: RepositorySet) -> None:
        self._connections = connections
        # What was found out about some revisions, and which ones the current answer reads.
        self._kept: dict[object, Any] = {}
        self._kept_for: object = None
        self._revisions: object = None
        super().__init__(connections.url, repositories)

    def _open(self) -> None:
        """Open nothing."""

    def close(self) -> None:
        """Close nothing: the connections belong to all readers."""

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything inside from one state of the index, even while another process writes."""
        with self._connections.slot():
            self._db = self._connections.take()
            try:
                with super().snapshot():
                    yield
            finally:
                self._revisions = None
                self._connections.give_back(self._db)

    def files_in(self, language: str = "") -> list[FileId]:
        """Return every file, or those in one language."""
        return self._once(("files", language), lambda: super(SharedReader, self).files_in(language))

    def count_files(self) -> int:
        """Count all files."""
        return self._once("file count", super().count_files)

    def count_skips(self) -> int:
        """Count the paths that are not indexed."""
        return self._once("skips", super().count_skips)

    def count_outdated_files(self, analysis: int) -> int:
        """Count the files whose rows another version of the analysis made."""
        return self._once(("outdated", analysis), lambda: super(SharedReader, self).count_outdated_files(analysis))

    def _all_facts(self) -> Facts:
        return self._once("facts", super()._all_facts)

    def _once(self, what: object, ask: Callable[[], Answer]) -> Answer:
        """Return an answer that is the same until one of the repositories gets a new revision."""
        if not self._is_reading:
            return ask()
        if self._revisions is None:
            (self._revisions,) = self.direct(_REVISIONS)
        if self._kept_for != self._revisions:
            self._kept, self._kept_for = {}, self._revisions
        if what not in self._kept:
            self._kept[what] = ask()
        answer: Answer = self._kept[what]
        return answer

    def _run(self, sql: str, values: dict[str, object]) -> list[tuple[Any, ...]]:
        if self._is_reading:
            return super()._run(sql, values)
        with self.snapshot():
            return super()._run(sql, values)
