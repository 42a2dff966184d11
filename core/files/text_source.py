"""Where the texts of files come from: the folder of a workspace (`SourceReader`), or the database of a team."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from keyhole.core.types.source_files import SecretPolicy, Skip, SourceFile, Stamp


class TextSource(Protocol):
    """Reads files by their paths in the workspace."""

    @property
    def secrets(self) -> SecretPolicy:
        """What the user has decided about secrets."""
        ...

    def read(self, path: str) -> SourceFile | Skip:
        """Read a file with its secrets masked, or return why it is skipped."""

    def read_all(self, paths: Iterable[str]) -> Iterator[SourceFile | Skip]:
        """Read files one after another, in this order."""

    def expect(self, paths: Iterable[str]) -> None:
        """Get ready to read these files one by one."""

    def read_checked(self, path: str, checked: Stamp) -> str | None:
        """Return the text of a file that had this stamp when it was found to have no secrets, or None."""

    def write_times(self, paths: Iterable[str]) -> dict[str, int]:
        """Return the time of the last write of each file that is still there, in nanoseconds."""
