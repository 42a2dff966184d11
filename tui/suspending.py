"""Suspending the explorer with its whole job, as a shell expects it, until the shell continues it."""

import os
import signal

from textual.app import App, SuspendNotSupported

_TERMINAL = 2  # stderr, which Textual draws on


def suspend_job(app: App[None]) -> str:
    """Stop until the shell continues the job; return why that is not possible, or nothing."""
    if not hasattr(signal, "SIGTSTP") or app.is_headless:
        return "This terminal can't suspend programs."
    if os.getpgrp() == os.getsid(0):
        # Nobody could continue it: a shell with job control gives each job a group of its own.
        return "Not suspended: no shell is waiting to return to."
    try:
        # Nothing may be drawn between the restored terminal and the stop.
        with app.batch_update(), app.suspend():
            _stop()
    except SuspendNotSupported as error:
        return str(error)
    return ""


def _stop() -> None:
    is_here = False
    # After `bg`, the terminal still belongs to the shell.
    while not is_here:
        # The whole group stops, as after ^Z in a shell: whatever started the explorer, such as make, must stop too.
        os.killpg(os.getpgrp(), signal.SIGTSTP)
        is_here = os.tcgetpgrp(_TERMINAL) == os.getpgrp()
