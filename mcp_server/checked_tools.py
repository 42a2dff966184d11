"""Asks MCP servers for `keyhole check`: our own tools in this process, and any other server over stdio.

It imports fastmcp when it is first used. The commands of other servers come from a checks file; whether they may run is
decided before (`core/checks/trusted_files.py`).
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keyhole.core.checks.check_result import ListedTool, ServerAnswer, ServerReport
from keyhole.core.clients import Profile
from keyhole.core.service import Service
from keyhole.core.tool_definitions import ToolDefinition, definition_cost, list_cost
from keyhole.core.types.choices import ToolSet
from keyhole.core.view.text import one_line, shorten
from keyhole.mcp_server.definitions import definitions
from keyhole.mcp_server.import_fastmcp import import_fastmcp
from keyhole.mcp_server.local import LocalTools

if TYPE_CHECKING:
    from fastmcp import Client

_LONGEST_PROBLEM = 200
_LARGEST_LOG = 2_000
# The longest list of tools or pages that a server may send.
_MOST_TOOLS = 2_000


class CheckedTools:
    """Lists and calls the tools of servers, for one workspace."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._definitions: dict[ToolSet, list[ToolDefinition]] = {}

    def own_tools(self, tools: ToolSet) -> Sequence[ListedTool]:
        """List Keyhole's own tools."""
        return [ListedTool(tool.name, tool.description, tool.sent) for tool in self._defined(tools)]

    def own_cost(self, tools: ToolSet, profile: Profile | None) -> int:
        """Return what Keyhole's tool list costs a client, or as it is sent."""
        listed = self._defined(tools)
        return sum(definition_cost(listed, profile).values()) if profile else list_cost(listed)

    def own_answer(self, client: str, tool: str, arguments: Mapping[str, object]) -> ServerAnswer:
        """Return what a client with this name gets from one of Keyhole's tools."""
        text, is_error = self._local.call_result(self._service, client, tool, arguments)
        return ServerAnswer(text, is_error)

    def ask_server(
        self, command: Sequence[str], calls: Sequence[tuple[str, Mapping[str, object]]], seconds: float
    ) -> ServerReport:
        """Start a server in the workspace, list its tools and call some; it is stopped afterwards."""
        root = self._service.root
        program = command[0]
        if not (shutil.which(program) or (os.sep in program and shutil.which(str(root / program)))):
            return ServerReport(problem=f"cannot start: no such program {program}")
        import_fastmcp()
        return asyncio.run(_ask_server(command, calls, seconds, root))

    @cached_property
    def _local(self) -> LocalTools:
        return LocalTools()

    def _defined(self, tools: ToolSet) -> list[ToolDefinition]:
        if tools not in self._definitions:
            self._definitions[tools] = definitions(tools)
        return self._definitions[tools]


async def _ask_server(
    command: Sequence[str], calls: Sequence[tuple[str, Mapping[str, object]]], seconds: float, root: Path
) -> ServerReport:
    with tempfile.NamedTemporaryFile("w+", prefix="keyhole-server-", suffix=".log") as log:
        try:
            async with asyncio.timeout(seconds):
                return await _talk(command, calls, root, Path(log.name))
        except TimeoutError:
            problem = f"no answer within {seconds:g} seconds"
        except Exception as error:  # noqa: BLE001  # whatever a foreign server does must not stop the other checks
            problem = _reason(error)
        said = _last_line(Path(log.name))
    return ServerReport(problem=f"{problem}; it printed: {said}" if said else problem)


async def _talk(
    command: Sequence[str], calls: Sequence[tuple[str, Mapping[str, object]]], root: Path, log: Path
) -> ServerReport:
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    program, *arguments = command
    transport = StdioTransport(program, arguments, env=dict(os.environ), cwd=str(root), keep_alive=False, log_file=log)
    async with AsyncExitStack() as stack:
        client: Client[Any] = await stack.enter_async_context(Client(transport))
        tools = await client.list_tools()
        listed = [
            ListedTool(tool.name, tool.description or "", tool.model_dump_json(by_alias=True, exclude_none=True))
            for tool in tools[:_MOST_TOOLS]
        ]
        answers = [await _answer(client, tool, given) for tool, given in calls]
    return ServerReport(tuple(listed), tuple(answers))


async def _answer(client: "Client[Any]", tool: str, arguments: Mapping[str, object]) -> ServerAnswer:
    """Return the text of an answer, or the error; what is not text counts as nothing, as models don't read it."""
    try:
        result = await client.call_tool_mcp(tool, dict(arguments))
    except Exception as error:  # noqa: BLE001  # a call that fails must not stop the others
        return ServerAnswer(_reason(error), is_error=True)
    return ServerAnswer("".join(getattr(block, "text", "") for block in result.content), bool(result.is_error))


def _reason(error: BaseException) -> str:
    """Return what went wrong, of the first error in a group of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return shorten(one_line(f"{type(error).__name__}: {error}"), _LONGEST_PROBLEM)


def _last_line(log: Path) -> str:
    printed = log.read_bytes()[-_LARGEST_LOG:].decode("utf-8", "replace").strip()
    return shorten(one_line(printed.rpartition("\n")[2]), _LONGEST_PROBLEM)
