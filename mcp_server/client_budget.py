"""The budget of an answer when the agent names none: what its client delivers whole."""

from typing import Any

from fastmcp.server.middleware import Middleware

from keyhole.core.clients import default_budget
from keyhole.mcp_server.recording import client_of
from keyhole.mcp_server.texts import TOOLS

_PARAMETER = "max_tokens"


class ClientBudget(Middleware):
    """Fills in the budget by the name of the client."""

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Run a tool."""
        tool, arguments = TOOLS.get(context.message.name), context.message.arguments or {}
        if tool and _PARAMETER in tool.parameters and _PARAMETER not in arguments:
            budget = default_budget(client_of(context.fastmcp_context)[0])
            if budget is not None:
                filled = context.message.model_copy(update={"arguments": {**arguments, _PARAMETER: budget}})
                context = context.copy(message=filled)
        return await call_next(context)
