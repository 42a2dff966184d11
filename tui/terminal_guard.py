"""Restores the terminal if the explorer is killed so hard that it can't do so itself (SIGKILL, a crash).

A second process waits for the explorer to end. It needs no memory of its own, and nothing that is sent to the
explorer's process group reaches it. If it is killed too, only the user can restore the terminal, with `reset`.
"""

import os
import signal
from contextlib import suppress

_ON, _OFF = b"1", b"0"
_TERMINAL = 2  # stderr, which Textual draws on
# What Textual turns on, turned off: paste, in-band resize, mouse, focus and keyboard reports, synchronised output; then
# wrapping, the main screen, the cursor and colours as in a shell.
_RESTORED = (
    b"\x1b[?2004l\x1b[?2048l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l\x1b[?1004l\x1b[<u\x1b[?2026l"
    b"\x1b[?7h\x1b[?1049l\x1b[?25h\x1b[0m"
)


class TerminalGuard:
    """The process that guards the terminal, and how to tell it whether the explorer uses the terminal."""

    def __init__(self, process: int, pipe: int) -> None:
        self._process = process
        self._pipe = pipe

    @classmethod
    def start(cls) -> "TerminalGuard | None":
        """Start the process; it must be called before the terminal is changed and before any thread is started."""
        try:
            import termios
        except ImportError:  # Windows
            return None
        try:
            modes = termios.tcgetattr(_TERMINAL)
            reading, writing = os.pipe()
        except (OSError, termios.error):
            return None
        process = os.fork()
        if process:
            os.close(reading)
            return cls(process, writing)
        # The new process never returns from here: nothing of the explorer may run in it.
        try:
            _guard(reading, modes)
        finally:
            os._exit(0)

    def on(self) -> None:
        """Tell that the explorer uses the terminal."""
        self._tell(_ON)

    def off(self) -> None:
        """Tell that the terminal is restored, or that an editor has it."""
        self._tell(_OFF)

    def close(self) -> None:
        """End the process: the explorer has restored the terminal itself."""
        self.off()
        os.close(self._pipe)
        with suppress(ChildProcessError):
            os.waitpid(self._process, 0)

    def _tell(self, state: bytes) -> None:
        with suppress(OSError):  # someone has killed the guard
            os.write(self._pipe, state)


def _guard(reading: int, modes: list[object]) -> None:
    # Signals to the explorer's group and session don't reach a session of its own, and a process without a controlling
    # terminal may always change a terminal.
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # It must not keep open what others wait for, such as the pipe of a program that started the explorer.
    os.closerange(3, reading)
    os.closerange(reading + 1, 256)
    state = _OFF
    while said := os.read(reading, 64):
        state = said[-1:]
    if state == _ON:
        _restore(modes)


def _restore(modes: list[object]) -> None:
    import termios

    with suppress(OSError, termios.error):
        os.write(_TERMINAL, _RESTORED)
        # Reports of the mouse that nobody has read would be typed into the shell.
        termios.tcflush(_TERMINAL, termios.TCIFLUSH)
        termios.tcsetattr(_TERMINAL, termios.TCSANOW, modes)  # type: ignore[arg-type]
        os.write(_TERMINAL, b"\r\nkeyhole: the explorer was killed; the terminal is restored\r\n")
