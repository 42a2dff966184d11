"""When the explorer ends without being told to by a key: the system asks for it, or its window is gone."""

import asyncio
import os
import signal
from contextlib import suppress
from functools import partial
from typing import Any

from textual.app import App

EXIT_HANGUP = 129
_STDIN = 0
_LOOK_SECONDS = 5.0


def close_on_signals(app: App[Any]) -> None:
    """Close in an orderly way when the system asks for it, so that the terminal is restored."""
    loop = asyncio.get_running_loop()
    # Only the main thread can listen, and not every system has these.
    with suppress(NotImplementedError, RuntimeError, ValueError):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            loop.add_signal_handler(number, partial(app.exit, return_code=128 + number))


def close_without_terminal(app: App[Any]) -> None:
    """Close when the window is gone and no signal says so: reading from it would keep a core busy for ever."""

    def look() -> None:
        if not os.isatty(_STDIN):
            app.exit(return_code=EXIT_HANGUP)

    if not app.is_headless:
        app.set_interval(_LOOK_SECONDS, look)
