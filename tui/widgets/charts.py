"""Bar charts: a name, a bar and figures in columns; each bar stands for calls that Traffic can show."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual import events
from textual.app import RenderResult
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from keyhole.core.journal.local_time import local_time
from keyhole.core.journal.statistics import BINS, Group, Statistics
from keyhole.core.journal.story import Conversation
from keyhole.core.types.calls import OWN_SERVER, Call
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.asked_text import asked_text
from keyhole.core.view.stats_text import bin_name, failures_text, milliseconds
from keyhole.core.view.text import count_of, name_text
from keyhole.core.view.usage import NEARLY_FULL
from keyhole.tui.call_filter_line import filter_value, used_filter
from keyhole.tui.status_words import WORDS

_MOST_BARS = 8
_MOST_DAYS, _MOST_HOURS, _MOST_CONVERSATIONS = 14, 12, 12
_NAME = 18
_SHORTEST_BAR, _LONGEST_BAR = 6, 40
_GAP = 2


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its name, its amount, the figures after it, and the filter that shows its calls in Traffic."""

    name: str
    amount: float
    figures: tuple[str, ...]
    filter: str
    style: str = "$primary"
    # A text after the figures, as much of it as there is room for.
    text: str = ""


Bars = Callable[[Statistics], list[Bar]]
Lines = Callable[[Statistics], list[Content]]


