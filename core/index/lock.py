"""The writer lock of a workspace; the system releases it if the process that holds it dies."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path

from keyhole.core.errors import ErrorKind, FullStoreError, LockedStoreError, StoreError, UnwritableStoreError
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


def has_writer(folder: Path) -> bool:
    """Return whether some process holds the writer lock now; looking does not disturb a writer or others who look."""
    try:
        import fcntl
    except ImportError:  # Windows
        return _has_writer_by_trying(folder)
    try:
        lock = os.open(folder / LOCK_FILE, os.O_RDONLY)
    except OSError:
        # Without the file nobody has ever locked it.
        return False
    try:
        # Only readers of the lock share it: a writer holds it alone.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def _has_writer_by_trying(folder: Path) -> bool:
    try:
        with writer_lock(folder, wait=False):
            return False
    except LockedStoreError:
        return True
    except StoreError:
        return False
