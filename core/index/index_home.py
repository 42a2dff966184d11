"""Where the index of a workspace is: in a file of its own, or on a server (core/postgres)."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from keyhole.core.errors import ErrorKind, UnwritableStoreError
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.lock import has_writer, writer_lock

if TYPE_CHECKING:
    from keyhole.core.index.protocols import IndexStore


class IndexHome(Protocol):
    """Opens, locks and deletes the index of one workspace."""

    @property
    def address(self) -> str:
        """The place of the index, in words for people."""
        ...

    @property
    def keeps_text(self) -> bool:
        """Whether the index contains the texts of files, because its readers don't have the files."""
        ...

    def identity(self) -> object | None:
        """Return what tells this index from one that replaces it; None if there is no index yet."""

    def open_index(self, *, is_reader: bool = False) -> "AbstractContextManager[IndexStore]":
        """Open the index; leaving the `with` block closes it."""

    def open_reader(self) -> "IndexStore":
        """Open the index for a reader that stays open."""

    def writer_lock(self, *, wait: bool, on_wait: Callable[[], None] | None = None) -> AbstractContextManager[None]:
        """Hold the writer lock; if another process holds it, `wait` for it or raise LockedStoreError."""

    def has_writer(self) -> bool:
        """Return whether a process is indexing."""

    def is_sound(self) -> bool:
        """Return whether the index is not damaged; a missing one counts as sound."""

    def size_on_disk(self) -> int:
        """Return how many bytes the index takes."""

    def close(self) -> None:
        """Close what is kept open to find the index; it is opened again when it is needed."""

    def delete_elsewhere(self) -> bool:
        """Delete what of the index is not in the workspace's folder; return whether there was something."""


@dataclass(frozen=True, slots=True)
class SqliteHome:
    """An index in a file, in a folder with the journal and what else belongs to the workspace."""

    folder: Path

    @property
    def file(self) -> Path:
        """The path of the index file, which may not exist yet."""
        return self.folder / INDEX_FILE

    @property
    def address(self) -> str:
        """The path of the index file."""
        return str(self.file)

    @property
    def keeps_text(self) -> bool:
        """Whether the index contains the texts of files: they are on this disk."""
        return False

    def identity(self) -> object | None:
        """Return the device and inode numbers of the index file; None if there is none."""
        try:
            status = self.file.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            text = f"cannot read {self.folder} ({error.strerror})"
            raise UnwritableStoreError(text, ErrorKind.UNUSABLE_FOLDER) from error
        return status.st_dev, status.st_ino

    def open_index(self, *, is_reader: bool = False) -> "AbstractContextManager[IndexStore]":
        """Open the index file; a writer creates it."""
        from keyhole.core.index.store import Store

        return Store(self.file, is_reader=is_reader)

    def open_reader(self) -> "IndexStore":
        """Open the index file for a reader that stays open."""
        from keyhole.core.index.store import Store

        return Store(self.file, is_reader=True)

    def writer_lock(self, *, wait: bool, on_wait: Callable[[], None] | None = None) -> AbstractContextManager[None]:
        """Hold the lock file of the folder."""
        return writer_lock(self.folder, wait=wait, on_wait=on_wait)

    def has_writer(self) -> bool:
        """Return whether a process holds the lock file."""
        return has_writer(self.folder)

    def is_sound(self) -> bool:
        """Return whether the file can be opened and passes the integrity check."""
        from keyhole.core.index.store import is_sound

        return is_sound(self.file)

    def size_on_disk(self) -> int:
        """Return the size of the index file and its log."""
        return sum(_file_size(self.file.with_name(self.file.name + suffix)) for suffix in ("", "-wal"))

    def close(self) -> None:
        """Do nothing: no file is kept open."""

    def delete_elsewhere(self) -> bool:
        """Return False: everything is in the folder."""
        return False


def _file_size(path: Path) -> int:
    """Return the size of a file; 0 if it is missing, as the log is when no process has the index open."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
