"""Signals and processes that differ between operating systems."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

# The signals on which Keyhole shuts down cleanly. Windows has no SIGHUP.
ENDING_SIGNALS = tuple(
    signal.Signals[name] for name in ("SIGTERM", "SIGHUP", "SIGINT") if name in signal.Signals.__members__
)

# Half of the way down: work in the background still gets its share of a busy machine.
_NICENESS = 10


class StartedProcess(Protocol):
    """What the processes of subprocess and of asyncio have in common."""

    @property
    def pid(self) -> int:
        """The number of the process."""

    def terminate(self) -> None:
        """Ask it to end."""

    def kill(self) -> None:
        """End it."""


def end_session(process: StartedProcess, *, by_force: bool) -> None:
    """End a process that leads a session of its own, and all that it has started; on Windows only the process."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL if by_force else signal.SIGTERM)
        elif by_force:
            process.kill()
        else:
            process.terminate()


def is_running(process: int) -> bool:
    """Return whether a process is running; always True on Windows, where checking is not safe."""
    # On Windows, os.kill ends the process, whichever signal it is given.
    if sys.platform == "win32":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def follow_parent(end: Callable[[], object] = lambda: os._exit(1)) -> None:
    """Make a worker process ignore Ctrl-C, which its parent handles, and call `end` when its parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(end,), daemon=True).start()


def give_way() -> None:
    """Let other processes go first: a key in the explorer or a call of an agent must not wait for an index run."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)


def _end_with_parent(end: Callable[[], object]) -> None:
    from multiprocessing import connection, parent_process

    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        end()
