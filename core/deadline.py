"""Deadlines: the caller sets one, and slow work checks it regularly.

Threads cannot be stopped from outside, so loops over files call `check_time`, and SQLite calls `is_over` while it runs.
A thread started to answer a request inherits its deadline; independent work such as indexing has none.
"""

import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from threading import Semaphore
from typing import TypeVar

from keyhole.core.errors import DeadlineError, ErrorKind
from keyhole.core.turns import give_way

Item = TypeVar("Item")
# Items between two checks: a check takes as long as a little work on each of some items.
_PACE = 200


class Deadline:
    """The time after which the caller no longer waits; cancelling moves it to now."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def cancel(self) -> None:
        """End the deadline now."""
        self._end = float("-inf")

    @property
    def remaining(self) -> float:
        """The remaining seconds, at least 0."""
        return max(0.0, self._end - time.monotonic())

    def error(self) -> DeadlineError:
        """Return the error to raise when the deadline has passed."""
        return DeadlineError(f"no answer within {self.seconds:g} seconds", ErrorKind.TOO_SLOW)


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """Set the deadline for the code inside the `with` block."""
    token = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(token)


def is_over() -> bool:
    """Return whether the deadline has passed."""
    give_way()
    deadline = _current.get()
    return deadline is not None and not deadline.remaining


def time_left() -> float | None:
    """Return the seconds left, or None without a deadline; raise DeadlineError when there are none."""
    deadline = _current.get()
    if deadline is not None and not deadline.remaining:
        raise deadline.error()
    return deadline.remaining if deadline is not None else None


def check_time() -> None:
    """Raise DeadlineError if the deadline has passed."""
    give_way()
    time_left()


def paced(items: Iterable[Item]) -> Iterable[Item]:
    """Return items that may be many, and check the time after every few of them."""
    return items if isinstance(items, Sized) and len(items) <= _PACE else _paced(iter(items))


def _paced(items: Iterator[Item]) -> Iterator[Item]:
    while batch := list(islice(items, _PACE)):
        yield from batch
        if len(batch) == _PACE:
            check_time()


@contextmanager
def acquire_slot(slots: Semaphore) -> Iterator[None]:
    """Acquire a slot, waiting no longer than the deadline, and release it at the end."""
    deadline = _current.get()
    if not slots.acquire(timeout=deadline.remaining if deadline else None):
        raise DeadlineError("keyhole is busy with other searches", ErrorKind.BUSY)
    try:
        yield
    finally:
        slots.release()
