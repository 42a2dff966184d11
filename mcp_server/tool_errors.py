"""Errors as agents see them: what is wrong and what to do next, without details of the machine."""

import logging
import re
from typing import TYPE_CHECKING

from fastmcp.exceptions import NotFoundError, ToolError, ValidationError
from fastmcp.resources.base import ResourceResult
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import ToolResult
from mcp import MCPError
from mcp.types import INVALID_PARAMS, CallToolRequestParams, ReadResourceRequestParams
from pydantic import ValidationError as PydanticValidationError

from keyhole.core.errors import KeyholeError
from keyhole.core.masking import mask_text
from keyhole.core.suggest import suggest_name
from keyhole.core.types.choices import ToolSet
from keyhole.core.untrusted_text import error_text
from keyhole.core.view.text import count_of, name_text
from keyhole.mcp_server.errors_for_agents import agent_steps
from keyhole.mcp_server.tool_texts import ADDRESSES, TOOLS, tool_names

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from keyhole.core.service import Service

log = logging.getLogger("keyhole.mcp")

# The first problems of a call; more would be cut off anyway.
_MOST_PROBLEMS = 3
_LONGEST_QUOTE = 60
_LONGEST_ADDRESS = 200


class ReadableErrors(Middleware):
    """Turns every error of a call into a text that says what to do next."""

    def __init__(self, service: "Service", tools: ToolSet = ToolSet.ALL) -> None:
        self._service = service
        self._tools = tools

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Run a tool, and reword the error if it fails."""
        name = str(context.message.name)
        try:
            return await call_next(context)
        except NotFoundError:
            raise ToolError(self._unknown_tool(name)) from None
        except ValidationError as error:
            raise ToolError(_invalid_arguments(name, error.__cause__)) from None
        except ToolError as error:
            # fastmcp masks the error that a tool raised, but keeps it as the cause.
            if error.__cause__ is None:
                raise
            raise ToolError(self._as_tool_error(name, error.__cause__)) from None

    async def on_read_resource(
        self,
        context: MiddlewareContext[ReadResourceRequestParams],
        call_next: CallNext[ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        """Read a resource, and reword the error if there is no such resource."""
        try:
            return await call_next(context)
        except NotFoundError:
            # The library would quote the whole address twice. Clients that send several requests need it once.
            shown = name_text(mask_text(str(context.message.uri)), _LONGEST_ADDRESS)
            text = f"unknown resource {shown!r}. Choose from: {', '.join(ADDRESSES)}"
            raise MCPError(INVALID_PARAMS, text, {"uri": shown}) from None

    def _unknown_tool(self, name: str) -> str:
        if name in TOOLS:
            return f"{name} is not served here; the user can start keyhole with all tools (mcp.tools)"
        return f"unknown tool {_quoted(name)}. {suggest_name(name, tool_names(self._tools))}"

    def _as_tool_error(self, name: str, cause: BaseException) -> str:
        if isinstance(cause, KeyholeError):
            return self.readable(cause)
        log.error("%s failed", name, exc_info=cause)
        return f"{name} failed because of a bug in keyhole; the server's log has the details"

    def readable(self, error: KeyholeError) -> str:
        """Return the text of an error, without absolute paths of the workspace and the index."""
        message = error.worded(agent_steps(self._tools))
        for folder in (self._service.folder, self._service.root):
            message = message.replace(f"{folder}/", "").replace(str(folder), folder.name)
        return error_text(message)


def _invalid_arguments(tool: str, cause: BaseException | None) -> str:
    if not isinstance(cause, PydanticValidationError):
        return f"invalid arguments for {tool}; its parameters are {', '.join(TOOLS[tool].parameters)}"
    problems = [_problem(tool, problem) for problem in cause.errors(include_url=False)[:_MOST_PROBLEMS]]
    more = cause.error_count() - len(problems)
    return error_text(
        f"invalid arguments for {tool}: {'; '.join(problems)}"
        + (f"; and {count_of(more, 'more problem')}" if more else "")
    )


def _problem(tool: str, problem: "ErrorDetails") -> str:
    name = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "unexpected_keyword_argument":
        return f"unknown parameter {_quoted(name)}. {suggest_name(name, TOOLS[tool].parameters)}"
    if problem["type"] == "literal_error":
        value = str(problem["input"])
        return f"{name}: unknown value {_quoted(value)}. {suggest_name(value, _expected(problem))}"
    if problem["type"] in ("missing", "missing_argument"):
        return f"{name} is missing: {TOOLS[tool].parameters.get(name, '')}".rstrip(": ")
    return f"{name}: {problem['msg']}"


def _quoted(value: str) -> str:
    # Masked first: half a token is still half a secret.
    return repr(name_text(mask_text(value), _LONGEST_QUOTE))


def _expected(problem: "ErrorDetails") -> list[str]:
    """Return the values that a parameter accepts; pydantic lists them in quotes."""
    return [value for value in re.findall("'([^']*)'", problem["ctx"]["expected"]) if value]
