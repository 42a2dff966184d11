"""Asking the terminal what it can do: it answers on the keyboard's line, if it answers at all."""

import os
import re
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

# DECRQM asks whether a mode exists, here mouse reports in SGR form; every terminal answers the last question (DA1), so
# nothing more comes after that.
_MOUSE_MODE = 1006
_QUESTIONS = f"\x1b[?{_MOUSE_MODE}$p\x1b[c".encode()
_MODE_ANSWER = re.compile(rb"\x1b\[\?%d;(\d)\$y" % _MOUSE_MODE)
_ATTRIBUTES_ANSWER = re.compile(rb"\x1b\[\?([\d;]*)c")
# Terminals say in DA1 with this number that programs may write the clipboard (OSC 52).
_CLIPBOARD = b"52"
_PATIENCE = 1.0


@dataclass(frozen=True, slots=True)
class TerminalAnswers:
    """What the terminal said; None if it did not say."""

    has_mouse: bool | None = None
    has_clipboard: bool | None = None


def has_terminal() -> bool:
    """Return whether there is a terminal; stdout may go elsewhere, because the explorer draws on stderr."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_terminal() -> TerminalAnswers:
    """Ask the terminal; Windows has no such line to answer on."""
    if os.name == "nt":
        return TerminalAnswers()
    with _unbuffered(sys.stdin.fileno()) as keyboard:
        os.write(sys.stderr.fileno(), _QUESTIONS)
        answer = _read_answer(keyboard)
    mode, attributes = _MODE_ANSWER.search(answer), _ATTRIBUTES_ANSWER.search(answer)
    return TerminalAnswers(
        # 0 means that the terminal does not know the mode.
        has_mouse=mode[1] != b"0" if mode else None,
        has_clipboard=True if attributes and _CLIPBOARD in attributes[1].split(b";") else None,
    )


def _read_answer(keyboard: int) -> bytes:
    answer, end = b"", time.monotonic() + _PATIENCE
    while not _ATTRIBUTES_ANSWER.search(answer):
        if not select.select([keyboard], [], [], max(0.0, end - time.monotonic()))[0]:
            break
        answer += os.read(keyboard, 1_024)
    return answer


@contextmanager
def _unbuffered(keyboard: int) -> Iterator[int]:
    """Read keys as they come and don't show them; afterwards the terminal is as it was."""
    import termios
    import tty

    before = termios.tcgetattr(keyboard)
    try:
        tty.setcbreak(keyboard, termios.TCSANOW)
        yield keyboard
    finally:
        termios.tcsetattr(keyboard, termios.TCSAFLUSH, before)
