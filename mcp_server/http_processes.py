"""HTTP from several processes: one Python interpreter uses one core, however many agents ask.

All of them accept from one listening socket. They share nothing but the index and the journal, which are made for
several processes, and no request depends on an earlier one: HTTP is served without sessions. Agents keep their
connections, so connections are shared out evenly: a process that has more than another leaves the next one to it.
"""

import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, MutableSequence
from functools import partial
from multiprocessing.process import BaseProcess

from keyhole.core.processes import follow_parent

# More than this gain little and hold a model each.
_MOST_BY_DEFAULT = 2
# Connections that wait to be accepted.
_WAITING = 128
# Counts of a process that does not accept, because it is still loading or because it has ended.
_AWAY = 1_000_000
# All of them load the same, so none is much later than the others, unless it cannot start at all.
_PATIENCE = 5.0
_POLL = 0.01

# How many connections each process has. The memory is shared, and each process writes its own place only.
Counts = MutableSequence[int]


class Connection(socket.socket):
    """A connection that counts until it is closed."""

    counts: Counts
    place: int

    def close(self) -> None:
        """Close it, once."""
        if self.fileno() >= 0:
            self.counts[self.place] -= 1
        super().close()


class SharedListener(socket.socket):
    """Accepts when no other process has fewer connections."""

    def __init__(self, fileno: int, counts: Counts, place: int) -> None:
        super().__init__(fileno=fileno)
        self._counts = counts
        self._place = place

    def listen(self, _: int = _WAITING, /) -> None:
        """Listen with a long queue: asyncio asks for one of the length that it accepts at a time."""
        super().listen(_WAITING)

    def start(self) -> None:
        """Take part from now on; the others are waited for, since whoever comes first would get every connection."""
        self._counts[self._place] = 0
        deadline = time.monotonic() + _PATIENCE
        while _AWAY in list(self._counts) and time.monotonic() < deadline:
            time.sleep(_POLL)

    def accept(self) -> tuple[socket.socket, object]:
        """Accept a connection, or leave it to a process that has fewer."""
        if self._counts[self._place] > min(self._counts):
            raise BlockingIOError
        accepted, address = super().accept()
        connection = Connection(fileno=accepted.detach())
        connection.counts, connection.place = self._counts, self._place
        self._counts[self._place] += 1
        return connection, address


# Serves on a socket, once it is loaded and has started the socket.
Serve = Callable[[SharedListener], None]


def default_processes() -> int:
    """Return how many processes serve when nothing is said."""
    return min(os.cpu_count() or 1, _MOST_BY_DEFAULT)


def serve_from_processes(count: int, listener: socket.socket, serve: Serve) -> None:
    """Serve from this process and from others beside it, which end when this one does."""
    # Forking a process that has threads is unsafe; spawning is not.
    context = multiprocessing.get_context("spawn")
    counts = context.RawArray("i", [_AWAY] * count)
    for place in range(1, count):
        process = context.Process(target=_serve_beside, args=(serve, listener, counts, place), daemon=True)
        process.start()
        threading.Thread(target=_note_end, args=(process, counts, place), daemon=True).start()
    serve(SharedListener(listener.detach(), counts, 0))


def _serve_beside(serve: Serve, listener: socket.socket, counts: Counts, place: int) -> None:
    # As if told to stop, so that what agents asked is still written down.
    follow_parent(partial(os.kill, os.getpid(), signal.SIGTERM))
    serve(SharedListener(listener.detach(), counts, place))


def _note_end(process: BaseProcess, counts: Counts, place: int) -> None:
    """Let nobody wait for a process that has ended."""
    process.join()
    counts[place] = _AWAY
