"""Errors as agents see them: what is wrong and what to do next, and nothing about the machine."""

import logging
from difflib import get_close_matches
from typing import TYPE_CHECKING

from fastmcp.exceptions import NotFoundError, ToolError, ValidationError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import ToolResult
from mcp.types import CallToolRequestParams
from pydantic import ValidationError as PydanticValidationError

from keyhole.core.errors import KeyholeError
from keyhole.core.view.text import visible
from keyhole.mcp_server.errors_for_agents import AGENT_STEPS
from keyhole.mcp_server.tool_texts import TOOLS

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from keyhole.core.service import Service

log = logging.getLogger("keyhole.mcp")


class ReadableErrors(Middleware):
    """Turns every failure of a call into a text that says what to do next."""

    def __init__(self, service: "Service") -> None:
        self._service = service

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Run a tool."""
        name = str(context.message.name)
        try:
            return await call_next(context)
        except NotFoundError:
            raise ToolError(f"there is no tool {visible(name)!r}; {_nearest(name, list(TOOLS))}") from None
        except ValidationError as error:
            raise ToolError(_wrong_arguments(name, error.__cause__)) from None
        except ToolError as error:
            # fastmcp masks what a tool raised; it is still there as the cause.
            if error.__cause__ is None:
                raise
            raise ToolError(self._as_tool_error(name, error.__cause__)) from None

    def _as_tool_error(self, name: str, cause: BaseException) -> str:
        if isinstance(cause, KeyholeError):
            return self.readable(cause)
        log.error("%s failed", name, exc_info=cause)
        return f"{name} failed inside keyhole ({type(cause).__name__}); its log has the details"

    def readable(self, error: KeyholeError) -> str:
        """Write an error without the folders that are none of the agent's business."""
        message = error.worded(AGENT_STEPS)
        for folder in (self._service.folder, self._service.root):
            message = message.replace(f"{folder}/", "").replace(str(folder), folder.name)
        return visible(message)


def _wrong_arguments(tool: str, cause: BaseException | None) -> str:
    if not isinstance(cause, PydanticValidationError):
        return f"wrong arguments for {tool}; it takes {', '.join(TOOLS[tool].parameters)}"
    problems = [_problem(tool, problem) for problem in cause.errors(include_url=False)]
    return f"wrong arguments for {tool}: {'; '.join(problems)}"


def _problem(tool: str, problem: "ErrorDetails") -> str:
    name = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "unexpected_keyword_argument":
        return f"unknown argument {visible(name)!r}, {_nearest(name, list(TOOLS[tool].parameters))}"
    if problem["type"] in ("missing", "missing_argument"):
        return f"{name} is missing: {TOOLS[tool].parameters.get(name, '')}".rstrip(": ")
    return f"{name}: {problem['msg']}"


def _nearest(given: str, names: list[str]) -> str:
    close = get_close_matches(given, names, n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else f"there are: {', '.join(names)}"
