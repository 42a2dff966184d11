"""Turns: a long call gives way to the short calls of other clients of the same process.

One interpreter runs one thread at a time, so a client that searches all files with a regular expression would slow down
everybody else. Work that checks its deadline (`core/deadline.py`) also comes here, and pauses while calls of others run
that have had less time so far.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Condition

# A call runs at least this long before it pauses, and between two pauses.
_QUANTUM = 0.05
# A pause ends after this time in any case, so that many short calls can't stop a long one.
_LONGEST_PAUSE = 0.2


class _Call:
    """One running call of a client."""

    __slots__ = ("client", "is_paused", "paused", "resumed", "started")

    def __init__(self, client: object) -> None:
        self.client = client
        self.started = self.resumed = time.monotonic()
        self.paused = 0.0
        self.is_paused = False

    def time_so_far(self) -> float:
        return time.monotonic() - self.started - self.paused


_running: set[_Call] = set()
_ended = Condition()
_current: ContextVar[_Call | None] = ContextVar("turn", default=None)


@contextmanager
def taking_turns(client: object) -> Iterator[None]:
    """Run a call of a client; threads that are started inside belong to it."""
    call = _Call(client)
    with _ended:
        _running.add(call)
    token = _current.set(call)
    try:
        yield
    finally:
        _current.reset(token)
        with _ended:
            _running.discard(call)
            _ended.notify_all()


def give_way() -> None:
    """Pause a long call while others run that have had less time."""
    call = _current.get()
    if call is None or time.monotonic() - call.resumed < _QUANTUM:
        return
    with _ended:
        began = time.monotonic()
        call.is_paused = True
        _ended.wait_for(lambda: not _is_another_first(call), _LONGEST_PAUSE)
        call.is_paused = False
        call.resumed = time.monotonic()
        call.paused += call.resumed - began


def _is_another_first(call: _Call) -> bool:
    so_far = call.time_so_far()
    return any(
        other.client is not call.client and not other.is_paused and other.time_so_far() < so_far for other in _running
    )
