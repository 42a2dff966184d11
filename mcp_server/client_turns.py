"""Limits what one client of the shared server may take from the others."""

import asyncio
from typing import Any

from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext

from keyhole.core.errors import DeadlineError, ErrorKind
from keyhole.core.turns import taking_turns
from keyhole.mcp_server.open_workspaces import SharedWorkspace
from keyhole.mcp_server.shared_client import current_client
from keyhole.mcp_server.with_deadline import SECONDS


class ClientTurns(Middleware):
    """Lets a few calls of a client run at a time, and long ones give way to the calls of other clients."""

    def __init__(self, workspace: SharedWorkspace) -> None:
        self._workspace = workspace

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Run a tool when it is this client's turn."""
        return await self._in_turn(context, call_next)

    async def on_read_resource(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Read a resource when it is this client's turn."""
        return await self._in_turn(context, call_next)

    async def _in_turn(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        client = current_client.get()
        if client is None:
            return await call_next(context)
        try:
            await asyncio.wait_for(client.slots.acquire(), SECONDS)
        except TimeoutError:
            raise DeadlineError("earlier calls of this client are still running", ErrorKind.BUSY) from None
        try:
            with self._workspace.in_use(), taking_turns(client):
                return await call_next(context)
        finally:
            client.slots.release()
