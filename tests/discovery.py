"""Helpers to write files and to walk them."""

import time
from pathlib import Path

from keyhole.core.files.walk import scan
from keyhole.core.types.source_files import Skip

LIMIT = 1_000_000


def put(root: Path, path: str, content: str | bytes = "x = 1\n") -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content.encode() if isinstance(content, str) else content)


def settle() -> None:
    """Wait until the files just written are older than the steps in which file systems count time."""
    time.sleep(0.03)


def found(root: Path) -> list[str]:
    return [candidate.path for candidate in scan(root, max_bytes=LIMIT).candidates]


def skipped(root: Path) -> dict[str, Skip]:
    return {skip.path: skip for skip in scan(root, max_bytes=LIMIT).skips}
