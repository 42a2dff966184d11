"""The shared server of a user: all clients on stdio, in one process, each with a session of its own.

`keyhole mcp` starts it on demand (core/sharing) and passes messages to it. It ends when it had no client for a while,
when its code has changed on disk, or when its socket is gone; it never takes a socket from another server.
"""

import asyncio
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Timer

from keyhole import core, mcp_server
from keyhole.core.config import load_settings
from keyhole.core.errors import KeyholeError
from keyhole.core.processes import ENDING_SIGNALS
from keyhole.core.sharing.share_address import ShareAddress
from keyhole.core.sharing.share_wire import ACCEPTED, DECLINED, RETIRED, SESSION, STATUS, STOP, length_of
from keyhole.mcp_server.import_fastmcp import import_fastmcp
from keyhole.mcp_server.open_workspaces import OpenWorkspaces
from keyhole.mcp_server.shared_guardian import Guardian, guarded
from keyhole.mcp_server.shared_listener import SharedSocket, serve_connections
from keyhole.mcp_server.shared_runner import RunnerProcess

log = logging.getLogger("keyhole.mcp")

# Seconds without a client after which the server ends, and without a call after which a workspace is closed.
IDLE = 600.0
CLOSE_WORKSPACES = 300.0
SWEEP = 5.0
# A client has this long to say what it wants.
_PATIENCE = 5.0
_MOST_SESSIONS = 256
# A server that does not start within this time ends, so that clients can start another.
_LONGEST_START = 60
# Threads that answer calls. Each client has at most two calls at a time, and most of them wait for each other anyway.
_THREADS = 32
_LONGEST_LOG = 1_000_000
_PACKAGES = (core, mcp_server)
# The interpreter switches between threads this often; the default lets a long call stop a short one a hundred times.
_SWITCH_SECONDS = 0.0005


