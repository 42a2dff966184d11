"""The server beside the explorer: started on demand, stopped when the explorer has closed.

It runs as a task of its own in the same loop, not as one of Textual's workers: those are cancelled first. What happens
is posted to the app: `Serves` once an address is known, `RequestRejected` of each request without the right token,
`ServerStopped` when it could not be started or after a stop.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from keyhole.core.errors import ErrorKind, KeyholeError, PortError

if TYPE_CHECKING:
    from textual.message_pump import MessagePump

    from keyhole.core.service import Service

log = logging.getLogger("keyhole.tui")


class Server(Protocol):
    """What the explorer needs of a running server."""

    address: str

    @property
    def client_setup(self) -> str:
        """What to paste into a client."""

    async def stop(self) -> None:
        """End it, and free its port."""


class Tools(Protocol):
    """Our own tools, as clients get them; both take time, so they are called in a thread."""

    def call(self, service: "Service", client: str, tool: str, arguments: Mapping[str, object]) -> str:
        """Return the text that a client of this name gets."""

    def costs(self) -> Mapping[str, int]:
        """Return what the definitions of all tools cost each client, in tokens."""


# Starts a server for a workspace on a port; 0 is any that is free. The last is told why a request was turned away.
StartServer = Callable[["Service", int, Callable[[str], None]], Awaitable[Server]]


@dataclass(frozen=True, slots=True)
class ServerSide:
    """What the explorer gets from the side of the server, which it does not know itself."""

    start: StartServer
    tools: Tools


class Serving:
    """At most one server at a time."""

    def __init__(self, app: "MessagePump", start_server: StartServer) -> None:
        self._app = app
        self._start_server = start_server
        self._starting: asyncio.Task[None] | None = None
        self.server: Server | None = None

    @property
    def is_starting(self) -> bool:
        """Whether a server is on its way."""
        return self._starting is not None and not self._starting.done()

    def start(self, service: "Service", port: int) -> None:
        """Start a server, unless there is one."""
        if self.server is None and not self.is_starting:
            self._starting = asyncio.create_task(self._start(service, port), name="start-server")

    async def stop(self) -> None:
        """Stop the server, if there is one."""
        from keyhole.tui.messages import ServerStopped

        if self._starting:
            await asyncio.wait([self._starting])
        server, self.server = self.server, None
        if server:
            await server.stop()
            self._app.post_message(ServerStopped())

    async def _start(self, service: "Service", port: int) -> None:
        from keyhole.tui.messages import RequestRejected, ServerStarted, ServerStopped

        def tell(reason: str) -> None:
            self._app.post_message(RequestRejected(reason))

        try:
            self.server = await self._start_server(service, port, tell)
        except KeyholeError as error:
            self._app.post_message(ServerStopped(error))
        except Exception as error:
            log.exception("the server could not be started")
            self._app.post_message(
                ServerStopped(PortError(f"the server could not be started ({error})", ErrorKind.TAKEN_PORT))
            )
        else:
            self._app.post_message(ServerStarted(self.server.address, self.server.client_setup))
