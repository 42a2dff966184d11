"""What a program is doing right now, in a few bytes that another process reads, also after the program was killed."""

import mmap
from pathlib import Path

# In the order of an index run. A program that serves or watches is at rest after its first run.
PHASES = (
    "starting",
    "walking",
    "loading the model",
    "preparing",
    "embedding",
    "writing",
    "linking",
    "committing",
    "merging words",
    "closing",
    "refreshing",
    "trigrams",
    "searching",
    "at rest",
)
_MOST = 255


class PhaseFile:
    """The current phase, and how often each has begun."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(1 + len(PHASES)))
        with path.open("r+b") as file:
            self._bytes = mmap.mmap(file.fileno(), 1 + len(PHASES))

    @property
    def now(self) -> str:
        """The current phase."""
        return PHASES[self._bytes[0]]

    def begin(self, phase: str) -> None:
        """Record that a phase begins."""
        number = PHASES.index(phase)
        self._bytes[0] = number
        self._bytes[1 + number] = min(self._bytes[1 + number] + 1, _MOST)

    def resume(self, phase: str) -> None:
        """Record that a phase continues."""
        self._bytes[0] = PHASES.index(phase)

    def times(self, phase: str) -> int:
        """Return how often a phase has begun, at most 255 times."""
        return self._bytes[1 + PHASES.index(phase)]

    def close(self) -> None:
        """Release the memory."""
        self._bytes.close()
