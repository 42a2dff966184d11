"""The budget of an answer when the agent gives none: what its client delivers untruncated."""

from fastmcp import Context
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import ToolResult
from mcp.types import CallToolRequestParams

from keyhole.core.clients import default_budget
from keyhole.core.view.budget.limits import DEFAULT_TOKENS
from keyhole.mcp_server.recording import client_of
from keyhole.mcp_server.tool_texts import TOOLS

_PARAMETER = "max_tokens"


class ClientBudget(Middleware):
    """Fills in `max_tokens` from the name of the client."""

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Run a tool with the budget filled in."""
        tool, arguments = TOOLS.get(context.message.name), context.message.arguments or {}
        if tool and _PARAMETER in tool.parameters and _PARAMETER not in arguments:
            budget = budget_of(context.fastmcp_context)
            filled = context.message.model_copy(update={"arguments": {**arguments, _PARAMETER: budget}})
            context = context.copy(message=filled)
        return await call_next(context)


def budget_of(context: Context | None) -> int:
    """Return the default budget for the calling client."""
    return default_budget(client_of(context)[0]) or DEFAULT_TOKENS
