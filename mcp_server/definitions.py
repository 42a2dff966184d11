"""What the definitions of our tools cost a client before the first call."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

from keyhole.core.clients import Profile, truncate_description
from keyhole.core.config import Settings
from keyhole.core.service import Service
from keyhole.core.types.choices import ToolSet
from keyhole.core.view.budget.tokens import estimate_tokens
from keyhole.mcp_server.import_fastmcp import import_fastmcp


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as clients list it: name, description, the schema of its parameters, and all that is sent, as JSON."""

    name: str
    description: str
    schema: str
    sent: str = ""


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


def list_cost(tools: list[ToolDefinition]) -> int:
    """Return the tokens of the list of tools as it is sent, with everything in it."""
    return estimate_tokens(f"[{','.join(tool.sent for tool in tools)}]")


def definition_cost(tools: list[ToolDefinition], profile: Profile) -> dict[str, int]:
    """Return the tokens that each tool costs a client, by the name that the client gives it."""
    return {
        f"{profile.prefix}{tool.name}": estimate_tokens(
            f"{profile.prefix}{tool.name}\n{truncate_description(tool.description, profile)}\n{tool.schema}",
            profile.tokenizer,
        )
        for tool in tools
    }
