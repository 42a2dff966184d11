"""Runs a command in the shared server's command runner, which has loaded everything already.

The runner gets the standard streams of this process themselves, and its arguments, current folder and environment. So a
command there reads and writes the same terminal, pipes and files as it would here.
"""

import _socket
import os
import sys

from keyhole.core.sharing.share_address import ShareAddress, UnsharedError
from keyhole.core.sharing.share_wire import ACCEPTED, is_same_user, pack, receive

# Commands that only read, and that print their answer and end.
SHARED_COMMANDS = frozenset(
    [
        "backlinks",
        "broken",
        "bundle",
        "explain",
        "links",
        "map",
        "missed",
        "read",
        "refs",
        "related",
        "search",
        "search-links",
        "status",
        "tree",
    ]
)
# Forking a process that has loaded libraries is only known to be safe there.
CAN_RUN_REMOTELY = sys.platform == "linux"
PID_BYTES = 4
# A runner that is there answers at once; otherwise it is still loading, or busy, and a command starts faster here.
_PATIENCE = 0.1
_STREAMS = ("stdin", "stdout", "stderr")


def run_remotely(address: ShareAddress, arguments: "list[str]") -> int:
    """Run a command and return its exit code; raise UnsharedError if no runner takes it."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.settimeout(_PATIENCE)
    try:
        connection.connect(address.commands)
        if not is_same_user(connection) or connection.recv(1) != ACCEPTED:
            raise UnsharedError("no runner")
        connection.settimeout(None)
        _send_command(connection, arguments)
        process = int.from_bytes(receive(connection, PID_BYTES), "big")
    except OSError as error:
        raise UnsharedError(str(error)) from None
    if not process:
        raise UnsharedError("the runner did not take the command")
    _forward_signals(process)
    code = connection.recv(1)
    if not code:
        sys.stderr.write("keyhole: the command was killed; KEYHOLE_SHARE=0 runs it in its own process\n")
        return 2
    return code[0]


def _forward_signals(process: int) -> None:
    """Pass signals on to the command: Ctrl-C, and what a shell sends to end this process."""
    import signal

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(process, number))


def _send_command(connection: _socket.socket, arguments: "list[str]") -> None:
    """Send the command and, with its first byte, the standard streams."""
    streams = [getattr(sys, name) for name in _STREAMS]
    texts = [part for stream in streams for part in (stream.encoding, stream.errors)]
    variables = [f"{name}={value}" for name, value in os.environ.items()]
    fields = [os.getcwd(), *texts, str(len(arguments)), *arguments, *variables]  # noqa: PTH109
    message = pack([field.encode("utf-8", "surrogateescape") for field in fields])
    numbers = b"".join(number.to_bytes(4, sys.byteorder) for number in range(len(_STREAMS)))
    sent = connection.sendmsg([message], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers)])
    connection.sendall(message[sent:])
