"""What a server costs each client before the first call: the definitions of its tools, and its instructions."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keyhole.core.clients import Profile, profiles
from keyhole.core.tool_definitions import ToolDefinition, definition_cost, instructions_cost
from keyhole.core.untrusted_text import visible
from keyhole.core.view.text import count_of, name_text

_LONGEST_NAME = 40
# The table has the tokens of one client; JSON has all.
_SHOWN_CLIENT = "claude"


@dataclass(frozen=True, slots=True)
class ClientCost:
    """The tokens that a server costs one client; with `on_demand`, tools cost only once the model looks for them."""

    profile: Profile
    tools: int
    instructions: int

    @property
    def total(self) -> int:
        """Everything together."""
        return self.tools + self.instructions

    @property
    def note(self) -> str:
        """What the table adds."""
        return "loads tools on demand" if self.profile.loads_tools_on_demand else ""


@dataclass(frozen=True, slots=True)
class ToolCost:
    """What one tool costs: its tokens by client, and the clients that cut its description."""

    tool: ToolDefinition
    tokens: Mapping[str, int]
    cut_by: tuple[Profile, ...]


@dataclass(frozen=True, slots=True)
class ServerCost:
    """What a server costs each client; the tools with the longest descriptions first."""

    title: str
    instructions: str
    clients: tuple[ClientCost, ...]
    tools: tuple[ToolCost, ...]


def tool_definitions(tools: Iterable[Mapping[str, Any]]) -> list[ToolDefinition]:
    """Return tools as a server lists them."""
    return [
        ToolDefinition(
            str(tool.get("name", "")),
            str(tool.get("description") or ""),
            _compact(tool.get("inputSchema", {})),
            _compact(tool),
        )
        for tool in tools
    ]


def server_cost(title: str, instructions: str, tools: Sequence[ToolDefinition], name: str) -> ServerCost:
    """Count the tokens of a server for every client; `name` is what clients call it."""
    by_client = {profile: list(definition_cost(tools, profile, name).values()) for profile in profiles().values()}
    clients = [
        ClientCost(profile, sum(tokens), instructions_cost(instructions, profile))
        for profile, tokens in by_client.items()
    ]
    costs = [
        ToolCost(
            tool,
            {profile.id: tokens[number] for profile, tokens in by_client.items()},
            tuple(each for each in by_client if each.description and len(tool.description) > each.description),
        )
        for number, tool in enumerate(tools)
    ]
    largest = sorted(costs, key=lambda cost: (-len(cost.tool.description), cost.tool.name))
    return ServerCost(title, instructions, tuple(clients), tuple(largest))


def cost_text(cost: ServerCost) -> str:
    """Return the costs as two tables."""
    about = f"{count_of(len(cost.tools), 'tool')}, instructions: {count_of(len(cost.instructions), 'character')}"
    lines = [f"{name_text(cost.title, 2 * _LONGEST_NAME)}: {about}", ""]
    lines.append(f"{'client':<24}{'tools':>8}{'instructions':>14}{'total':>8}  tokens")
    for client in cost.clients:
        row = f"{client.profile.title:<24}{client.tools:>8,}{client.instructions:>14,}{client.total:>8,}  {client.note}"
        lines.append(row.rstrip())
    shown = profiles()[_SHOWN_CLIENT]
    lines += ["", f"{'tool':<{_LONGEST_NAME}}{'description':>12}{'schema':>8}{'tokens':>8}  ({shown.title})"]
    for tool in cost.tools:
        definition = tool.tool
        sizes = f"{len(definition.description):>12,}{len(definition.schema):>8,}{tool.tokens[shown.id]:>8,}"
        cut = f"  cut by {', '.join(profile.title for profile in tool.cut_by)}" if tool.cut_by else ""
        lines.append(f"{name_text(definition.name, _LONGEST_NAME - 1):<{_LONGEST_NAME}}{sizes}{cut}")
    return visible("\n".join(lines) + "\n")


def cost_facts(cost: ServerCost) -> dict[str, object]:
    """Return the costs for JSON."""
    return {
        "server": cost.title,
        "instructions_characters": len(cost.instructions),
        "clients": [
            {
                "client": client.profile.id,
                "title": client.profile.title,
                "tools": client.tools,
                "instructions": client.instructions,
                "total": client.total,
                "on_demand": client.profile.loads_tools_on_demand,
            }
            for client in cost.clients
        ],
        "tools": [
            {
                "name": each.tool.name,
                "description_characters": len(each.tool.description),
                "schema_characters": len(each.tool.schema),
                "tokens": dict(each.tokens),
                "cut_by": [profile.id for profile in each.cut_by],
            }
            for each in cost.tools
        ],
    }


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
