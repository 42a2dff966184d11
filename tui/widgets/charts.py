"""Bar charts: a name before each bar and a figure after it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget

from keyhole.core.journal.statistics import BINS, Group, Statistics
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.stats_text import arguments_text, bin_name, failures_text, milliseconds
from keyhole.core.view.text import count_of, name_text
from keyhole.core.view.usage import NEARLY_FULL
from keyhole.tui.status_words import WORDS

_MOST_BARS = 8
_NAME = 16


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its name, its amount, and the note after it."""

    name: str
    amount: float
    note: str
    style: str = "$primary"


def bar_lines(rows: Sequence[Bar], width: int) -> list[Content]:
    """Draw bars; the longest fills the width, and every amount above zero is visible."""
    name_width = min(_NAME, max((len(row.name) for row in rows), default=0))
    room = max(1, width - name_width - max((len(row.note) for row in rows), default=0) - 4)
    most = max((row.amount for row in rows), default=0) or 1
    return [
        Content.assemble(
            (f"{name_text(row.name, name_width):>{name_width}}  ", "$foreground"),
            ("█" * (round(room * row.amount / most) or int(row.amount > 0)), row.style),
            (f" {row.note}", "$text-muted"),
        )
        for row in rows
    ]


class Chart(Widget):
    """A framed chart of some statistics."""

    def __init__(self, title: str, draw: Callable[[Statistics, int], list[Content]], *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.border_title = title
        self._draw = draw
        self._statistics: Statistics | None = None

    def show(self, found: Statistics) -> None:
        """Show new statistics."""
        self._statistics = found
        self.refresh(layout=True)

    def render(self) -> RenderResult:
        """Draw the lines."""
        lines = self._draw(self._statistics, self.size.width) if self._statistics else []
        return Content("\n").join(line.truncate(self.size.width, ellipsis=True) for line in lines)


def draw_answers(found: Statistics, width: int) -> list[Content]:
    """Draw what answers lacked, and list the other figures of all calls."""
    total = found.total
    rows = [
        Bar(word, count, f"{count:,} ({count / (total.answers or 1):.0%})", WORDS[CallStatus(word)][1])
        for word, count in total.by_completeness
    ]
    failed_style = "bold $error" if total.errors else ""
    return [
        *bar_lines(rows, width),
        Content(""),
        Content.assemble(f"{'calls':<14}", (f"{total.calls:,}", "bold"), f", {total.answers:,} answered"),
        Content.assemble(f"{'no answer':<14}", (failures_text(total), failed_style), f", {total.pending:,} pending"),
        Content.assemble(f"{'tokens sent':<14}", (f"{total.tokens:,}", "bold")),
        Content.assemble(f"{'budget used':<14}", (f"{total.utilisation:.0%}", "bold"), " on average"),
        Content.assemble(
            f"{'latency':<14}",
            (milliseconds(total.p50_ms), "bold"),
            " p50   ",
            (milliseconds(total.p95_ms), "bold"),
            " p95",
        ),
    ]


def draw_utilisation(found: Statistics, width: int) -> list[Content]:
    """Draw how many calls used how much of their budget."""
    rows = [
        Bar(bin_name(number), count, f"{count:,}", "$warning" if number >= NEARLY_FULL * BINS else "$primary")
        for number, count in enumerate(found.histogram)
    ]
    return bar_lines(rows, width)


def draw_tools(found: Statistics, width: int) -> list[Content]:
    """Draw the tokens that each tool sent."""
    return _groups(found.tools, width)


def draw_clients(found: Statistics, width: int) -> list[Content]:
    """Draw the tokens that each client got."""
    return _groups(found.clients, width)


def _groups(groups: Sequence[Group], width: int) -> list[Content]:
    most_first = sorted(groups, key=lambda group: (-group.tokens, group.name))
    rows = [Bar(group.name, group.tokens, _note(group)) for group in most_first[:_MOST_BARS]]
    more = len(groups) - _MOST_BARS
    return bar_lines(rows, width) + ([Content.styled(f"and {more:,} more", "$text-muted")] if more > 0 else [])


def _note(group: Group) -> str:
    missing = [f"{count:,} {word}" for word, count in group.by_completeness if count and word.is_truncated]
    return ", ".join([f"{group.tokens:,} in {count_of(group.calls, 'call')}", *missing])


def draw_slowest(found: Statistics, width: int) -> list[Content]:
    """List the slowest calls, each with a bar."""
    rows = [
        Bar(call.tool, call.ms, f"{milliseconds(call.ms):>9}  {arguments_text(call, width // 2)}", "$secondary")
        for call in found.slowest
    ]
    return bar_lines(rows, width)
