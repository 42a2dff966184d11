"""The process behind the shared server: it has loaded the same code, and replaces a server that is killed at once.

A new server would import for more than a second while every client waits. The guardian only waits: it shares the memory
of what it has imported with the server that it forked. While it lives it holds the lock that a client needs to start a
server, so clients wait for the next server instead of starting another.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress

# Forking a process that has loaded libraries is only known to be safe there.
CAN_FORK = sys.platform == "linux"
# Seconds; a server that lives shorter could not start, and would end again and again.
_SHORTEST_LIFE = 1.0


class Guardian:
    """What a server knows about the process behind it; without one, the server has the lock until it listens."""

    def __init__(self, process: int = 0, lock: int | None = None) -> None:
        self._process = process
        self._lock = lock

    def on_ready(self) -> None:
        """Let clients that do not find this server start another, unless there is a guardian to do that."""
        if self._lock is not None:
            with suppress(OSError):
                os.close(self._lock)
        self._lock = None

    def dismiss(self) -> None:
        """End the guardian: clients do not find this server any more, and start the next one themselves."""
        # If it has ended, this process has another parent.
        if self._process and os.getppid() == self._process:
            with suppress(OSError):
                os.kill(self._process, signal.SIGTERM)
        self._process = 0


def guarded(lock: int, code_stamp: Callable[[], object]) -> Guardian:
    """Return in a process that is to serve; the process that calls this stays behind it, and ends with it.

    Nothing may run in other threads yet. `code_stamp` tells whether the code on disk is still what was loaded.
    """
    if not CAN_FORK:
        return Guardian(lock=lock)
    guardian, loaded = os.getpid(), None
    while True:
        began = time.monotonic()
        server = os.fork()
        if not server:
            with suppress(OSError):
                os.close(lock)
            return Guardian(guardian)
        # Only now, when no client waits for it.
        loaded = loaded or code_stamp()
        code = os.waitstatus_to_exitcode(os.waitpid(server, 0)[1])
        is_killed = code < 0 and time.monotonic() - began > _SHORTEST_LIFE
        if not is_killed or code_stamp() != loaded:
            os._exit(abs(code))
