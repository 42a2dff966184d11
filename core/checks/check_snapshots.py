"""Snapshots of answers, and other files that checks write into the workspace: never through a link, never outside."""

import os
import re
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from keyhole.core.errors import ConfigError
from keyhole.core.files.read import read_bytes
from keyhole.core.types.source_files import Skip

SNAPSHOTS = ".keyhole/snapshots"
_MAX_BYTES = 10_000_000
_LONGEST_NAME = 60


def snapshot_path(name: str) -> str:
    """Return where the snapshot of a check is kept; names that are written alike still get different files."""
    readable = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:_LONGEST_NAME]
    return f"{SNAPSHOTS}/{readable}-{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}.txt"


def read_snapshot(root: Path, path: str) -> str | None:
    """Return a snapshot; None if there is none."""
    if not os.path.lexists(root / path):
        return None
    content = read_bytes(root, path, max_bytes=_MAX_BYTES)
    if isinstance(content, Skip):
        raise ConfigError(f"cannot read {path}: {content.detail}")
    return content[0].decode("utf-8", "replace")


def write_inside(root: Path, path: str, text: str) -> None:
    """Replace a file of the workspace at once; refuse a path that a link leads out of it."""
    target = root / path
    try:
        # The folders above may be links that the repository contains.
        for folder in [root / part for part in reversed(Path(path).parents[:-1])]:
            if folder.is_symlink():
                raise ConfigError(f"{folder.relative_to(root)} is a symbolic link; {path} was not written")
            folder.mkdir(exist_ok=True)
        if target.is_symlink() or (target.exists() and not target.is_file()):
            raise ConfigError(f"{path} is not a regular file; it was not written")
        number, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(number, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
                file.write(text)
            mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
            Path(name).chmod(mode)
            Path(name).replace(target)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error


def first_difference(expected: str, found: str) -> str:
    """Return the first line that differs between two texts, for a report."""
    before, after = expected.split("\n"), found.split("\n")
    for number, (old, new) in enumerate(zip(before, after, strict=False), 1):
        if old != new:
            return f"line {number:,} was {old!r}, is {new!r}"
    return f"had {len(before):,} lines, has {len(after):,}"
