"""The writer lock of a workspace; the system releases it if the process that holds it dies."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path

from keyhole.core.errors import ErrorKind, FullStoreError, LockedStoreError, UnwritableStoreError
from keyhole.core.index.location import LOCK_FILE
from keyhole.core.index.private_files import PRIVATE_FILE, make_private_folder


@contextmanager
def writer_lock(folder: Path, *, wait: bool, on_wait: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the writer lock; if another process holds it, `wait` for it or raise LockedStoreError."""
    from filelock import FileLock, Timeout

    lock = FileLock(folder / LOCK_FILE, mode=PRIVATE_FILE)
    try:
        make_private_folder(folder)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if not wait:
                raise LockedStoreError("another process is indexing this workspace", ErrorKind.LOCKED_INDEX) from None
            if on_wait:
                on_wait()
            lock.acquire()
    except OSError as error:
        if error.errno == ENOSPC:
            raise FullStoreError(f"no space left to write to {folder}", ErrorKind.FULL_DISK) from error
        raise UnwritableStoreError(f"cannot write to {folder} ({error.strerror})", ErrorKind.UNUSABLE_FOLDER) from error
    try:
        yield
    finally:
        lock.release()
