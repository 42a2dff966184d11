"""The files of a team's repositories: their texts and paths come from the database, and nothing from a disk."""

import posixpath
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path, PurePosixPath

from keyhole.core.deadline import check_time
from keyhole.core.errors import ErrorKind, PathError
from keyhole.core.files.walk import printable
from keyhole.core.postgres.postgres_store import PostgresStore
from keyhole.core.suggest import did_you_mean, suggest_paths
from keyhole.core.types.source_files import Candidate, SecretPolicy, Skip, SkipReason, SourceFile, Stamp
from keyhole.core.workspace.engine_pool import EnginePool
from keyhole.core.workspace.path_guard import PathGuard

# So many texts are in memory at a time while a pattern is searched for.
_BATCH = 64
_NO_TEXT = "its text is not in the database"


class StoredFiles:
    """The texts of files, read by the same connection as the index: an answer never mixes two revisions."""

    def __init__(self, store: PostgresStore, secrets: SecretPolicy) -> None:
        self._store = store
        self.secrets = secrets
        self._expected: dict[str, SourceFile] = {}

    def read(self, path: str) -> SourceFile | Skip:
        """Return the text of a file, in which secrets are masked."""
        found = self._expected.pop(path, None) or self._store.sources_at([path]).get(path)
        return found or Skip(path, SkipReason.UNREADABLE, _NO_TEXT)

    def read_all(self, paths: Iterable[str]) -> Iterator[SourceFile | Skip]:
        """Return the texts of files, in this order."""
        left = iter(paths)
        while batch := list(islice(left, _BATCH)):
            found = self._store.sources_at(batch)
            for path in batch:
                yield found.get(path) or Skip(path, SkipReason.UNREADABLE, _NO_TEXT)

    def expect(self, paths: Iterable[str]) -> None:
        """Get the texts of these files with one question."""
        self._expected = self._store.sources_at(paths)

    def read_checked(self, path: str, checked: Stamp) -> str | None:  # noqa: ARG002  # nothing changes
        """Return the text of a file."""
        found = self.read(path)
        return found.text if isinstance(found, SourceFile) else None

    def write_times(self, paths: Iterable[str]) -> dict[str, int]:
        """Return the time of the last write of each file."""
        return self._store.times_of(paths)


class StoredPaths(PathGuard):
    """Turns paths from callers into files of the repositories that they may see; all others do not exist."""

    def __init__(self, root: Path, engines: EnginePool) -> None:
        self._engines = engines
        self._top = PurePosixPath(root.as_posix())
        self._current = threading.local()
        super().__init__(root, self._has_file, self._all_paths)

    @contextmanager
    def one_revision(self) -> Iterator[None]:
        """Read everything inside from one state of the database."""
        with self._reading() as store:
            self._current.store = store
            try:
                yield
            finally:
                self._current.store = None

    @contextmanager
    def _reading(self) -> Iterator[PostgresStore]:
        if store := getattr(self._current, "store", None):
            yield store
            return
        with self._engines.lend() as engine, engine.store.snapshot():
            assert isinstance(engine.store, PostgresStore)  # noqa: S101  # a team has no other
            yield engine.store

    def relative(self, path: str, *, must_exist: bool = True) -> str:
        """Return a path as the index has it, for a path from a caller, or raise PathError."""
        given = PurePosixPath(posixpath.normpath(posixpath.join(str(self._top), path)))
        if not given.is_relative_to(self._top):
            raise PathError(f"{printable(path)} is outside the workspace; paths are relative to its root")
        inside = given.relative_to(self._top)
        found = inside.as_posix()
        if not must_exist and inside.name:
            return found
        with self._reading() as store:
            skip = store.skip_of(found)
            if inside.name and (store.file_id(found) is not None or (skip and not skip.is_dir)):
                return found
            is_folder = not inside.name or bool(skip) or store.count_files_in(found) > 0
            similar = [] if is_folder else suggest_paths(found, store.paths())
        raise PathError(
            f"{printable(path)} is {'a folder, not a file' if is_folder else 'not a file in the workspace'}",
            ErrorKind.NOT_A_FILE,
            suggestion=did_you_mean(list(map(printable, similar))),
        )

    def find(self, path: str) -> Candidate | Skip | None:
        """Return an indexed or skipped file; None if there is nothing."""
        with self._reading() as store:
            if path in (known := store.file_stamps([path])):
                return Candidate(path, *known[path].stamp)
            return store.skip_of(path)

    def read(self, path: str) -> SourceFile:
        """Read a file as it was indexed."""
        check_time()
        with self._reading() as store:
            relative = self.relative(path)
            if found := store.sources_at([relative]).get(relative):
                return found
            skip = store.skip_of(relative)
        text = f"{printable(relative)} is not served: {skip.text if skip else _NO_TEXT}"
        if skip and skip.reason == SkipReason.SECRET:
            raise PathError(text, ErrorKind.SECRET_FILE)
        raise PathError(text)

    def _has_file(self, path: str) -> bool:
        with self._reading() as store:
            return store.file_id(path) is not None

    def _all_paths(self) -> list[str]:
        with self._reading() as store:
            return store.paths()
