"""Closing the explorer without a key: after a signal, or when its terminal or browser is gone."""

import asyncio
import os
import signal
import time
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING

from keyhole.core.processes import ENDING_SIGNALS

if TYPE_CHECKING:
    from keyhole.tui.explorer import Explorer

EXIT_HANGUP = 129
_STDIN = 0
_CHECK_SECONDS = 5.0


def close_on_signals(app: "Explorer") -> None:
    """Exit cleanly on signals, so that the terminal is restored."""
    loop = asyncio.get_running_loop()
    # Signal handlers work only in the main thread, and not on every system.
    with suppress(NotImplementedError, RuntimeError, ValueError):
        for number in ENDING_SIGNALS:
            loop.add_signal_handler(number, partial(_close, app, number))


def _close(app: "Explorer", number: signal.Signals) -> None:
    # ^C in an editor reaches the explorer too, but is meant for the editor.
    if app.editing.is_open and number == signal.SIGINT:
        return
    app.exit(return_code=128 + number)
    app.editing.end()


def close_without_terminal(app: "Explorer") -> None:
    """Exit when the terminal is gone without a signal: reading from it would keep a core busy forever."""
    if not app.is_headless and not app.is_remote:
        Thread(target=_watch_terminal, args=(app, asyncio.get_running_loop()), daemon=True, name="terminal").start()


def _watch_terminal(app: "Explorer", loop: asyncio.AbstractEventLoop) -> None:
    while os.isatty(_STDIN):
        time.sleep(_CHECK_SECONDS)
        if app.is_left:
            return
    close_for_sure(app, loop)


def close_for_sure(app: "Explorer", loop: asyncio.AbstractEventLoop) -> None:
    """Exit from another thread, and end the process if that takes too long."""
    with suppress(RuntimeError):  # the loop is closed already
        loop.call_soon_threadsafe(partial(app.exit, return_code=EXIT_HANGUP))
    Thread(target=_end_process, daemon=True, name="end").start()


def _end_process() -> None:
    time.sleep(_CHECK_SECONDS)
    # Writing to a terminal that is gone can block forever, so the app may never exit by itself.
    os._exit(EXIT_HANGUP)
