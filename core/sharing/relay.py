"""Passes messages between an MCP client, on stdin and stdout, and a server, and continues if the server is killed.

Tools only read, so a request that was not answered when the server ended is sent again to the next one.
"""

import _socket
import _thread
import os
import sys
import time

from keyhole.core.sharing.reach_server import Connection, reach
from keyhole.core.sharing.share_address import ShareAddress, UnsharedError
from keyhole.core.sharing.unanswered import Unanswered

_CHUNK = 1 << 16
# Seconds until a call that outlived its server is answered with an error, so that its client does not wait for long.
_LONGEST_WAIT = 2.5


class Relay:
    """One client, and the server that it talks to now."""

    def __init__(self, address: ShareAddress, request: "list[bytes]", server: Connection) -> None:
        self._address = address
        self._request = request
        self._server = server
        self._unanswered = Unanswered()
        # Held while messages are sent and while the server is replaced.
        self._sending = _thread.allocate_lock()
        self._is_done = False
        # Held while answers are written.
        self._answering = _thread.allocate_lock()
        # The requests that were sent to a second server.
        self._repeated: set[bytes] = set()

    def run(self) -> int:
        """Pass messages until the client or the server is done; return the exit code."""
        _thread.start_new_thread(self._pass_requests, ())
        while True:
            try:
                self._pass_answers()
            except BrokenPipeError:
                return 0
            if self._is_done:
                return 0
            try:
                self._replace_server()
            except (UnsharedError, OSError) as error:
                sys.stderr.write(f"keyhole: the server ended, and no other could be started ({error})\n")
                return 1

    def _pass_requests(self) -> None:
        while chunk := _read(0):
            with self._sending:
                self._unanswered.add(chunk)
                _send(self._server, chunk)
            # After sending, so that the server works meanwhile.
            self._unanswered.sort()
        with self._sending:
            self._is_done = True
            _send_end(self._server)

    def _pass_answers(self) -> None:
        """Write whole messages only: half of one would spoil the next."""
        rest = b""
        while chunk := _receive(self._server):
            whole, newline, end = chunk.rpartition(b"\n")
            if not newline:
                rest += chunk
                continue
            lines = rest + whole + newline
            rest = end
            with self._answering:
                _write(1, self._unanswered.remove(lines))

    def _replace_server(self) -> None:
        """Continue with another server: greet it as the client did, and ask again what was not answered."""
        with self._sending:
            if self._is_done:
                return
            self._server.close()
            _thread.start_new_thread(self._limit_wait, (self._unanswered.requests(),))
            # A request that two servers did not survive is not for a server that others use.
            is_harmless = self._repeated.isdisjoint(self._unanswered.to_repeat()[1].split(b"\n"))
            self._server = self._shared_server() if is_harmless else own_server()
            greeting, again = self._unanswered.to_repeat()
            self._repeated = set(filter(None, again.split(b"\n")))
            for line in greeting:
                _send(self._server, line)
                if b'"initialize"' in line:
                    _skip_answer(self._server)
            _send(self._server, again)

    def _limit_wait(self, requests: "list[tuple[str, bytes]]") -> None:
        """Answer requests with an error if the next server has not answered them after a while."""
        time.sleep(_LONGEST_WAIT)
        with self._answering:
            try:  # noqa: SIM105
                _write(1, self._unanswered.give_up(requests))
            except OSError:
                # The client has gone.
                pass

    def _shared_server(self) -> Connection:
        try:
            return reach(self._address, self._request)
        except UnsharedError as error:
            sys.stderr.write(f"keyhole: {error}; serving this client alone\n")
            return own_server()


def own_server() -> Connection:
    """Start a server for this client alone; it ends when this process does."""
    import socket
    import subprocess

    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-P", "-m", "keyhole", *sys.argv[1:], "--no-share"]
        # The new process closes its end when it ends, and reads the end of its input when this process ends.
        subprocess.Popen(command, stdin=theirs.fileno(), stdout=theirs.fileno())  # noqa: S603  # this program
    return ours


def _skip_answer(server: Connection) -> None:
    answer = b""
    while not answer.endswith(b"\n"):
        # One byte at a time is slow, but this is one short answer, and nothing after it may be lost.
        part = server.recv(1)
        if not part:
            raise UnsharedError("the next server ended as well")
        answer += part


def _read(number: int) -> bytes:
    try:
        return os.read(number, _CHUNK)
    except OSError:
        return b""


def _receive(server: Connection) -> bytes:
    try:
        return server.recv(_CHUNK)
    except OSError:
        return b""


def _send(server: Connection, content: bytes) -> None:
    try:  # noqa: SIM105  # importing contextlib takes long
        server.sendall(content)
    except OSError:
        # Whoever reads the answers sees that the server has ended, and sends this again.
        pass


def _send_end(server: Connection) -> None:
    try:  # noqa: SIM105
        server.shutdown(_socket.SHUT_WR)
    except OSError:
        pass


def _write(number: int, content: bytes) -> None:
    while content:
        content = content[os.write(number, content) :]
