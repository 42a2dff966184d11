"""The budget of an answer: what its client delivers whole, whatever the agent asks for."""

from fastmcp import Context
from fastmcp.resources.base import ResourceResult
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import ToolResult
from mcp.types import CallToolRequestParams, ReadResourceRequestParams

from keyhole.core.clients import budget_for, check_profiles, profile_for, room_for
from keyhole.core.config import Settings
from keyhole.core.view.budget.room import Room, within
from keyhole.mcp_server.recording import client_of
from keyhole.mcp_server.tool_texts import TOOLS

_PARAMETER = "max_tokens"


class ClientBudget(Middleware):
    """Fills in `max_tokens` from the settings, and fits every answer into the room of the client."""

    def __init__(self, settings: Settings) -> None:
        check_profiles(settings)
        self._settings = settings

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Run a tool with the budget filled in."""
        tool, arguments = TOOLS.get(context.message.name), context.message.arguments or {}
        if tool and _PARAMETER in tool.parameters and arguments.get(_PARAMETER) is None:
            budget = budget_of(context.fastmcp_context, self._settings)
            filled = context.message.model_copy(update={"arguments": {**arguments, _PARAMETER: budget}})
            context = context.copy(message=filled)
        with within(self._room(context.fastmcp_context)):
            return await call_next(context)

    async def on_read_resource(
        self,
        context: MiddlewareContext[ReadResourceRequestParams],
        call_next: CallNext[ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        """Read a resource, which has no parameters, within the client's room."""
        with within(self._room(context.fastmcp_context)):
            return await call_next(context)

    def _room(self, context: Context | None) -> Room | None:
        return room_for(profile_for(client_of(context)[0], self._settings))


def budget_of(context: Context | None, settings: Settings) -> int:
    """Return the default budget for the calling client."""
    return budget_for(client_of(context)[0], settings)
