"""Statistics of agents' calls as text, with bar charts, and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from keyhole.core.journal.reader import status_now
from keyhole.core.journal.statistics import BINS, Group, Statistics
from keyhole.core.journal.story import Conversation
from keyhole.core.types.calls import Call
from keyhole.core.untrusted_text import middle_cut
from keyhole.core.view.text import count_of, json_line, name_text, one_line

_BAR = 40
_MOST_GROUPS = 20
_MOST_DAYS, _MOST_HOURS = 14, 24
_NAME_WIDTH = 20
_LONGEST_ARGUMENTS = 60


def stats_text(found: Statistics, project: str) -> str:
    """Return statistics for a terminal, with a bar chart."""
    if not found.total.calls:
        return f"No calls recorded for {project} yet. `keyhole mcp` serves it to agents and records every call.\n"
    total = found.total
    lines = [
        f"{project}: {count_of(total.calls, 'call')}, {moment(found.first)} to {moment(found.last)}",
        f"{count_of(total.answers, 'answer')}: {completeness_text(total)}",
        shortened_text(total),
        f"{failures_text(total)}, {total.pending:,} pending",
        f"{total.tokens:,} tokens, {total.utilisation:.0%} of the budget on average",
        f"Latency: p50 {milliseconds(total.p50_ms)}, p95 {milliseconds(total.p95_ms)}",
        "",
        "Calls by share of the budget used",
        *bars([f"{bin_name(number):>8}" for number in range(BINS)], found.histogram),
        "",
        *_table("Tool", found.tools),
        "",
        *_table("Client", found.clients),
        "",
        *([*_table("Server", found.servers), ""] if len(found.servers) > 1 else []),
        *_table("Day", found.days[-_MOST_DAYS:]),
        "",
        *_table("Hour", found.hours[-_MOST_HOURS:]),
        "",
        *_conversation_lines(found.conversations),
        "",
        *_slowest_lines(found.slowest),
    ]
    return "\n".join(lines) + "\n"


def completeness_text(group: Group) -> str:
    """Return how many answers each word describes; what the budget did counts even when it is zero."""
    return ", ".join(f"{count:,} {word}" for word, count in group.by_completeness if count or word.is_truncated)


def shortened_text(group: Group) -> str:
    """Return who shortened answers: Keyhole, by the budget, or the client that got them."""
    return f"Shortened by Keyhole: {group.truncated:,}, by the client: {group.cut_by_client:,}"


def failures_text(group: Group) -> str:
    """Return how many calls ended without an answer, and how."""
    return f"{count_of(group.errors, 'error')}, {group.cancelled:,} cancelled, {group.lost:,} lost"


def stats_facts(found: Statistics, project: str) -> dict[str, object]:
    """Return the same as JSON facts."""
    return {
        "project": project,
        "first": moment(found.first) if found.total.calls else None,
        "last": moment(found.last) if found.total.calls else None,
        "total": asdict(found.total),
        "utilisation_histogram": list(found.histogram),
        "tools": [asdict(group) for group in found.tools],
        "clients": [asdict(group) for group in found.clients],
        "servers": [asdict(group) for group in found.servers],
        "days": [asdict(group) for group in found.days],
        "hours": [asdict(group) for group in found.hours],
        "conversations": [
            {
                "first_call": told.id,
                "client": told.client,
                "first": moment(told.first),
                "last": moment(told.last),
                "calls": len(told.steps),
                "tokens": told.tokens,
                "errors": told.errors,
                "wasted_calls": len(told.wasted),
                "wasted_tokens": told.wasted_tokens,
            }
            for told in found.conversations
        ],
        "slowest": [
            {
                "id": call.id,
                "started": moment(call.started),
                "tool": call.tool,
                "client": call.client,
                "ms": call.ms,
                "tokens": call.tokens,
                "status": status_now(call),
                "arguments": call.parameters,
            }
            for call in found.slowest
        ],
    }


def moment(seconds: float) -> str:
    """Return a time to the second, in the local time zone."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().isoformat(" ", "seconds")


def milliseconds(amount: float) -> str:
    """Return a latency as short text."""
    return f"{amount:,.0f} ms" if amount >= 10 else f"{amount:.1f} ms"


def bin_name(number: int) -> str:
    """Return the name of a bin of the histogram."""
    return f"{number * 100 // BINS}-{(number + 1) * 100 // BINS}%"


def bars(names: Sequence[str], counts: Sequence[int], width: int = _BAR) -> list[str]:
    """Return a bar for each count; every count above zero gets a visible bar."""
    most = max(counts, default=0) or 1
    lengths = [-(-count * width // most) for count in counts]
    return [
        f"{name}  {'█' * length}{' ' if length else ''}{count:,}"
        for name, length, count in zip(names, lengths, counts, strict=True)
    ]


def arguments_text(call: Call, longest: int = _LONGEST_ARGUMENTS) -> str:
    """Return a call's arguments on one line, values as JSON; a long line loses its middle."""
    pairs = [f"{one_line(name)}={json_line(value)}" for name, value in call.parameters.items()]
    return middle_cut(" ".join(pairs), longest)


def _table(title: str, groups: Sequence[Group]) -> list[str]:
    head = (
        f"{title:<{_NAME_WIDTH}}{'calls':>8}{'tokens':>11}{'partial':>9}{'shortened':>11}{'clipped':>9}{'left out':>10}"
    )
    head += f"{'errors':>8}{'p50':>10}{'p95':>10}"
    lines = [
        f"{name_text(group.name, _NAME_WIDTH - 1):<{_NAME_WIDTH}}{group.calls:>8,}{group.tokens:>11,}"
        f"{group.partial:>9,}{group.shortened:>11,}{group.clipped:>9,}{group.left_out:>10,}"
        f"{group.errors:>8,}{milliseconds(group.p50_ms):>10}{milliseconds(group.p95_ms):>10}"
        for group in groups[:_MOST_GROUPS]
    ]
    more = len(groups) - _MOST_GROUPS
    return [head, *lines, *([f"{more:,} more: use --json"] if more > 0 else [])]


def _conversation_lines(conversations: Sequence[Conversation]) -> list[str]:
    head = f"{'Conversation':<{_NAME_WIDTH}}{'calls':>8}{'tokens':>11}{'wasted':>9}{'errors':>8}  from call"
    lines = [
        f"{name_text(told.client, _NAME_WIDTH - 1):<{_NAME_WIDTH}}{len(told.steps):>8,}{told.tokens:>11,}"
        f"{told.wasted_tokens:>9,}{told.errors:>8,}  #{told.id}, {moment(told.first)}"
        for told in conversations[-_MOST_GROUPS:]
    ]
    more = len(conversations) - _MOST_GROUPS
    return [head, *lines, *([f"{more:,} older: use --json"] if more > 0 else [])]


def _slowest_lines(calls: Sequence[Call]) -> list[str]:
    lines = [
        f"{milliseconds(call.ms):>11}  {moment(call.started)}  {name_text(call.tool, 24)} {arguments_text(call)}"
        for call in calls
    ]
    return ["Slowest calls", *lines] if lines else []
