"""Statistics of the calls of agents: what they asked, what it cost, and how often a budget cut the answer."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from heapq import nlargest
from math import ceil

from keyhole.core.types import Call, CallStatus
from keyhole.core.view.text import count_of, json_line, middle_cut, name_text, one_line

BINS = 10
_SLOWEST = 5
_BAR = 40
_MOST_GROUPS = 20
_NAME_WIDTH = 24
_LONGEST_ARGUMENTS = 60


@dataclass(frozen=True, slots=True)
class Group:
    """Calls counted together; rates are shares of the answers, latencies are in milliseconds."""

    name: str
    calls: int
    truncated: int
    errors: int
    pending: int
    tokens: int
    truncation_rate: float
    utilisation: float
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class Statistics:
    """All calls together, by tool and by client, most calls first; the histogram is of utilisation, 0-10% first."""

    total: Group
    tools: tuple[Group, ...]
    clients: tuple[Group, ...]
    histogram: tuple[int, ...]
    slowest: tuple[Call, ...]
    first: float
    last: float


def statistics(calls: Iterable[Call]) -> Statistics:
    """Count calls."""
    counted = list(calls)
    ended = [call for call in counted if call.status != CallStatus.PENDING]
    return Statistics(
        total=_group("all", counted),
        tools=_groups(counted, lambda call: call.tool),
        clients=_groups(counted, lambda call: call.client),
        histogram=_histogram(call.utilisation for call in ended if call.budget),
        slowest=tuple(nlargest(_SLOWEST, ended, key=lambda call: (call.ms, -call.id))),
        first=min((call.started for call in counted), default=0.0),
        last=max((call.started for call in counted), default=0.0),
    )


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of sorted values do not exceed; 0 when there are none."""
    return values[max(0, ceil(share * len(values)) - 1)] if values else 0.0


def _groups(calls: Iterable[Call], name_of: Callable[[Call], str]) -> tuple[Group, ...]:
    members: dict[str, list[Call]] = {}
    for call in calls:
        members.setdefault(name_of(call), []).append(call)
    groups = [_group(name, found) for name, found in members.items()]
    return tuple(sorted(groups, key=lambda group: (-group.calls, group.name)))


def _group(name: str, calls: Sequence[Call]) -> Group:
    count = {status: sum(call.status == status for call in calls) for status in CallStatus}
    answers = count[CallStatus.OK] + count[CallStatus.TRUNCATED]
    used = [call.utilisation for call in calls if call.budget]
    times = sorted(call.ms for call in calls if call.status != CallStatus.PENDING)
    return Group(
        name=name,
        calls=len(calls),
        truncated=count[CallStatus.TRUNCATED],
        errors=count[CallStatus.ERROR],
        pending=count[CallStatus.PENDING],
        tokens=sum(call.tokens for call in calls),
        truncation_rate=count[CallStatus.TRUNCATED] / answers if answers else 0.0,
        utilisation=sum(used) / len(used) if used else 0.0,
        p50_ms=percentile(times, 0.5),
        p95_ms=percentile(times, 0.95),
    )


def _histogram(shares: Iterable[float]) -> tuple[int, ...]:
    bins = [0] * BINS
    for share in shares:
        bins[min(int(share * BINS), BINS - 1)] += 1
    return tuple(bins)


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
