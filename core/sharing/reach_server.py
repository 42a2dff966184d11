"""Reaching the shared server: connect to the one that runs, or start one."""

import _socket
import os
import sys
import time

from keyhole.core.sharing.share_address import USES_LOOPBACK, DeclinedError, ShareAddress, UnsharedError
from keyhole.core.sharing.share_wire import ACCEPTED, RETIRED, TOKEN_BYTES, is_same_user, pack, receive

# A server loads in one or two seconds. Clients give up after ten or more, so one that waited this long is served alone.
PATIENCE = 6.0
_POLL = 0.01
_HOST = "127.0.0.1"
# Without the collector, which finds nothing to collect, the server's imports take a tenth less.
_SERVER = "import gc; gc.disable(); from keyhole.mcp_server.shared_server import main; main()"

Connection = _socket.socket
TYPE_CHECKING = False
if TYPE_CHECKING:  # type checkers set it; importing typing for it takes long
    from collections.abc import Callable


def connect(path: str) -> Connection | None:
    """Connect to a server that listens on a socket; None if none does."""
    if USES_LOOPBACK:
        return connect_loopback(path)
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(path)
    except (FileNotFoundError, ConnectionError, BlockingIOError):
        connection.close()
        return None
    if not is_same_user(connection):
        raise UnsharedError(f"another user listens on {path}")
    return connection


def connect_loopback(path: str) -> Connection | None:
    """Connect to the port in a file, after both sides have shown that they know the tokens in it."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            port, ours, theirs = file.read().split()
    except (OSError, ValueError):
        return None
    connection = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    # A program of another user may have got the port since the server ended, and may not say anything.
    connection.settimeout(PATIENCE)
    try:
        connection.connect((_HOST, int(port)))
        connection.sendall(ours)
        if receive(connection, 2 * TOKEN_BYTES) == theirs:
            connection.settimeout(None)
            return connection
    except OSError:
        pass
    connection.close()
    return None


def ask(address: ShareAddress, request: "list[bytes]", patience: float) -> "tuple[bytes, Connection] | None":
    """Send a request to the server if one runs; return the first byte of its answer, empty if it ended."""
    connection = connect(address.socket)
    if connection is None:
        return None
    connection.settimeout(patience)
    try:
        connection.sendall(pack(request))
        answer = connection.recv(1)
    except TimeoutError:
        raise UnsharedError("the shared server does not answer") from None
    except ConnectionError:
        answer = b""
    connection.settimeout(None)
    return answer, connection


def reach(address: ShareAddress, request: "list[bytes]") -> Connection:
    """Return a connection on which the server serves this request; start a server if none runs."""
    end = time.monotonic() + PATIENCE
    start = ServerStart(address)
    try:
        while (left := end - time.monotonic()) > 0:
            answered = ask(address, request, left)
            if answered and answered[0] == ACCEPTED:
                return answered[1]
            if answered and answered[0] not in (b"", RETIRED):
                raise DeclinedError("the shared server does not take this client")
            if not start.try_once():
                time.sleep(_POLL)
        raise UnsharedError(f"no shared server within {PATIENCE:g} seconds")
    finally:
        start.release()


class ServerStart:
    """Starts a server, unless another client is starting it."""

    def __init__(self, address: ShareAddress) -> None:
        self._address = address
        self._lock: int | None = None
        self._exit_code: Callable[[], int | None] | None = None

    def try_once(self) -> bool:
        """Start the server if nobody does; return whether to look at once, or raise UnsharedError if it failed."""
        if self._exit_code is not None:
            if (code := self._exit_code()) is not None:
                raise UnsharedError(f"the shared server could not start (exit code {code}); see {self._address.log}")
        elif self._lock is None:
            # The client that had the lock before may have started a server just now, so look once more.
            self._lock = _try_lock(self._address.lock)
            return self._lock is not None
        else:
            self._refuse_newer()
            self._exit_code = _start(self._address, self._lock)
            self.release()
        return False

    def release(self) -> None:
        """Let others start a server; one that is starting has the lock itself, until it listens."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _refuse_newer(self) -> None:
        for newer in self._address.newer():
            if (connection := connect(newer.socket)) is not None:
                connection.close()
                raise UnsharedError(f"a shared server of keyhole {newer.version} runs, which is newer")


def _start(address: ShareAddress, lock: int) -> "Callable[[], int | None]":
    """Start a server, and return what tells its exit code if it has ended."""
    command = [sys.executable, "-P", "-c", _SERVER, address.folder, address.key, str(lock)]
    # With more arenas than threads that run at a time, glibc keeps a tenth more memory than is used.
    variables = {"MALLOC_ARENA_MAX": "2"}
    variables |= {name: value for name, value in os.environ.items() if name != "KEYHOLE_TOKEN"}
    log = os.open(address.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    try:
        return _spawn(command, variables, log, lock)
    except OSError as error:
        raise UnsharedError(f"the shared server could not start ({error})") from None
    finally:
        os.close(log)


def _spawn(command: "list[str]", variables: "dict[str, str]", log: int, lock: int) -> "Callable[[], int | None]":
    if sys.platform == "win32":
        import subprocess

        # No console, and Ctrl-C of the client is not for it.
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        nowhere = subprocess.DEVNULL
        return subprocess.Popen(  # noqa: S603  # our own module
            command, env=variables, stdin=nowhere, stdout=nowhere, stderr=log, creationflags=flags
        ).poll
    os.set_inheritable(lock, True)
    nowhere = os.open(os.devnull, os.O_RDWR)
    streams = [(os.POSIX_SPAWN_DUP2, number, target) for target, number in enumerate((nowhere, nowhere, log))]
    process = os.posix_spawn(command[0], command, variables, file_actions=streams)
    os.close(nowhere)

    def exit_code() -> int | None:
        ended, status = os.waitpid(process, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if ended else None

    return exit_code


def _try_lock(path: str) -> int | None:
    """Lock a file and return its number; None if another process holds the lock. The system frees it at our end."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return None
    return file
