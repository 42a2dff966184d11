"""Reading one file of an untrusted folder: only regular files, only inside, only as much as allowed."""

import os
import stat
from hashlib import blake2b
from pathlib import Path

from keyhole.core.files.content import decode, skip_reason_for
from keyhole.core.types import Skip, SkipReason, SourceFile

_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a FIFO must not block the open
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)

_MOST_TRIES = 10


def read_source(root: Path, path: str, *, max_bytes: int) -> SourceFile | Skip:
    """Read and decode a file, or say why it is passed over."""
    found = read_bytes(root, path, max_bytes=max_bytes)
    if isinstance(found, Skip):
        return found
    content, status = found
    decoded = decode(content)
    if decoded is None:
        return Skip(path, SkipReason.BINARY, "its content is not text")
    text, encoding = decoded
    if refused := skip_reason_for(path, text):
        return Skip(path, *refused)
    digest = blake2b(content, digest_size=16).hexdigest()
    return SourceFile(path, len(content), status.st_mtime_ns, digest, encoding, text)


def read_bytes(root: Path, path: str, *, max_bytes: int) -> tuple[bytes, os.stat_result] | Skip:
    """Read a regular file inside the root, up to a size."""
    for _ in range(_MOST_TRIES):
        if found := _read_once(f"{root}/{path}", path, max_bytes):
            return found
    return Skip(path, SkipReason.UNREADABLE, "it is being replaced again and again")


def _read_once(full_path: str, path: str, max_bytes: int) -> tuple[bytes, os.stat_result] | Skip | None:
    """Read a file; None when another has taken its place meanwhile, as editors do when they save."""
    try:
        descriptor = os.open(full_path, _OPEN_FLAGS)
    except (OSError, ValueError) as error:
        return _unreadable(path, error)
    try:
        status = os.fstat(descriptor)
        if refused := _refused(full_path, path, descriptor, status, max_bytes):
            return refused
        if not os.path.samestat(os.lstat(full_path), status):
            return None
        content = _read_up_to(descriptor, status.st_size, max_bytes + 1)
    except (OSError, ValueError) as error:
        return _unreadable(path, error)
    finally:
        os.close(descriptor)
    return (content, status) if len(content) <= max_bytes else too_large(path, len(content), max_bytes)


def _read_up_to(descriptor: int, expected: int, most: int) -> bytes:
    """Read until the end, or until there is so much; what a file has gained since it was opened counts too."""
    content = b""
    while len(content) < most:
        wanted = expected + 1 if len(content) <= expected else most
        part = os.read(descriptor, wanted - len(content))
        if not part:
            break
        content += part
    return content


def _refused(full_path: str, path: str, descriptor: int, opened: os.stat_result, max_bytes: int) -> Skip | None:
    """Say why a file that is open already is not to be read."""
    if not stat.S_ISREG(opened.st_mode):
        return Skip(path, SkipReason.SPECIAL, "not a regular file")
    # The root is a real path, so the way to a file below it is real as well, or leads elsewhere.
    real = os.path.normpath(full_path)
    if _system_path(descriptor) != real and os.path.realpath(full_path) != real:
        return Skip(path, SkipReason.SYMLINK, "there is a link on the way to it")
    return too_large(path, opened.st_size, max_bytes) if opened.st_size > max_bytes else None


def _system_path(descriptor: int) -> str:
    """Ask the system which file is open; only Linux tells, and it spares a look at every folder on the way."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115  # a Path costs more than the look
    except OSError:
        return ""


def too_large(path: str, size: int, max_bytes: int) -> Skip:
    """Say that a file is over the limit, and which setting holds the limit."""
    return Skip(path, SkipReason.TOO_LARGE, f"{size:,} bytes, over index.max_file_bytes = {max_bytes:,}")


def _unreadable(path: str, error: Exception) -> Skip:
    return Skip(path, SkipReason.UNREADABLE, getattr(error, "strerror", None) or str(error))
