"""What the definitions of our tools cost a client before the first call."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

from keyhole.core.clients import Profile, truncate_description
from keyhole.core.config import Settings
from keyhole.core.service import Service
from keyhole.core.view.budget.tokens import estimate_tokens
from keyhole.mcp_server.import_fastmcp import import_fastmcp


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as clients list it: name, description, and the schema of its parameters as JSON."""

    name: str
    description: str
    schema: str


def definitions() -> list[ToolDefinition]:
    """List our tools, which are the same for every workspace. This imports fastmcp: call it in a thread."""
    import_fastmcp()
    from keyhole.mcp_server.server import build_server

    server = build_server(Service(Path("/nowhere"), Settings()))
    tools = [tool.to_mcp_tool() for tool in asyncio.run(server.list_tools())]
    return [ToolDefinition(tool.name, tool.description or "", json.dumps(tool.input_schema)) for tool in tools]


def definition_cost(tools: list[ToolDefinition], profile: Profile) -> dict[str, int]:
    """Return the tokens that each tool costs a client, by the name that the client gives it."""
    return {
        f"{profile.prefix}{tool.name}": estimate_tokens(
            f"{profile.prefix}{tool.name}\n{truncate_description(tool.description, profile)}\n{tool.schema}",
            profile.tokenizer,
        )
        for tool in tools
    }
