"""The process that runs commands for the command line (core/cli/command_runner.py), started for the first command."""

import asyncio
import subprocess
import sys
from contextlib import suppress

from keyhole.core.sharing.remote_command import CAN_RUN_REMOTELY
from keyhole.mcp_server.shared_listener import SharedSocket

_MODULE = "keyhole.core.cli.command_runner"
# Seconds until a runner that failed is started again; meanwhile, commands run in processes of their own.
_AFTER_PROBLEM = 30.0


class RunnerProcess:
    """Listens for commands, and starts the runner when the first one comes."""

    def __init__(self, path: str) -> None:
        self._socket = SharedSocket(path) if CAN_RUN_REMOTELY else None
        self._process: subprocess.Popen[bytes] | None = None

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wait for the first command."""
        if self._socket is not None:
            self._socket.start()
            self._wait_for_command(loop)

    def is_busy(self) -> bool:
        """Return whether the runner runs; it ends itself when it had no command for a while."""
        return self._process is not None

    def stop(self) -> None:
        """Stop listening; the runner ends when its input does."""
        if self._socket is not None:
            self._socket.give_up()
        if self._process is not None:
            self._process.terminate()

    def _wait_for_command(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._socket is not None:
            number = self._socket.listener.fileno()
            loop.add_reader(number, self._start, loop, number)

    def _start(self, loop: asyncio.AbstractEventLoop, number: int) -> None:
        loop.remove_reader(number)
        command = [sys.executable, "-P", "-m", _MODULE, str(number)]
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[number])  # noqa: S603
        except OSError:
            loop.call_later(_AFTER_PROBLEM, self._wait_for_command, loop)
            return
        loop.run_in_executor(None, self._wait_for_end, loop)

    def _wait_for_end(self, loop: asyncio.AbstractEventLoop) -> None:
        process = self._process
        if process is not None:
            pause = _AFTER_PROBLEM if process.wait() else 0.0
            if process.stdin:
                process.stdin.close()
            self._process = None
            # The loop may be closed by now.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(loop.call_later, pause, self._wait_for_command, loop)
