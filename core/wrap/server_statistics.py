"""Figures of wrapped servers: tokens by tool, answers over each client's limit, and what their tools cost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from keyhole.core.clients import Profile, profiles
from keyhole.core.delivery import is_cut, recorded_result
from keyhole.core.journal.reader import JournalReader
from keyhole.core.types.calls import Call
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.text import count_of, name_text
from keyhole.core.wrap.recorded_tools import Tools, declared_size, recorded_instructions, recorded_tools
from keyhole.core.wrap.server_cost import ServerCost, server_cost, tool_definitions

_ANSWERED = (CallStatus.COMPLETE, CallStatus.ERROR)
_NAME_WIDTH, _COLUMN = 24, 9
_MOST_TOOLS = 20


@dataclass(frozen=True, slots=True)
class ToolFigures:
    """The calls of one tool; `over` counts the answers that each client would cut."""

    tool: str
    calls: int
    answers: int
    tokens: int
    over: tuple[int, ...]

    def shares(self) -> tuple[float, ...]:
        """Return the share of answers over the limit of each client."""
        return tuple(count / self.answers if self.answers else 0.0 for count in self.over)


@dataclass(frozen=True, slots=True)
class ServerFigures:
    """The figures of one wrapped server, most tokens first."""

    server: str
    cost: ServerCost
    tools: tuple[ToolFigures, ...]


def limited_clients() -> list[Profile]:
    """Return the clients with a known limit."""
    return [profile for profile in profiles().values() if profile.answer is not None]


@dataclass(slots=True)
class ServerCounter:
    """Counts wrapped servers. An answer never changes, so which clients cut it is found out once."""

    _cut: dict[int, frozenset[str]] = field(default_factory=dict)

    def count(self, reader: JournalReader) -> list[ServerFigures]:
        """Return the figures of every wrapped server, by name."""
        calls: dict[str, list[Call]] = {}
        for call in reader.each():
            if call.server:
                calls.setdefault(call.server, []).append(call)
        return [self._server(reader, name, calls[name]) for name in sorted(calls)]

    def _server(self, reader: JournalReader, name: str, calls: Sequence[Call]) -> ServerFigures:
        tools = recorded_tools(reader, name)
        cost = server_cost(name, recorded_instructions(reader, name), tool_definitions(tools.values()), name)
        by_tool: dict[str, list[Call]] = {}
        for call in calls:
            by_tool.setdefault(call.tool, []).append(call)
        figures = [self._tool(reader, tool, members, tools) for tool, members in by_tool.items()]
        return ServerFigures(name, cost, tuple(sorted(figures, key=lambda each: (-each.tokens, each.tool))))

    def _tool(self, reader: JournalReader, tool: str, calls: Sequence[Call], tools: Tools) -> ToolFigures:
        answered = [call for call in calls if call.status in _ANSWERED]
        cut = [self._cutting(reader, call, tools) for call in answered]
        over = tuple(sum(profile.id in each for each in cut) for profile in limited_clients())
        return ToolFigures(tool, len(calls), len(answered), sum(call.tokens for call in calls), over)

    def _cutting(self, reader: JournalReader, call: Call, tools: Tools) -> frozenset[str]:
        if call.id not in self._cut:
            whole = reader.whole(call.id)
            result = recorded_result(call, whole.response if whole else "")
            declared = declared_size(call, tools)
            cutting = (each.id for each in limited_clients() if is_cut(result, each, declared_chars=declared))
            self._cut[call.id] = frozenset(cutting)
        return self._cut[call.id]


def servers_text(servers: Iterable[ServerFigures]) -> str:
    """Return a table for each server."""
    return "\n".join(_server_text(each) for each in servers)


def _server_text(figures: ServerFigures) -> str:
    clients = limited_clients()
    heads = "".join(f"{_short(profile):>{_COLUMN}}" for profile in clients)
    tools = count_of(len(figures.cost.tools), "tool")
    costs = {client.profile.id: client.total for client in figures.cost.clients}
    lines = [
        f"{f'Server {name_text(figures.server, 40)}':<{_NAME_WIDTH + 17}}{heads}",
        f"{f'{tools} and instructions, tokens':<{_NAME_WIDTH + 17}}"
        + "".join(f"{costs[profile.id]:>{_COLUMN},}" for profile in clients),
        f"{'tool':<{_NAME_WIDTH}}{'calls':>7}{'tokens':>10}{'answers over the limit':>{_COLUMN * len(clients)}}",
    ]
    for tool in figures.tools[:_MOST_TOOLS]:
        shares = "".join(f"{f'{share:.0%}' if share else '·':>{_COLUMN}}" for share in tool.shares())
        lines.append(
            f"{name_text(tool.tool, _NAME_WIDTH - 1):<{_NAME_WIDTH}}{tool.calls:>7,}{tool.tokens:>10,}{shares}"
        )
    more = len(figures.tools) - _MOST_TOOLS
    return "\n".join([*lines, *([f"{more:,} more: keyhole stats --json"] if more > 0 else [])]) + "\n"


def server_facts(figures: ServerFigures) -> dict[str, object]:
    """Return the figures for JSON."""
    clients = [profile.id for profile in limited_clients()]
    return {
        "server": figures.server,
        "list_tokens": {client.profile.id: client.total for client in figures.cost.clients},
        "tools": [
            {
                "tool": tool.tool,
                "calls": tool.calls,
                "answers": tool.answers,
                "tokens": tool.tokens,
                "over_limit": dict(zip(clients, tool.over, strict=True)),
            }
            for tool in figures.tools
        ],
    }


def _short(profile: Profile) -> str:
    return name_text(profile.id, _COLUMN - 1)
