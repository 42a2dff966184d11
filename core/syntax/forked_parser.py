"""A parsing worker made by forking, for processes with one thread that have loaded the grammars' code already.

Starting Python again and importing that code takes ten times as long as parsing a file.
"""

import os
import signal
import sys
from typing import BinaryIO


class ForkedParser:
    """A parsing worker; has the part of `subprocess.Popen` that its owner uses."""

    def __init__(self) -> None:
        requests, self._requests = os.pipe()
        self._replies, replies = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            _work(requests, replies, [self._requests, self._replies])
        os.close(requests)
        os.close(replies)
        self.stdin: BinaryIO = os.fdopen(self._requests, "wb")
        self.stdout: BinaryIO = os.fdopen(self._replies, "rb")
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return the exit code if the worker has ended."""
        return self._code if self._code is not None else self._waited(os.WNOHANG)

    def wait(self) -> int:
        """Wait for the end of the worker and return its exit code, negative for a signal."""
        while self._code is None:
            self._waited(0)
        return self._code

    def kill(self) -> None:
        """End the worker."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def _waited(self, options: int) -> int | None:
        ended, status = os.waitpid(self.pid, options)
        if ended:
            self._code = os.waitstatus_to_exitcode(status)
        return self._code


def _work(requests: int, replies: int, others: list[int]) -> None:
    """Become the worker; never returns."""
    code = 1
    try:
        from keyhole.core.syntax.parser_worker import main

        for number in others:
            os.close(number)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number, target in ((requests, 0), (replies, 1), (nowhere, 2)):
            os.dup2(number, target)
            os.close(number)
        sys.stdin = os.fdopen(0, "r", encoding="utf-8", closefd=False)
        main()
        code = 0
    finally:
        os._exit(code)
