"""The wrap on stdio: starts the server, and copies bytes between it and the client until one of them ends.

The server inherits stderr, so what it writes there goes to the client directly. It leads a process group of its own:
signals to the wrap are passed on to all that the server has started, and nothing of it is left behind.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, cast

from keyhole.core.processes import ENDING_SIGNALS, end_session
from keyhole.core.wrap.rewriting import Reply, Rewriter

CLIENT_IN, CLIENT_OUT = 0, 1
# A server gets this long to end after a signal. Official clients kill the wrap itself after 2 seconds.
_PATIENCE = 1.5
_CHUNK = 65_536
# Threads take turns this often, so that a message waits less for the thread that parses copies.
_SWITCH_SECONDS = 0.000_5
# The exit codes of shells for a command that does not exist, and for one that cannot be started.
_NOT_FOUND, _NOT_STARTED = 127, 126

# Windows has no process groups.
_OWN_GROUP = 0 if hasattr(os, "killpg") else None

Saw = Callable[[bytes], None]


class StdioPump:
    """Copies between the client on our own stdin and stdout and a server; `saw_…` get a copy of all that passes."""

    def __init__(self, saw_client: Saw, saw_server: Saw, rewriter: Rewriter | None = None) -> None:
        self._saw_client = saw_client
        self._saw_server = saw_server
        self._rewriter = rewriter
        # Answers to the client come from the server, and from the rewriter in another thread.
        self._to_client = threading.Lock()

    def run(self, command: Sequence[str]) -> int:
        """Start the server and copy until it ends; return its exit code, or end by the same signal as the server."""
        sys.setswitchinterval(_SWITCH_SECONDS)
        try:
            server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=_OWN_GROUP)  # noqa: S603
        except (OSError, ValueError) as error:
            print(f"keyhole: cannot start {command[0]} ({error})", file=sys.stderr, flush=True)
            return _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_STARTED
        for number in ENDING_SIGNALS:
            signal.signal(number, lambda got, _: _end(server, signal.Signals(got)))
        # Both are pipes.
        server_in, server_out = (cast("IO[bytes]", pipe).fileno() for pipe in (server.stdin, server.stdout))
        threading.Thread(target=self._client_to_server, args=(server_in,), daemon=True).start()
        if not self._server_to_client(server_out):
            _end(server, signal.SIGTERM)
        return server.wait()

    def _client_to_server(self, target: int) -> None:
        """Copy until the client closes its side, and then close the server's stdin, which asks it to end."""
        with suppress(OSError):
            if rewriter := self._rewriter:
                _each_line(CLIENT_IN, lambda line: self._request(line, target, rewriter))
            else:
                _copy(CLIENT_IN, target, self._saw_client)
        with suppress(OSError):
            os.close(target)

    def _server_to_client(self, source: int) -> bool:
        """Copy until the server closes its side; return False if the client no longer reads."""
        try:
            if rewriter := self._rewriter:
                _each_line(source, lambda line: self._response(line, rewriter))
            else:
                _copy(source, CLIENT_OUT, self._saw_server)
        except OSError:
            return False
        return True

    def _request(self, line: bytes, target: int, rewriter: Rewriter) -> None:
        self._saw_client(line)
        message, line_end = _split(line)
        try:
            wanted = rewriter.request(message)
        except Exception:  # noqa: BLE001  # the message passes as it was
            _write(target, line)
            return
        if isinstance(wanted, Reply):
            self._answer(wanted.message + (line_end or b"\n"))
        else:
            _write(target, wanted.message + line_end)

    def _response(self, line: bytes, rewriter: Rewriter) -> None:
        message, line_end = _split(line)
        with suppress(Exception):
            line = rewriter.response(message) + line_end
        self._answer(line)

    def _answer(self, line: bytes) -> None:
        with self._to_client:
            self._saw_server(line)
            _write(CLIENT_OUT, line)


def end_like(code: int) -> int:
    """Return the exit code of a server; if a signal ended it, the same signal ends this process too."""
    if code >= 0:
        return code
    with suppress(ImportError, OSError, ValueError):
        # The server has left a core file if the user wants one. Windows has no such limit.
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    return 128 - code


def _end(server: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """Pass a signal on to the server and all that it has started, and kill them if they do not end soon."""
    with suppress(OSError):
        if _OWN_GROUP is None:
            server.terminate()
        else:
            os.killpg(server.pid, number)
    timer = threading.Timer(_PATIENCE, end_session, [server], {"by_force": True})
    timer.daemon = True
    timer.start()


def _copy(source: int, target: int, saw: Saw) -> None:
    while chunk := os.read(source, _CHUNK):
        # First the copy: an answer must not be seen before its request.
        saw(chunk)
        _write(target, chunk)
    # What is left is a line too.
    saw(b"\n")


def _each_line(source: int, take: Callable[[bytes], None]) -> None:
    """Pass on each line with its end; at the end of the stream also what is left."""
    parts: list[bytes] = []
    while chunk := os.read(source, _CHUNK):
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            take(b"".join([*parts, piece, b"\n"]))
            parts = []
        if rest:
            parts.append(rest)
    if parts:
        take(b"".join(parts))


def _split(line: bytes) -> tuple[bytes, bytes]:
    """Return a line without its end, and the end."""
    message = line.rstrip(b"\r\n")
    return message, line[len(message) :]


def _write(target: int, chunk: bytes) -> None:
    view = memoryview(chunk)
    while view:
        view = view[os.write(target, view) :]
