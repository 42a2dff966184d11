"""The explorer's MCP server: started on demand, stopped after the explorer has closed.

It runs as its own task in the same loop, not as one of Textual's workers, which are cancelled before it may stop. It
posts to the app: `ServerStarted` with its address, `RequestRejected` for each request without the right token, and
`ServerStopped` after a stop or a failed start.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from keyhole.core.errors import ErrorKind, KeyholeError, PortError
from keyhole.core.types.choices import ToolSet

if TYPE_CHECKING:
    from textual.message_pump import MessagePump

    from keyhole.core.search.sample_queries import SampleQueries
    from keyhole.core.service import Service
    from keyhole.core.types.demo import DemoStep

log = logging.getLogger("keyhole.tui")


class Server(Protocol):
    """A running server, as the explorer uses it."""

    address: str

    @property
    def client_setup(self) -> str:
        """The configuration to paste into a client."""

    async def stop(self) -> None:
        """Stop the server and free its port."""


class Tools(Protocol):
    """Keyhole's tools, as clients see them; both methods are slow and are called in a thread."""

    def call(self, service: "Service", client: str, tool: str, arguments: Mapping[str, object]) -> str:
        """Call a tool and return the text that a client of this name gets."""

    def costs(self, tools: ToolSet) -> Mapping[str, int]:
        """Return what the definitions of these tools cost each client, in tokens."""


# Starts a server for a workspace on a port (0: any free one); the last argument is called with the reason for each
# rejected request.
StartServer = Callable[["Service", int, Callable[[str], None]], Awaitable[Server]]


class ScriptedAgent(Protocol):
    """An agent that makes the calls of the script."""

    async def call(self, step: "DemoStep") -> str:
        """Make a call and return its text."""

    def close(self) -> None:
        """Write what is left to write."""


@dataclass(frozen=True, slots=True)
class Demo:
    """The script and its agent, which the explorer is given because it must not import them; `pause` is in seconds."""

    steps: "Callable[[SampleQueries], Sequence[DemoStep]]"
    start: "Callable[[Service], ScriptedAgent]"
    pause: float


@dataclass(frozen=True, slots=True)
class ServerSide:
    """The parts of the MCP server that the explorer is given, because it must not import them."""

    start: StartServer
    tools: Tools
    # The port to serve on from the start; None: only when the user starts the server.
    port: int | None = None
    # What `keyhole demo` shows.
    demo: Demo | None = None


class Serving:
    """Starts and stops the server; there is at most one at a time."""

    def __init__(self, app: "MessagePump", start_server: StartServer) -> None:
        self._app = app
        self._start_server = start_server
        self._starting: asyncio.Task[None] | None = None
        self.server: Server | None = None

    @property
    def is_starting(self) -> bool:
        """Whether a server is starting."""
        return self._starting is not None and not self._starting.done()

    def start(self, service: "Service", port: int) -> None:
        """Start the server, unless it is running or starting."""
        if self.server is None and not self.is_starting:
            self._starting = asyncio.create_task(self._start(service, port), name="start-server")

    async def stop(self) -> None:
        """Stop the server, if it is running or starting."""
        from keyhole.tui.messages import ServerStopped

        if self._starting:
            await asyncio.wait([self._starting])
        server, self.server = self.server, None
        if server:
            await server.stop()
            self._app.post_message(ServerStopped())

    async def _start(self, service: "Service", port: int) -> None:
        from keyhole.tui.messages import RequestRejected, ServerStarted, ServerStopped

        def post_rejection(reason: str) -> None:
            self._app.post_message(RequestRejected(reason))

        try:
            self.server = await self._start_server(service, port, post_rejection)
        except KeyholeError as error:
            self._app.post_message(ServerStopped(error))
        except Exception as error:
            log.exception("could not start the server")
            self._app.post_message(
                ServerStopped(PortError(f"could not start the server ({error})", ErrorKind.TAKEN_PORT))
            )
        else:
            self._app.post_message(ServerStarted(self.server.address, self.server.client_setup))