class SharedServer:
    """Serves sessions until it is idle."""

    def __init__(self, address: ShareAddress, guardian: Guardian) -> None:
        self._address = address
        self._guardian = guardian
        self._socket = SharedSocket(address.socket)
        self._runner = RunnerProcess(address.commands)
        self._workspaces = OpenWorkspaces()
        self._sessions = 0
        self._used = time.monotonic()
        self._code: tuple[int, float] | None = None
        self._ended = asyncio.Event()

    async def run(self, on_ready: Callable[[], object]) -> None:
        """Serve until the end."""
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="call"))
        for number in ENDING_SIGNALS:
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, self._ended.set)
        async with serve_connections(self._socket, self._serve):
            self._runner.listen(loop)
            self._guardian.on_ready()
            on_ready()
            # After the first client has connected, who waits for nothing else.
            loop.call_later(_PATIENCE / 10, self._remember_code)
            while not self._ended.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._ended.wait(), SWEEP)
                await asyncio.to_thread(self._sweep)
        self._leave()

    def _remember_code(self) -> None:
        self._code = _code_stamp()

    def _sweep(self) -> None:
        """Close what nobody uses, and end if nobody uses anything."""
        self._workspaces.close_idle(CLOSE_WORKSPACES)
        if os.fstat(2).st_size > _LONGEST_LOG:
            os.ftruncate(2, 0)
        if self._sessions or self._runner.is_busy():
            self._used = time.monotonic()
        is_found = self._socket.is_ours()
        if not is_found:
            self._guardian.dismiss()
        if time.monotonic() - self._used > IDLE or not (self._sessions or is_found):
            self._ended.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        try:
            kind, *fields = await asyncio.wait_for(_request(reader), _PATIENCE)
            if kind == SESSION:
                await self._serve_session(fields, reader, writer)
            elif kind == STATUS:
                writer.write(ACCEPTED + os.fsencode(self._status()))
                await writer.drain()
            elif kind == STOP:
                writer.write(ACCEPTED + os.fsencode(self._status()))
                await writer.drain()
                self._retire()
                self._ended.set()
        except (TimeoutError, ConnectionError, asyncio.IncompleteReadError, ValueError):
            # Whatever connected is no client of ours, or has gone.
            pass
        finally:
            writer.close()

    async def _serve_session(
        self, fields: list[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        # Imported after fastmcp, which `main` imports with our settings.
        from keyhole.mcp_server.shared_session import serve_session, server_of, session_options

        if self._code is not None and await asyncio.to_thread(_code_stamp) != self._code:
            # Keyhole was updated: the next client starts a server with the new code.
            self._retire()
            writer.write(RETIRED)
            return
        try:
            path, tools, force, flags = session_options(fields)
            with self._workspaces.lend(path, force=force, flags=flags) as workspace:
                if self._sessions >= _MOST_SESSIONS or not workspace.service.settings.share:
                    writer.write(DECLINED)
                    return
                self._sessions += 1
                try:
                    writer.write(ACCEPTED)
                    await serve_session(await server_of(workspace, tools), reader, writer)
                finally:
                    self._sessions -= 1
        except (KeyholeError, ValueError):
            # The client serves itself, and its own error says what is wrong.
            writer.write(DECLINED)
        except Exception:
            log.exception("a session ended with an error")

    def _status(self) -> str:
        roots = [str(root) for root in self._workspaces.roots()]
        return "\n".join([str(os.getpid()), str(self._sessions), self._cache_dir(), *roots])

    def _cache_dir(self) -> str:
        """Return where this server's indexes are; empty if the user's settings are wrong."""
        with suppress(KeyholeError):
            # No settings of a workspace: nothing else is in this folder.
            return str(load_settings(Path(self._address.folder)).cache_dir)
        return ""

    def _retire(self) -> None:
        """Leave new clients to another server; those that are connected stay."""
        self._socket.give_up()
        self._guardian.dismiss()

    def _leave(self) -> None:
        """End at once: a running update stops between two transactions, and its workers end with this process."""
        self._socket.give_up()
        self._runner.stop()
        self._workspaces.close()
        os._exit(0)


async def _request(reader: asyncio.StreamReader) -> list[bytes]:
    length = length_of(await reader.readexactly(4))
    return (await reader.readexactly(length)).split(b"\0")


def _code_stamp() -> tuple[int, float]:
    """Return how many modules are installed, and when one was last changed: imports must not mix two versions."""
    times = [
        os.stat(os.path.join(folder, name)).st_mtime  # noqa: PTH116, PTH118  # this has to be fast
        for package in _PACKAGES
        for folder, _, names in os.walk(os.path.dirname(package.__file__ or ""))  # noqa: PTH120
        for name in names
        if name.endswith(".py")
    ]
    return len(times), max(times)


def main() -> None:
    """Serve on the address that the arguments name."""
    folder, key, lock = sys.argv[1:4]
    on_loaded = _limit_start()
    if hasattr(os, "setsid"):
        # A session of its own: Ctrl-C and the end of the client's terminal are not for this process.
        os.setsid()
    os.chdir(folder)
    os.umask(0o077)
    sys.setswitchinterval(_SWITCH_SECONDS)
    import_fastmcp()
    from keyhole.mcp_server import shared_session  # noqa: F401  # everything is loaded before the first client comes
    from keyhole.mcp_server.run_server import log_to_stderr, quiet_libraries

    # What is loaded now stays: looking through it for garbage would only take time.
    gc.freeze()
    quiet_libraries()
    log_to_stderr()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Path(folder).chmod(0o700)
    on_loaded()
    guardian = guarded(int(lock), _code_stamp)
    on_ready = _limit_start()
    gc.enable()

    async def serve() -> None:
        await SharedServer(ShareAddress(folder, key), guardian).run(on_ready)

    asyncio.run(serve())


def _limit_start() -> Callable[[], object]:
    """End this process if it does not start in time; return what lifts the limit."""
    if hasattr(signal, "alarm"):
        # No thread, because the process forks later.
        signal.alarm(_LONGEST_START)
        return lambda: signal.alarm(0)
    watchdog = Timer(_LONGEST_START, os._exit, [1])
    watchdog.daemon = True
    watchdog.start()
    return watchdog.cancel
