"""The definitions of our tools, as clients get them."""

import asyncio
import json
from pathlib import Path

from keyhole.core.config import Settings
from keyhole.core.service import Service
from keyhole.core.tool_definitions import ToolDefinition
from keyhole.core.types.choices import ToolSet
from keyhole.mcp_server.import_fastmcp import import_fastmcp


def definitions(tools: ToolSet = ToolSet.ALL) -> list[ToolDefinition]:
    """List our tools, which are the same for every workspace. This imports fastmcp: call it in a thread."""
    import_fastmcp()
    from keyhole.mcp_server.server import build_server

    server = build_server(Service(Path("/nowhere"), Settings()), tools=tools)
    listed = [tool.to_mcp_tool() for tool in asyncio.run(server.list_tools())]
    return [
        ToolDefinition(
            tool.name,
            tool.description or "",
            json.dumps(tool.input_schema, separators=(",", ":")),
            tool.model_dump_json(by_alias=True, exclude_none=True),
        )
        for tool in listed
    ]
