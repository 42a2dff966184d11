"""Ending on Ctrl+C and SIGTERM, and remembering it.

A signal may arrive while an error is handled, whose own error would then take its place. So whoever continues after an
error asks whether a signal has arrived.
"""

import signal
import threading
from types import FrameType

_stopped = threading.Event()


def stop_on_signals() -> None:
    """Make Ctrl+C and SIGTERM raise KeyboardInterrupt, so that the job is given back, with nothing left over."""
    _stopped.clear()

    def stop(_: int, __: FrameType | None) -> None:
        _stopped.set()
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)


def check_stopped() -> None:
    """Raise KeyboardInterrupt if a signal has arrived."""
    if _stopped.is_set():
        raise KeyboardInterrupt
