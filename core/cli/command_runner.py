"""Runs commands for `core/sharing/remote_command.py`: loads everything once, and forks a process for each command.

The shared server starts it with the socket on which commands come. It has one thread and opens no file, so forking is
safe; each command then has its own process, with the streams, the folder and the environment of whoever ran it.
"""

import array
import atexit
import gc
import os
import select
import signal
import socket
import sys
import time
from io import TextIOWrapper

from keyhole.core.cli import main
from keyhole.core.sharing.remote_command import PID_BYTES
from keyhole.core.sharing.share_wire import ACCEPTED, is_same_user, length_of, receive

# Seconds without a command after which the runner ends; its memory is worth more than half a second.
IDLE = 300.0
# A client has this long to send its command.
_PATIENCE = 2.0
_STREAMS = 3
# The exit code of Python if it can't write the rest of its output.
_UNWRITTEN = 120


def load() -> None:
    """Load what commands need, and nothing that could not be shared: no thread, no open file, no index."""
    import filelock  # noqa: F401
    import numpy.ma  # noqa: F401  # `unique` imports it

    from keyhole.core import delivery, masking, service  # noqa: F401
    from keyhole.core.cli import open_service  # noqa: F401
    from keyhole.core.config import Settings
    from keyhole.core.errors import ModelError
    from keyhole.core.files.secret_names import secret_names
    from keyhole.core.index import store, update  # noqa: F401
    from keyhole.core.index.extension import library_path
    from keyhole.core.index.model import open_embedder
    from keyhole.core.missed import missed_file  # noqa: F401
    from keyhole.core.search import engine, weights  # noqa: F401
    from keyhole.core.search.wanted import QuestionKind
    from keyhole.core.syntax import analyse, parser_process  # noqa: F401
    from keyhole.core.types.source_files import DEFAULT_SECRETS
    from keyhole.core.view.lists import relation_view, search_view  # noqa: F401
    from keyhole.core.view.maps import map_view  # noqa: F401
    from keyhole.core.view.reads import read_view  # noqa: F401
    from keyhole.core.workspace import clearing  # noqa: F401

    library_path()
    # Compiles the rules of names and the shapes of tokens.
    secret_names(DEFAULT_SECRETS).readmits("")
    masking.mask_text("")
    parser_process.ParserProcess.forks = True
    for kind in QuestionKind:
        weights.weights_for(kind, has_vectors=True)
    try:
        embedder = open_embedder(Settings().index.model)
        if embedder:
            embedder.load()
    except ModelError:
        # A command says so if it needs the model.
        pass
    # The collector would touch every object, and so copy every page, in each process.
    gc.collect()
    gc.freeze()


def run(listener: socket.socket) -> None:
    """Run commands until the shared server ends, or none came for a while."""
    listener.setblocking(False)
    used = time.monotonic()
    while time.monotonic() - used < IDLE:
        ready, _, _ = select.select([listener, sys.stdin], [], [], IDLE)
        if sys.stdin in ready:
            return
        try:
            connection, _ = listener.accept()
        except OSError:
            continue
        with connection:
            _start_command(connection, listener)
        used = time.monotonic()


def _start_command(connection: socket.socket, listener: socket.socket) -> None:
    """Fork a process for the command that comes over a connection."""
    connection.settimeout(_PATIENCE)
    streams: list[int] = []
    try:
        if not is_same_user(connection):
            return
        connection.sendall(ACCEPTED)
        fields = _receive_command(connection, streams)
        if len(streams) == _STREAMS and fields and not os.fork():
            listener.close()
            _run_command(connection, fields, streams)
    except OSError:
        # The client has gone, or there is no room for one more process: it runs the command itself.
        pass
    finally:
        for number in streams:
            os.close(number)


def _receive_command(connection: socket.socket, streams: list[int]) -> list[str]:
    head, ancillary, _, _ = connection.recvmsg(4, socket.CMSG_SPACE(_STREAMS * 4))
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            numbers = array.array("i")
            numbers.frombytes(content[: len(content) - len(content) % numbers.itemsize])
            streams += numbers
    length = length_of(head + receive(connection, 4 - len(head)))
    content = receive(connection, length)
    return content.decode("utf-8", "surrogateescape").split("\0") if len(content) == length else []


def _run_command(connection: socket.socket, fields: list[str], streams: list[int]) -> None:
    """Become the process of one command, run it, and end; never returns."""
    code = 1
    try:
        connection.settimeout(None)
        connection.sendall(os.getpid().to_bytes(PID_BYTES, "big"))
        arguments = _become(fields, streams)
        code = _exit_code(arguments)
    finally:
        try:
            connection.sendall(bytes([code & 0xFF]))
        finally:
            os._exit(code)


def _become(fields: list[str], streams: list[int]) -> list[str]:
    """Take over the streams, the folder and the environment of the client; return its arguments."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for ending in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(ending, signal.SIG_DFL)
    atexit._clear()  # noqa: SLF001  # what the runner registered is not for this process
    for target, number in enumerate(streams):
        os.dup2(number, target)
        os.close(number)
    folder, *texts = fields[: 1 + 2 * _STREAMS]
    count = int(fields[1 + 2 * _STREAMS])
    rest = fields[2 + 2 * _STREAMS :]
    sys.stdin, sys.stdout, sys.stderr = (
        _text_stream(number, texts[2 * number], texts[2 * number + 1]) for number in range(_STREAMS)
    )
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    os.environ.clear()
    for variable in rest[count:]:
        name, _, value = variable.partition("=")
        os.environ[name] = value
    time.tzset()
    os.chdir(folder)
    sys.argv = ["keyhole", *rest[:count]]
    return rest[:count]


def _text_stream(number: int, encoding: str, errors: str) -> TextIOWrapper:
    """Return a standard stream as Python opens it."""
    binary = os.fdopen(number, "rb" if number == 0 else "wb")
    is_by_line = number == 2 or binary.isatty()
    return TextIOWrapper(binary, encoding, errors, line_buffering=is_by_line)


def _exit_code(arguments: list[str]) -> int:
    try:
        code = main.run(arguments)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001  # as Python does at its end
        import traceback

        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()  # noqa: SLF001
    for stream in (sys.stdout, sys.stderr):
        try:
            # A command that could not write its output has none any more.
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            code = _UNWRITTEN
    return code


if __name__ == "__main__":
    # The system removes ended commands by itself.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    load()
    run(socket.socket(fileno=int(sys.argv[1])))
