"""Our own tools without a transport: what the explorer needs to make a call again, and to weigh their definitions.

Both import fastmcp: call them in a thread.
"""

import asyncio
from collections.abc import Mapping

from keyhole.core.service import Service
from keyhole.mcp_server.import_fastmcp import import_fastmcp


class LocalTools:
    """The tools as a client gets them."""

    def call(self, service: Service, client: str, tool: str, arguments: Mapping[str, object]) -> str:
        """Return the text that a client of this name gets, an error included; nothing is recorded."""
        import_fastmcp()
        return asyncio.run(_call(service, client, tool, arguments))

    def costs(self) -> dict[str, int]:
        """Return what the definitions of all tools cost each client, in tokens."""
        from keyhole.core.clients import profiles
        from keyhole.mcp_server.definitions import definition_cost, definitions

        tools = definitions()
        return {profile.id: sum(definition_cost(tools, profile).values()) for profile in profiles().values()}


async def _call(service: Service, client: str, tool: str, arguments: Mapping[str, object]) -> str:
    from fastmcp import Client
    from mcp.types import Implementation

    from keyhole.mcp_server.server import build_server

    # The name decides the budget when the call names none.
    itself = Implementation(name=client, version="replay")
    async with Client(build_server(service), client_info=itself) as asking:
        result = await asking.call_tool_mcp(tool, dict(arguments))
    return "".join(getattr(block, "text", "") for block in result.content)
