"""Reading a file in an untrusted folder: it must be a regular file inside the folder, within the size limit."""

import os
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from keyhole.core.files.content import decode, skip_reason_for
from keyhole.core.files.secret_content import secret_content
from keyhole.core.files.secret_names import secret_names
from keyhole.core.files.stamps import settled, stamp_of, write_times
from keyhole.core.masking import Mask, find_and_mask
from keyhole.core.types.source_files import DEFAULT_SECRETS, SecretPolicy, Skip, SkipReason, SourceFile, Stamp

_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # opening a FIFO must not block
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)

_MAX_TRIES = 10
# The system reserves as much memory as a call asks to read, so a file that has grown is read in steps.
_GROWN_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class SourceReader:
    """Reads files of one workspace, with its limit and what the user has decided about secrets."""

    root: Path
    max_bytes: int
    secrets: SecretPolicy = DEFAULT_SECRETS

    def read(self, path: str) -> SourceFile | Skip:
        """Read and decode a file and mask its secrets, or return why it is skipped."""
        return read_source(self.root, path, max_bytes=self.max_bytes, secrets=self.secrets)

    def read_checked(self, path: str, checked: Stamp) -> str | None:
        """Return the text of a file that had this stamp when it was found to have no secrets; None if it has another.

        Looking for secrets again would take most of the time.
        """
        found = read_bytes(self.root, path, max_bytes=self.max_bytes)
        if isinstance(found, Skip) or stamp_of(found[1]) != checked:
            return None
        decoded = decode(found[0])
        return decoded[0] if decoded else None

    def read_all(self, paths: Iterable[str]) -> Iterator[SourceFile | Skip]:
        """Read files one after another, in this order."""
        return map(self.read, paths)

    def write_times(self, paths: Iterable[str]) -> dict[str, int]:
        """Return the time of the last write of each file that is still there, in nanoseconds."""
        return write_times(self.root, paths)


def read_source(root: Path, path: str, *, max_bytes: int, secrets: SecretPolicy = DEFAULT_SECRETS) -> SourceFile | Skip:
    """Read and decode a file and mask its secrets, or return why it is skipped."""
    read_at = time.time_ns()
    found = read_bytes(root, path, max_bytes=max_bytes)
    if isinstance(found, Skip):
        return found
    content, status = found
    decoded = decode(content)
    if decoded is None:
        return Skip(path, SkipReason.BINARY, "not a text file")
    text, encoding = decoded
    if not secret_names(secrets).readmits(path) and (secret := secret_content(path, text)):
        return Skip(path, SkipReason.SECRET, secret)
    if reason := skip_reason_for(path, text):
        return Skip(path, *reason)
    masked: tuple[Mask, ...] = ()
    if secrets.masks:
        text, masked = find_and_mask(text, content if encoding == "utf-8" else None)
    digest = blake2b(content, digest_size=16).hexdigest()
    _, written, changed, inode = settled(stamp_of(status), read_at)
    return SourceFile(path, len(content), written, digest, encoding, text, changed, inode, masked)


def read_bytes(root: Path, path: str, *, max_bytes: int) -> tuple[bytes, os.stat_result] | Skip:
    """Read a regular file inside the root, if it is not larger than `max_bytes`."""
    for _ in range(_MAX_TRIES):
        if found := _read_once(f"{root}/{path}", path, max_bytes):
            return found
    return Skip(path, SkipReason.UNREADABLE, "the file keeps being replaced")


def _read_once(full_path: str, path: str, max_bytes: int) -> tuple[bytes, os.stat_result] | Skip | None:
    """Read a file; None if it was replaced while it was open, as editors do when they save."""
    try:
        descriptor = os.open(full_path, _OPEN_FLAGS)
    except (OSError, ValueError) as error:
        return _unreadable(path, error)
    try:
        status = os.fstat(descriptor)
        if skip := _check_opened(full_path, path, descriptor, status, max_bytes):
            return skip
        if not os.path.samestat(os.lstat(full_path), status):
            return None
        content = _read_up_to(descriptor, status.st_size, max_bytes + 1)
    except (OSError, ValueError) as error:
        return _unreadable(path, error)
    finally:
        os.close(descriptor)
    return (content, status) if len(content) <= max_bytes else too_large(path, len(content), max_bytes)


def _read_up_to(descriptor: int, expected: int, limit: int) -> bytes:
    """Read until the end of the file or the limit, including what was appended since the file was opened."""
    content = b""
    while len(content) < limit:
        # Read one byte more than expected, to see whether the file has grown.
        end = expected + 1 if len(content) <= expected else min(limit, len(content) + _GROWN_BYTES)
        part = os.read(descriptor, end - len(content))
        if not part:
            break
        content += part
    return content


def _check_opened(full_path: str, path: str, descriptor: int, opened: os.stat_result, max_bytes: int) -> Skip | None:
    """Return why an open file must not be read; None if it may be."""
    if not stat.S_ISREG(opened.st_mode):
        return Skip(path, SkipReason.SPECIAL, "not a regular file")
    # The root is a resolved path. If the path of a file below it resolves to another one, it contains a link.
    real = os.path.normpath(full_path)
    if _system_path(descriptor) != real and os.path.realpath(full_path) != real:
        return Skip(path, SkipReason.SYMLINK, "its path contains a symbolic link")
    return too_large(path, opened.st_size, max_bytes) if opened.st_size > max_bytes else None


def _system_path(descriptor: int) -> str:
    """Return the path of an open file; only Linux provides it, and it saves checking every folder of the path."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115  # creating a Path takes longer than this call
    except OSError:
        return ""


def too_large(path: str, size: int, max_bytes: int) -> Skip:
    """Return the skip of a file over the size limit, naming the setting of the limit."""
    return Skip(path, SkipReason.TOO_LARGE, f"{size:,} bytes, limit {max_bytes:,} (index.max_file_bytes)")


def _unreadable(path: str, error: Exception) -> Skip:
    return Skip(path, SkipReason.UNREADABLE, getattr(error, "strerror", None) or str(error))
