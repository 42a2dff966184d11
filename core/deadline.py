"""How long an answer may take: whoever asks sets a deadline, and what takes long looks at it now and then.

Threads cannot be stopped from outside, so loops over files call `check_time`, and SQLite asks `is_over` while it works.
A thread that is started for the one who asks inherits the deadline; work of its own, such as indexing, has none.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Semaphore

from keyhole.core.errors import DeadlineError, ErrorKind


class Deadline:
    """A moment after which nobody waits any more; it can be brought forward."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def cancel(self) -> None:
        """Let it be over now."""
        self._end = float("-inf")

    @property
    def remaining(self) -> float:
        """Seconds that are left, at least 0."""
        return max(0.0, self._end - time.monotonic())

    def error(self) -> DeadlineError:
        """Say that it is over, and what to do."""
        return DeadlineError(f"no answer within {self.seconds:g} seconds", ErrorKind.TOO_SLOW)


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """Set the deadline of what is done inside."""
    token = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(token)


def is_over() -> bool:
    """Tell whether nobody waits any more."""
    deadline = _current.get()
    return deadline is not None and not deadline.remaining


def check_time() -> None:
    """Raise DeadlineError when nobody waits any more."""
    deadline = _current.get()
    if deadline is not None and not deadline.remaining:
        raise deadline.error()


@contextmanager
def turn_of(turns: Semaphore) -> Iterator[None]:
    """Wait for a turn as long as there is time, and give it back at the end."""
    deadline = _current.get()
    if not turns.acquire(timeout=deadline.remaining if deadline else None):
        raise DeadlineError("keyhole is busy with other searches", ErrorKind.BUSY)
    try:
        yield
    finally:
        turns.release()
