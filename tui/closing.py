"""When the explorer ends without being told to by a key: the system asks for it, or its window is gone."""

import asyncio
import os
import time
from contextlib import suppress
from functools import partial
from threading import Thread

from textual.app import App

from keyhole.core.processes import ENDING_SIGNALS

EXIT_HANGUP = 129
_STDIN = 0
_LOOK_SECONDS = 5.0


def close_on_signals(app: App[None]) -> None:
    """Close in an orderly way when the system asks for it, so that the terminal is restored."""
    loop = asyncio.get_running_loop()
    # Only the main thread can listen, and not every system has these.
    with suppress(NotImplementedError, RuntimeError, ValueError):
        for number in ENDING_SIGNALS:
            loop.add_signal_handler(number, partial(app.exit, return_code=128 + number))


def close_without_terminal(app: App[None]) -> None:
    """Close when the window is gone and no signal says so: reading from it would keep a core busy for ever."""
    if not app.is_headless:
        Thread(target=_watch_terminal, args=(app, asyncio.get_running_loop()), daemon=True, name="terminal").start()


def _watch_terminal(app: App[None], loop: asyncio.AbstractEventLoop) -> None:
    while os.isatty(_STDIN):
        time.sleep(_LOOK_SECONDS)
    with suppress(RuntimeError):  # it is closing already
        loop.call_soon_threadsafe(partial(app.exit, return_code=EXIT_HANGUP))
    time.sleep(_LOOK_SECONDS)
    # Whoever draws on a window that is gone may wait for it without end.
    os._exit(EXIT_HANGUP)
