"""One client of the shared server: a session of its own over a connection."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from fastmcp import FastMCP
from fastmcp.server.context import reset_transport, set_transport
from mcp.server.stdio import stdio_server

from keyhole.core.types.choices import ToolSet
from keyhole.mcp_server.client_turns import ClientTurns
from keyhole.mcp_server.open_workspaces import SharedWorkspace
from keyhole.mcp_server.request_check import MAX_REQUEST_BYTES, RefusedRequest, check_request, refuse_large
from keyhole.mcp_server.server import build_server
from keyhole.mcp_server.shared_client import SharedClient, current_client

if TYPE_CHECKING:
    from anyio import AsyncFile

_CHUNK = 1 << 16
# Enough of a request that is dropped to find its id.
_END_KEPT = 1_000


async def server_of(workspace: SharedWorkspace, tools: ToolSet | None) -> FastMCP:
    """Return the server for a client of a workspace: one for all, because the library never forgets one it has seen."""
    if tools not in workspace.servers:
        server = workspace.servers[tools] = build_server(
            workspace.service,
            journal=workspace.journal,
            tools=tools,
            freshness=workspace.freshness,
            outermost=[ClientTurns(workspace)],
        )
        await _keep_started(server, workspace)
    return workspace.servers[tools]


async def _keep_started(server: FastMCP, workspace: SharedWorkspace) -> None:
    """Start a server, and stop it with its workspace: clients come and go in any order."""
    is_started = asyncio.Event()

    async def keep() -> None:
        async with server._lifespan_manager():  # noqa: SLF001  # as `run_stdio_async` does; a test covers it
            is_started.set()
            await asyncio.Event().wait()

    keeper = asyncio.create_task(keep())
    loop = asyncio.get_running_loop()
    workspace.closers.append(lambda: loop.call_soon_threadsafe(keeper.cancel))
    await is_started.wait()


async def serve_session(server: FastMCP, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve a client until it disconnects."""
    lines = cast("AsyncFile[str]", CheckedLines(reader, writer))
    core = server._mcp_server  # noqa: SLF001
    current_client.set(SharedClient())
    token = set_transport("stdio")
    try:
        async with stdio_server(lines, lines) as (requests, answers):
            await core.run(requests, answers, core.create_initialization_options())
    finally:
        reset_transport(token)


class CheckedLines:
    """The lines of a connection, read and written like those of a file; a bad message is answered here."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def __aiter__(self) -> AsyncIterator[str]:
        """Return the good messages."""
        async for line in self._lines():
            refusal = line if isinstance(line, RefusedRequest) else check_request(line)
            if refusal is None:
                yield cast("bytes", line).decode("utf-8", "replace")
            else:
                await self.write(f"{refusal.to_json().decode()}\n")

    async def _lines(self) -> AsyncIterator[bytes | RefusedRequest]:
        """Return each line that is not empty, or why it is refused if it is too long."""
        start, rest, is_dropped = b"", b"", False
        while chunk := await self._read():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if is_dropped:
                    yield refuse_large(start, line[-_END_KEPT:])
                    is_dropped = False
                elif line.strip():
                    yield line
            if len(rest) > MAX_REQUEST_BYTES or is_dropped:
                start, is_dropped = start if is_dropped else rest[:_END_KEPT], True
                rest = rest[-_END_KEPT:]
        if rest.strip() and not is_dropped:
            yield rest

    async def _read(self) -> bytes:
        try:
            return await self._reader.read(_CHUNK)
        except ConnectionError:
            return b""

    async def write(self, text: str) -> None:
        """Write a message."""
        try:
            self._writer.write(text.encode())
            await self._writer.drain()
        except ConnectionError:
            # The client has gone; reading ends the session.
            pass

    async def flush(self) -> None:
        """Do nothing: every write is sent."""


def session_options(fields: list[bytes]) -> tuple[Path, ToolSet | None, bool, dict[str, object]]:
    """Return the folder, the tools, whether any folder is allowed, and the settings that a client asks for."""
    place, tools, *flags = (field.decode("utf-8", "surrogateescape") for field in fields)
    chosen = ToolSet(tools) if tools else None
    return Path(place), chosen, "--force" in flags, {"journal.enabled": False} if "--no-journal" in flags else {}
