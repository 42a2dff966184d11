"""The HTTP server inside another program's event loop, such as the explorer's.

    server = await EmbeddedServer.start(service, port=0)    # raises PortError if the port cannot be used
    server.address, server.client_setup                     # to show and to copy
    await server.stop()                                     # frees the port and writes the journal

It installs no signal handlers, prints nothing, and logs only to loggers that have a handler. `start` imports fastmcp in
a thread, because the first import takes about a second of processor time and the event loop must keep running.
"""

import asyncio
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from keyhole.core.errors import ErrorKind, PortError
from keyhole.core.listening import listen
from keyhole.core.service import Service
from keyhole.mcp_server.http_processes import SharedListener
from keyhole.mcp_server.import_fastmcp import import_fastmcp
from keyhole.mcp_server.run_server import (
    ENDPOINT,
    client_setup,
    http_options,
    quiet_libraries,
    uvicorn_options,
    verifier,
)

if TYPE_CHECKING:
    import uvicorn

    from keyhole.core.journal.writer import Journal
    from keyhole.mcp_server.token_check import OnRejection

HOST = "127.0.0.1"
_POLL = 0.02


class EmbeddedServer:
    """One running server."""

    def __init__(self, server: "uvicorn.Server", task: "asyncio.Task[None]", address: str, token: str) -> None:
        self.address = address
        self.token = token
        self._server = server
        self._task = task
        self._journal: Journal | None = None

    @property
    def client_setup(self) -> str:
        """The configuration to paste into a client."""
        return client_setup(self.address, self.token)

    @property
    def is_running(self) -> bool:
        """Whether the server is running."""
        return not self._task.done()

    @classmethod
    async def start(
        cls, service: Service, *, port: int = 0, token: str | None = None, on_rejection: "OnRejection" = lambda _: None
    ) -> "EmbeddedServer":
        """Serve a workspace on this machine; port 0 picks a free one. Rejected requests go to `on_rejection`."""
        # The server opens the index separately, so that the explorer never waits for an agent's search.
        own = Service(service.root, service.settings)
        plain, base = listen(HOST, port)
        address = base + ENDPOINT
        listener = SharedListener.alone(plain)
        token = token or secrets.token_urlsafe(24)
        try:
            journal = own.journal()
            server = await asyncio.to_thread(_uvicorn_server, own, token, journal, on_rejection)
            task = asyncio.create_task(_serve(server, listener), name="keyhole-mcp")
            while not server.started and not task.done():
                await asyncio.sleep(_POLL)
        except BaseException:
            listener.close()
            raise
        if task.done():
            listener.close()
            raise PortError(f"cannot serve at {address} ({task.exception()})", ErrorKind.TAKEN_PORT)
        started = cls(server, task, address, token)
        started._journal = journal
        return started

    async def stop(self) -> None:
        """Close the connections, free the port, and write the rest of the journal."""
        self._server.should_exit = True
        # A caller that cancels this wants to leave immediately; the server stops either way.
        with suppress(Exception):
            await asyncio.shield(self._task)
        if self._journal:
            await asyncio.to_thread(self._journal.close)


async def _serve(server: "uvicorn.Server", listener: socket.socket) -> None:
    try:
        await server.serve(sockets=[listener])
    except SystemExit as error:
        # uvicorn exits the process if it cannot start, but this process is not its own.
        raise RuntimeError("the server could not start") from error
    finally:
        listener.close()


def _uvicorn_server(
    service: Service, token: str, journal: "Journal | None", on_rejection: "OnRejection"
) -> "uvicorn.Server":
    """Make the server; runs in a thread because its imports are slow."""
    import_fastmcp()
    import uvicorn

    from keyhole.mcp_server.server import build_server

    quiet_libraries()
    server = build_server(service, verifier(token), journal)
    app = server.http_app(**http_options(server, on_rejection))

    class QuietServer(uvicorn.Server):
        """Leaves signals to the program that embeds it."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    return QuietServer(uvicorn.Config(app, lifespan="on", **uvicorn_options()))
