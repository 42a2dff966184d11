"""Signals and processes, where systems differ."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing import connection, parent_process

# What ends a program in an orderly way; Windows has no signal for a terminal that is gone.
ENDING_SIGNALS = tuple(
    signal.Signals[name] for name in ("SIGTERM", "SIGHUP", "SIGINT") if name in signal.Signals.__members__
)


def is_running(process: int) -> bool:
    """Tell whether a process is there; where that cannot be asked without harm, it counts as running."""
    # On Windows os.kill ends the process, whatever the signal.
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
    """In a process of multiprocessing: leave Ctrl-C to the process that started this one, and end when that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(end,), daemon=True).start()


def _end_with_parent(end: Callable[[], object]) -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        end()
