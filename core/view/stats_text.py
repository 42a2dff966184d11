"""Statistics of the calls of agents as text, with charts of plain characters, and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from keyhole.core.journal.statistics import BINS, Group, Statistics
from keyhole.core.types import Call
from keyhole.core.view.text import count_of, json_line, middle_cut, name_text, one_line

_BAR = 40
_MOST_GROUPS = 20
_NAME_WIDTH = 24
_LONGEST_ARGUMENTS = 60


def stats_text(found: Statistics, project: str) -> str:
    """Write statistics for a terminal, with a chart of plain characters."""
    if not found.total.calls:
        return f"No agent has asked anything of {project} yet; keyhole mcp serves it, and records what is asked.\n"
    total = found.total
    lines = [
        f"{count_of(total.calls, 'call')} of {project}, {moment(found.first)} to {moment(found.last)}",
        f"{total.tokens:,} tokens, {count_of(total.errors, 'error')}, {total.pending:,} pending",
        f"{total.truncated:,} truncated ({total.truncation_rate:.0%}), utilisation {total.utilisation:.0%} on average",
        f"latency p50 {milliseconds(total.p50_ms)}, p95 {milliseconds(total.p95_ms)}",
        "",
        "Utilisation of the budget, calls",
        *bars([f"{bin_name(number):>8}" for number in range(BINS)], found.histogram),
        "",
        *_table("Tool", found.tools),
        "",
        *_table("Client", found.clients),
        "",
        *_slowest_lines(found.slowest),
    ]
    return "\n".join(lines) + "\n"


def stats_facts(found: Statistics, project: str) -> dict[str, object]:
    """Tell the same in JSON."""
    return {
        "project": project,
        "first": moment(found.first) if found.total.calls else None,
        "last": moment(found.last) if found.total.calls else None,
        "total": asdict(found.total),
        "utilisation_histogram": list(found.histogram),
        "tools": [asdict(group) for group in found.tools],
        "clients": [asdict(group) for group in found.clients],
        "slowest": [
            {
                "id": call.id,
                "started": moment(call.started),
                "tool": call.tool,
                "client": call.client,
                "ms": call.ms,
                "tokens": call.tokens,
                "status": call.status,
                "arguments": call.parameters,
            }
            for call in found.slowest
        ],
    }


def moment(seconds: float) -> str:
    """Write a time to the second, in the time zone of who looks."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().isoformat(" ", "seconds")


def milliseconds(amount: float) -> str:
    """Write a latency, short."""
    return f"{amount:,.0f} ms" if amount >= 10 else f"{amount:.1f} ms"


def bin_name(number: int) -> str:
    """Name a bin of the histogram."""
    return f"{number * 100 // BINS}-{(number + 1) * 100 // BINS}%"


def bars(names: Sequence[str], counts: Sequence[int], width: int = _BAR) -> list[str]:
    """Draw a bar for each count; none that is not zero is invisible."""
    most = max(counts, default=0) or 1
    lengths = [-(-count * width // most) for count in counts]
    return [
        f"{name}  {'█' * length}{' ' if length else ''}{count:,}"
        for name, length, count in zip(names, lengths, counts, strict=True)
    ]


def arguments_text(call: Call, longest: int = _LONGEST_ARGUMENTS) -> str:
    """Write what was asked on a line: the values as JSON, the middle left out when it is long."""
    pairs = [f"{one_line(name)}={json_line(value)}" for name, value in call.parameters.items()]
    return middle_cut(" ".join(pairs), longest)


def _table(title: str, groups: Sequence[Group]) -> list[str]:
    head = f"{title:<{_NAME_WIDTH}}{'calls':>9}{'tokens':>12}{'truncated':>11}{'errors':>8}{'p50':>11}{'p95':>11}"
    lines = [
        f"{name_text(group.name, _NAME_WIDTH - 1):<{_NAME_WIDTH}}{group.calls:>9,}{group.tokens:>12,}"
        f"{group.truncation_rate:>11.0%}{group.errors:>8,}{milliseconds(group.p50_ms):>11}{milliseconds(group.p95_ms):>11}"
        for group in groups[:_MOST_GROUPS]
    ]
    more = len(groups) - _MOST_GROUPS
    return [head, *lines, *([f"and {more:,} more; --json lists all"] if more > 0 else [])]


def _slowest_lines(calls: Sequence[Call]) -> list[str]:
    lines = [
        f"{milliseconds(call.ms):>11}  {moment(call.started)}  {name_text(call.tool, 24)} {arguments_text(call)}"
        for call in calls
    ]
    return ["Slowest calls", *lines] if lines else []
