"""HTTP from several processes, because one Python interpreter uses only one core.

All processes accept connections from one listening socket. They share only the index and the journal, which support
several processes, and no request depends on an earlier one: HTTP is served without sessions. Agents keep their
connections open, so new connections are balanced: a process leaves the next one to a process that has fewer.
"""

import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, MutableSequence
from functools import partial
from multiprocessing.process import BaseProcess

from keyhole.core.processes import follow_parent

# On Windows, asyncio can't accept connections from one socket in several processes.
CAN_SHARE_SOCKETS = sys.platform != "win32"
# More processes gain little, and each loads its own model.
_MOST_BY_DEFAULT = 2
# The length of the queue of connections that are not accepted yet.
_WAITING = 128
# The count of a process that does not accept connections: it is still loading, or it has ended.
_AWAY = 1_000_000
# Processes load at the same speed, so one that takes this much longer probably cannot start.
_PATIENCE = 5.0
_POLL = 0.01

# The number of connections of each process, in shared memory; each process writes only its own entry.
Counts = MutableSequence[int]


class Connection(socket.socket):
    """A connection that is counted until it is closed."""

    counts: Counts
    place: int

    def close(self) -> None:
        """Close the connection and stop counting it."""
        if self.fileno() >= 0:
            self.counts[self.place] -= 1
        super().close()


class SharedListener(socket.socket):
    """Accepts a connection only when no other process has fewer."""

    def __init__(self, fileno: int, counts: Counts, place: int) -> None:
        super().__init__(fileno=fileno)
        self._counts = counts
        self._place = place

    @classmethod
    def alone(cls, listener: socket.socket) -> "SharedListener":
        """Return a listener for a single process, in place of a socket."""
        return cls(listener.detach(), [0], 0)

    def listen(self, _: int = _WAITING, /) -> None:
        """Listen with a long queue; asyncio would ask for one as short as the number it accepts at a time."""
        super().listen(_WAITING)

    def start(self) -> None:
        """Start to accept, after waiting for the other processes: the first one ready would get every connection."""
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


# Loads the server, starts the listener and serves on it.
Serve = Callable[[SharedListener], None]


def default_processes() -> int:
    """Return the default number of processes."""
    return min(os.cpu_count() or 1, _MOST_BY_DEFAULT) if CAN_SHARE_SOCKETS else 1


def serve_from_processes(count: int, listener: socket.socket, serve: Serve) -> None:
    """Serve from this process and from child processes, which end when this one does."""
    # Forking a process that has threads is unsafe, so processes are spawned.
    context = multiprocessing.get_context("spawn")
    counts = context.RawArray("i", [_AWAY] * count)
    for place in range(1, count):
        process = context.Process(target=_serve_in_child, args=(serve, listener, counts, place), daemon=True)
        process.start()
        threading.Thread(target=_mark_ended, args=(process, counts, place), daemon=True).start()
    serve(SharedListener(listener.detach(), counts, 0))


def _serve_in_child(serve: Serve, listener: socket.socket, counts: Counts, place: int) -> None:
    # SIGTERM lets the process write the rest of its journal before it ends.
    follow_parent(partial(os.kill, os.getpid(), signal.SIGTERM))
    serve(SharedListener(listener.detach(), counts, place))


def _mark_ended(process: BaseProcess, counts: Counts, place: int) -> None:
    """Mark a process as away when it ends, so that no other process leaves connections to it."""
    process.join()
    counts[place] = _AWAY