def bar_lines(bars: Sequence[Bar], width: int, cursor: int | None = None) -> list[Content]:
    """Draw bars with their figures in columns, at the same places whatever the bars are like.

    Every amount above zero is visible. Figures that have no room are left out from the right.
    """
    name_width = min(_NAME, max((len(bar.name) for bar in bars), default=0))
    columns = _column_widths(bars)
    # A mark and a space come before the name, and a space before the bar.
    room = width - name_width - 3
    while columns and room - sum(columns) < _SHORTEST_BAR:
        columns.pop()
    room -= sum(columns)
    has_text = any(bar.text for bar in bars)
    length = max(1, min(_LONGEST_BAR // 2 if has_text else _LONGEST_BAR, room))
    most = max((bar.amount for bar in bars), default=0) or 1
    lines = []
    for number, bar in enumerate(bars):
        filled = round(length * bar.amount / most) or int(bar.amount > 0)
        figures = "".join(f"{figure:>{size}}" for figure, size in zip(bar.figures, columns, strict=False))
        is_cursor = number == cursor
        text = f"  {bar.text}" if bar.text and room - length > _GAP else ""
        lines.append(
            Content.assemble(
                ("▸ " if is_cursor else "  ", "bold $primary"),
                (f"{name_text(bar.name, name_width):<{name_width}}", "bold reverse" if is_cursor else "$foreground"),
                " ",
                ("█" * filled + " " * (length - filled), bar.style),
                (figures, "$foreground"),
                (text, "$text-muted"),
            ).truncate(width, ellipsis=True)
        )
    return lines


def _column_widths(bars: Sequence[Bar]) -> list[int]:
    """Return the width of each column of figures with the gap before it; one without figures takes no room."""
    widest = (max(map(len, column)) for column in zip(*(bar.figures for bar in bars), strict=True))
    return [width + _GAP if width else 0 for width in widest]


class Chart(Widget):
    """A framed chart of some statistics; one of its bars may be under the cursor."""

    class Chosen(Message):
        """A bar was clicked."""

        def __init__(self, chart: "Chart", number: int) -> None:
            super().__init__()
            self.chart = chart
            self.number = number

    def __init__(self, title: str, bars_of: Bars, *, id: str, more: Lines | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.border_title = title
        self._bars_of = bars_of
        self._more = more
        self._below: list[Content] = []
        self.bars: list[Bar] = []
        self.cursor: int | None = None

    def show(self, found: Statistics) -> None:
        """Show new statistics."""
        self.bars = self._bars_of(found)
        self.set_class(not self.bars, "-empty")
        self._below = self._more(found) if self._more else []
        self.refresh(layout=True)

    def set_cursor(self, cursor: int | None) -> None:
        """Move the cursor to a bar, or away."""
        if cursor != self.cursor:
            self.cursor = cursor
            self.refresh()

    def render(self) -> RenderResult:
        """Draw the lines."""
        lines = [*bar_lines(self.bars, self.size.width, self.cursor), *self._below]
        return Content("\n").join(line.truncate(self.size.width, ellipsis=True) for line in lines)

    def on_click(self, event: events.Click) -> None:
        """Choose the clicked bar."""
        offset = event.get_content_offset(self)
        if offset is not None and offset.y < len(self.bars):
            self.post_message(self.Chosen(self, offset.y))


def answer_bars(found: Statistics) -> list[Bar]:
    """Return what answers lacked."""
    total = found.total
    return [
        Bar(
            str(word),
            count,
            (f"{count:,}", f"{count / (total.answers or 1):.0%}"),
            f"status:{filter_value(word)}",
            WORDS[CallStatus(word)][1],
        )
        for word, count in total.by_completeness
    ]


def total_lines(found: Statistics) -> list[Content]:
    """Return the other figures of all calls."""
    total = found.total
    wasted = sum(told.wasted_tokens for told in found.conversations)
    failed_style = "bold $error" if total.errors else ""
    latency = f"{milliseconds(total.p50_ms)} p50, {milliseconds(total.p95_ms)} p95"
    return [
        Content(""),
        Content.assemble(f"{'calls':<14}", (f"{total.calls:,}", "bold"), f", {total.answers:,} answered"),
        Content.assemble(
            f"{'shortened by':<14}",
            "us: ",
            (f"{total.truncated:,}", "bold"),
            ", the client: ",
            (f"{total.cut_by_client:,}", "bold $warning" if total.cut_by_client else "bold"),
        ),
        Content.assemble(f"{'no answer':<14}", (failures_text(total), failed_style), f", {total.pending:,} pending"),
        Content.assemble(f"{'tokens sent':<14}", (f"{total.tokens:,}", "bold"), f", {wasted:,} wasted"),
        Content.assemble(f"{'budget used':<14}", (f"{total.utilisation:.0%}", "bold"), " on average"),
        Content.assemble(f"{'latency':<14}", (latency, "bold")),
    ]


def utilisation_bars(found: Statistics) -> list[Bar]:
    """Return how many calls used how much of their budget."""
    return [
        Bar(
            bin_name(number),
            count,
            (f"{count:,}",),
            used_filter(number),
            "$warning" if number >= NEARLY_FULL * BINS else "$primary",
        )
        for number, count in enumerate(found.histogram)
    ]


def tool_bars(found: Statistics) -> list[Bar]:
    """Return the tokens that each tool sent, most first."""
    return [_group_bar(group, _tool_filter(group.name)) for group in _most_tokens(found.tools)]


def _tool_filter(name: str) -> str:
    """Return the filter for a tool; that of a wrapped server comes after the name of the server."""
    server, space, tool = name.rpartition(" ")
    return f"server:{filter_value(server)} tool:{filter_value(tool)}" if space else f"tool:{filter_value(name)}"


def server_bars(found: Statistics) -> list[Bar]:
    """Return the tokens that each server sent, most first; nothing if there is only ours."""
    groups = found.servers if any(group.name != OWN_SERVER for group in found.servers) else ()
    return [_group_bar(group, f"server:{filter_value(group.name)}") for group in _most_tokens(groups)]


def client_bars(found: Statistics) -> list[Bar]:
    """Return the tokens that each client got, most first."""
    return [_group_bar(group, f"client:{filter_value(group.name)}") for group in _most_tokens(found.clients)]


def day_bars(found: Statistics) -> list[Bar]:
    """Return the tokens of each day, newest first."""
    return [_group_bar(group, f"time:{group.name}") for group in reversed(found.days[-_MOST_DAYS:])]


def hour_bars(found: Statistics) -> list[Bar]:
    """Return the tokens of each hour, newest first."""
    newest = reversed(found.hours[-_MOST_HOURS:])
    return [_group_bar(group, f"time:{group.name[:13].replace(' ', 'T')}") for group in newest]


def conversation_bars(found: Statistics) -> list[Bar]:
    """Return the tokens of each conversation, newest first."""
    return [_conversation_bar(told) for told in reversed(found.conversations[-_MOST_CONVERSATIONS:])]


def slowest_bars(found: Statistics) -> list[Bar]:
    """Return the slowest calls."""
    return [_call_bar(call) for call in found.slowest]


def _call_bar(call: Call) -> Bar:
    figures = milliseconds(call.ms), f"#{call.id}"
    return Bar(call.tool, call.ms, figures, f"call:{call.id}", "$secondary", asked_text(call))


def _most_tokens(groups: Sequence[Group]) -> list[Group]:
    return sorted(groups, key=lambda group: (-group.tokens, group.name))[:_MOST_BARS]


def _group_bar(group: Group, line: str) -> Bar:
    lacking = [f"{count:,} {word}" if count else "" for word, count in group.by_completeness if word.is_truncated]
    errors = count_of(group.errors, "error") if group.errors else ""
    figures = (f"{group.tokens:,} tok", count_of(group.calls, "call"), errors, *lacking)
    return Bar(group.name, group.tokens, figures, line)


def _conversation_bar(told: Conversation) -> Bar:
    wasted = f"{told.wasted_tokens:,} wasted" if told.wasted else ""
    errors = count_of(told.errors, "error") if told.errors else ""
    figures = (f"{told.tokens:,} tok", count_of(len(told.steps), "call"), local_time(told.first)[5:16], wasted, errors)
    # The last call is kept longest in the list.
    return Bar(told.client, told.tokens, figures, f"conversation:{told.steps[-1].call.id}")
