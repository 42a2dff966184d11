"""The user's editor in the explorer's terminal; meanwhile the event loop runs, so that agents are served."""

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from textual.app import App, SuspendNotSupported

# How long an editor may take to end after it was asked to.
_PATIENCE = 3.0


class Editing:
    """Runs one editor at a time."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._ending: asyncio.Task[None] | None = None
        # What the explorer was asked to do while it had no terminal to do it in.
        self._afterwards: Callable[[], None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether an editor has the terminal."""
        return self._process is not None

    async def run(self, app: App[None], command: list[str], folder: Path) -> str:
        """Run an editor until it ends; return why it could not start, or nothing."""
        problem = ""
        try:
            # What happens meanwhile must not be drawn: the editor has the terminal.
            with app.batch_update(), app.suspend():
                try:
                    with _terminal_kept(), _quit_ignored():
                        await self._run(command, folder)
                except OSError as error:
                    # Leaving `suspend` with an exception would leave the terminal to the shell.
                    problem = str(error)
        except SuspendNotSupported as error:
            problem = str(error)
        if self._afterwards:
            self._afterwards()
        return problem

    def after(self, action: Callable[[], None]) -> None:
        """Do something as soon as the editor has given the terminal back."""
        self._afterwards = action

    def end(self) -> None:
        """Ask the editor to end, and kill it if it does not."""
        if self._process and self._ending is None:
            self._ending = asyncio.create_task(_end(self._process), name="end-editor")

    async def _run(self, command: list[str], folder: Path) -> None:
        self._process = await asyncio.create_subprocess_exec(*command, cwd=folder)
        try:
            await self._process.wait()
        finally:
            self._process = None
            self._ending = None


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), _PATIENCE)
        except TimeoutError:
            process.kill()


@contextmanager
def _terminal_kept() -> Iterator[None]:
    """Restore the terminal's settings: a killed editor leaves its own, which would be taken for the shell's."""
    try:
        import termios
    except ImportError:  # Windows
        yield
        return
    try:
        before = termios.tcgetattr(sys.__stdin__ or 0)
    except (OSError, termios.error):
        yield
        return
    try:
        yield
    finally:
        with suppress(termios.error):
            termios.tcsetattr(sys.__stdin__ or 0, termios.TCSANOW, before)


@contextmanager
def _quit_ignored() -> Iterator[None]:
    """Ignore the quit signal, which the terminal sends to the explorer too; the editor does not inherit that."""
    if not hasattr(signal, "SIGQUIT"):
        yield
        return
    before = signal.signal(signal.SIGQUIT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGQUIT, before)
