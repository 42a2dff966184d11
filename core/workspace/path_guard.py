"""Resolving paths from callers, and reading only files that may be served."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from keyhole.core.deadline import check_time
from keyhole.core.errors import ErrorKind, PathError
from keyhole.core.files.listed_names import listed_path
from keyhole.core.files.read import read_source
from keyhole.core.files.walk import examine, printable
from keyhole.core.suggest import did_you_mean, suggest_paths
from keyhole.core.types.missing import Refusal
from keyhole.core.types.source_files import DEFAULT_SECRETS, Candidate, SecretPolicy, Skip, SkipReason, SourceFile

# Maps and reads serve files up to this size, whether they are indexed or not.
SERVED_BYTES = 50_000_000


class PathGuard:
    """Turns paths from callers into files of the workspace.

    `is_indexed` tells a deleted file from a wrong name, and suggestions are taken from `indexed_paths`.
    """

    def __init__(
        self,
        root: Path,
        is_indexed: Callable[[str], bool],
        indexed_paths: Callable[[], Iterable[str]],
        secrets: SecretPolicy = DEFAULT_SECRETS,
        max_bytes: int = SERVED_BYTES,
    ) -> None:
        self._root = root
        # The size limit of files that are indexed.
        self._max_bytes = max_bytes
        self._secrets = secrets
        self._is_indexed = is_indexed
        self._indexed_paths = indexed_paths

    def relative(self, path: str, *, must_exist: bool = True) -> str:
        """Return a path relative to the root for a path from a caller, or raise PathError."""
        try:
            # Resolve only the folder: if the file itself is a link, `read` reports that with its own reason.
            given = self._root / path
            inside = (given.parent.resolve() / given.name).relative_to(self._root)
        except (ValueError, OSError, RuntimeError):
            raise PathError(f"{printable(path)} is outside the workspace; paths are relative to its root") from None
        # os.path.isfile never raises, unlike Path.is_file.
        is_file = os.path.isfile(self._root / inside)  # noqa: PTH113
        if must_exist and not is_file and self._is_indexed(inside.as_posix()):
            raise PathError(f"{printable(path)} was deleted since it was indexed", ErrorKind.DELETED_FILE)
        if inside.name in ("", "..") or (must_exist and not is_file):
            is_folder = os.path.isdir(self._root / inside)  # noqa: PTH112
            raise PathError(
                f"{printable(path)} is {'a folder, not a file' if is_folder else 'not a file in the workspace'}",
                ErrorKind.NOT_A_FILE,
                suggestion="" if is_folder else did_you_mean(self._similar(inside.as_posix())),
            )
        return listed_path(self._root, inside.as_posix())

    def _similar(self, path: str) -> list[str]:
        """Return the indexed files that a missing path may stand for, if they are still there."""
        found = suggest_paths(path, self._indexed_paths())
        return [printable(path) for path in found if os.path.isfile(self._root / path)]  # noqa: PTH113

    def find(self, path: str) -> Candidate | Skip | None:
        """Return whether a path would be indexed, or why not; None if there is nothing."""
        if not os.path.lexists(self._root / path):
            return None
        return examine(self._root, path, max_bytes=self._max_bytes, secrets=self._secrets)

    def read(self, path: str) -> SourceFile:
        """Read the current content of a file, even if it is too large to be indexed or is a picture."""
        check_time()
        relative = self.relative(path)
        found = examine(self._root, relative, max_bytes=SERVED_BYTES, secrets=self._secrets)
        if isinstance(found, Candidate) or found.reason == SkipReason.PICTURE:
            source = read_source(self._root, relative, max_bytes=SERVED_BYTES, secrets=self._secrets)
        else:
            source = found
        if isinstance(source, SourceFile):
            return source
        if source.reason == SkipReason.TOO_LARGE:
            raise PathError(f"{source.path} is not served: larger than {SERVED_BYTES:,} bytes")
        if source.reason == SkipReason.SECRET:
            raise PathError(f"{source.path} is not served: {source.text}", ErrorKind.SECRET_FILE)
        raise PathError(f"{source.path} is not served: {source.text}")

    def read_or_refuse(self, path: str) -> SourceFile | Refusal:
        """Read one of several files; an error is returned in its place, not raised."""
        try:
            return self.read(path)
        except PathError as error:
            return Refusal(printable(path), str(error))
