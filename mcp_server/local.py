"""Our tools without a transport: the explorer repeats calls with them, checks make calls with them.

All methods import fastmcp: call them in a thread.
"""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from keyhole.core.service import Service
from keyhole.core.types.choices import ToolSet
from keyhole.mcp_server.import_fastmcp import import_fastmcp

if TYPE_CHECKING:
    from fastmcp import FastMCP


class LocalTools:
    """Calls and measures the tools as a client does."""

    def call(self, service: Service, client: str, tool: str, arguments: Mapping[str, object]) -> str:
        """Return the text that a client with this name gets, also if it is an error; nothing is recorded."""
        return self.call_result(service, client, tool, arguments)[0]

    def call_result(
        self, service: Service, client: str, tool: str, arguments: Mapping[str, object]
    ) -> tuple[str, bool]:
        """Return the same text, and whether it is an error."""
        import_fastmcp()
        return asyncio.run(_call(service, client, tool, arguments))

    def costs(self, tools: ToolSet) -> dict[str, int]:
        """Return the tokens that the definitions of these tools cost each client."""
        from keyhole.core.clients import profiles
        from keyhole.core.tool_definitions import definition_cost
        from keyhole.mcp_server.definitions import definitions

        listed = definitions(tools)
        return {profile.id: sum(definition_cost(listed, profile).values()) for profile in profiles().values()}


async def _call(service: Service, client: str, tool: str, arguments: Mapping[str, object]) -> tuple[str, bool]:
    from keyhole.mcp_server.server import build_server

    # A recorded call may be of any tool, whichever the settings select now.
    return await call_as(build_server(service, tools=ToolSet.ALL), (client, "replay"), tool, arguments)


async def call_as(
    server: "FastMCP", client: tuple[str, str], tool: str, arguments: Mapping[str, object]
) -> tuple[str, bool]:
    """Call a tool of a server as a client with this name and version; return the text, and whether it is an error."""
    from fastmcp import Client
    from mcp.types import Implementation

    # The client's name sets the budget if the call has none.
    client_info = Implementation(name=client[0], version=client[1])
    async with Client(server, client_info=client_info) as connection:
        result = await connection.call_tool_mcp(tool, dict(arguments))
    return "".join(getattr(block, "text", "") for block in result.content), bool(result.is_error)
