"""Stamps of files: facts that show whether a file has changed, without reading it."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from keyhole.core.deadline import check_time
from keyhole.core.types.source_files import Stamp

# No file has this time, so a file recorded with it is always read again.
UNKNOWN_TIME = -1
UNKNOWN_STAMP: Stamp = (0, UNKNOWN_TIME, 0, 0)

# Longer than the steps in which file systems count time. If both times of a file are whole seconds, its file system may
# count in steps of up to two seconds, as FAT does.
_FINE_STEP_NS = 20_000_000
_COARSE_STEP_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000
# On Windows the second time is that of creation, and a folder's listing has no inodes, so only size and time count.
_HAS_CHANGE_TIME = os.name != "nt"
# SQLite cannot store larger numbers; some file systems have larger inodes, and times before 1970 or after 2262.
_LARGEST = 2**63 - 1


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp of a file."""
    written = status.st_mtime_ns & _LARGEST
    if not _HAS_CHANGE_TIME:
        return status.st_size, written, 0, 0
    # A program can set the time of the last write, but not the time of the last change.
    return status.st_size, written, status.st_ctime_ns & _LARGEST, status.st_ino & _LARGEST


def write_times(root: Path, paths: Iterable[str]) -> dict[str, int]:
    """Return the time of the last write of each file that is still there, in nanoseconds."""
    found: dict[str, int] = {}
    for path in paths:
        check_time()
        with suppress(OSError):
            found[path] = (root / path).lstat().st_mtime_ns
    return found


def settled(stamp: Stamp, read_at: int) -> Stamp:
    """Return the stamp to record for content that was read at a time in nanoseconds.

    If the file had changed just before, another write may get the same stamp. Then its time is recorded as unknown, so
    that the next run compares the content.
    """
    size, written, changed, inode = stamp
    is_coarse = written % _SECOND_NS == 0 and changed % _SECOND_NS == 0
    step = _COARSE_STEP_NS if is_coarse else _FINE_STEP_NS
    is_recent = abs(read_at - written) <= step or abs(read_at - changed) <= step
    return (size, UNKNOWN_TIME, changed, inode) if is_recent else stamp
