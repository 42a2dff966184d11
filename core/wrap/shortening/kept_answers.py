"""Oversized answers on disk, so that an agent can ask for the rest, also after a restart.

They are kept as the server sent them, in files that only their owner may read, up to a size and an age.
"""

import json
import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from keyhole.core.index.private_files import write_private_file
from keyhole.core.wrap.shortening.answer_blocks import Block
from keyhole.core.wrap.shortening.documents import AnswerDocument

_HANDLE = re.compile(r"[0-9a-f]{10}")
_SUFFIX = ".answer.json"
MAX_BYTES = 200_000_000
MAX_SECONDS = 7 * 86_400.0


class KeptAnswers:
    """The kept answers in a folder; the same answer always has the same handle."""

    def __init__(
        self,
        folder: Path,
        *,
        max_bytes: int = MAX_BYTES,
        max_seconds: float = MAX_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._max_seconds = max_seconds
        self._clock = clock
        # An agent mostly continues with the answer that it has just read.
        self._last: tuple[str, AnswerDocument] | None = None

    def keep(self, blocks: Sequence[Block], numbers: Sequence[int]) -> str:
        """Keep blocks of an answer, with their numbers in it, and return their handle; raise OSError if that fails."""
        text = json.dumps({"blocks": blocks, "numbers": numbers})
        if len(text) > self._max_bytes:
            raise OSError(f"the answer has {len(text):,} bytes, and at most {self._max_bytes:,} are kept")
        handle = blake2b(text.encode(), digest_size=5).hexdigest()
        write_private_file(self._path(handle), text)
        self._remove_old()
        return handle

    def find(self, handle: str) -> AnswerDocument | None:
        """Return a kept answer; None if there is none, or no longer."""
        if not _HANDLE.fullmatch(handle):
            return None
        path = self._path(handle)
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            if self._clock() - path.stat().st_mtime > self._max_seconds:
                return None
            if self._last is None or self._last[0] != handle:
                kept = json.loads(path.read_text("utf-8"))
                self._last = handle, AnswerDocument.of(kept["blocks"], kept["numbers"])
            # An answer that is still read is the last to be removed.
            with suppress(OSError):
                os.utime(path)
            return self._last[1]
        return None

    def _path(self, handle: str) -> Path:
        return self._folder / f"{handle}{_SUFFIX}"

    def _remove_old(self) -> None:
        """Remove what is too old, and the oldest of what is too much."""
        total = 0
        for path, changed, size in sorted(self._files(), key=lambda file: -file[1]):
            total += size
            if total > self._max_bytes or self._clock() - changed > self._max_seconds:
                with suppress(OSError):
                    path.unlink()

    def _files(self) -> list[tuple[Path, float, int]]:
        found = []
        for path in self._folder.glob(f"*{_SUFFIX}"):
            # Another process may have removed it.
            with suppress(OSError):
                status = path.stat()
                found.append((path, status.st_mtime, status.st_size))
        return found
