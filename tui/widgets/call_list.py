"""The list of calls, newest first, by conversation or all in the order of time."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from textual.content import Content

from keyhole.core.journal.local_time import local_time
from keyhole.core.journal.reader import status_now
from keyhole.core.journal.story import Conversation, Step
from keyhole.core.types.calls import Call
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.asked_text import asked_text, end_cut, short_tool
from keyhole.core.view.story_text import SIGNS
from keyhole.core.view.text import count_of, name_text, one_line
from keyhole.tui.call_log import CallRow, ConversationRow
from keyhole.tui.status_words import WORDS
from keyhole.tui.widgets.bars import set_title
from keyhole.tui.widgets.row_list import RowList

# The marks, the arrow of a follow-up with the tool, tokens and status are always shown.
_MARKS, _TOOL, _TOKENS, _STATUS = 4, 12, 7, 13
_ALWAYS = _MARKS + _TOOL + _TOKENS + _STATUS
_MS, _TIME, _NUMBER, _WASTE = 7, 9, 6, 14
_CLIENT, _LONGEST_CLIENT = 12, 22
# What was asked gets at least this much before a further column is shown.
_ASKED = 24
# From this width on, what was asked is shown beside the message of an error.
_ASKED_AND_TOLD = 44
_NO_STEP = Step(Call(0, 0, 0.0, 0, "", "", "", "", ""))


@dataclass(frozen=True, slots=True)
class Columns:
    """The widths of the columns; 0 for one that is not shown. What was asked gets all that is left."""

    number: int
    time: int
    client: int
    asked: int
    ms: int
    waste: int

    @classmethod
    def of(cls, width: int, *, has_client: bool) -> "Columns":
        """Return the columns for a width."""
        room = width - _ALWAYS - (_CLIENT if has_client else 0) - _ASKED
        taken = {}
        # In the order of their use.
        for name, size in (("ms", _MS), ("time", _TIME), ("number", _NUMBER), ("waste", 2 * _WASTE)):
            taken[name] = size if room >= size else 0
            room -= taken[name]
        longer = min(max(0, room // 3), _LONGEST_CLIENT - _CLIENT)
        client = _CLIENT + longer if has_client else 0
        waste = _WASTE if taken["waste"] else 0
        shown = taken["ms"] + taken["time"] + taken["number"] + waste
        return cls(taken["number"], taken["time"], client, max(4, width - _ALWAYS - client - shown), taken["ms"], waste)

    def heading(self) -> str:
        """Return the column titles."""
        number = f"{'#':>{self.number - 1}} " if self.number else ""
        client = f"{'client':<{self.client}}" if self.client else ""
        ms = f"{'ms':>{self.ms}}" if self.ms else ""
        names = f"{number}{'time':<{self.time}}"[: self.number + self.time]
        tool = f"{' ' * _MARKS}{names}{client}{'  tool':<{_TOOL}}{'asked':<{self.asked}}"
        return f"{tool}{'tok':>{_TOKENS}}{ms} {'status':<{_STATUS - 1}}{' wasted' if self.waste else ''}"


class CallList(RowList):
    """One line per call, below the heading of its conversation."""

    HELP_TITLE = "Calls"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        self._rows: Sequence[CallRow] = ()
        self._steps: Mapping[int, Step] = {}
        self._marked: set[int] = set()
        self._is_grouped = True

    @property
    def call(self) -> Call | None:
        """The call under the cursor."""
        row = self._rows[self.highlighted] if self.highlighted is not None and self._rows else None
        return row if isinstance(row, Call) else None

    @property
    def calls(self) -> Sequence[Call]:
        """The calls in the list."""
        return tuple(row for row in self._rows if isinstance(row, Call))

    @property
    def position(self) -> int | None:
        """How many calls are above the cursor."""
        call = self.call
        return self.calls.index(call) if call else None

    @property
    def is_at_newest(self) -> bool:
        """Whether the cursor is on the newest call."""
        return self.highlighted is not None and self.highlighted == self._first_call

    @property
    def _first_call(self) -> int:
        return 1 if self._rows and isinstance(self._rows[0], ConversationRow) else 0

    def show(
        self, rows: Sequence[CallRow], steps: Mapping[int, Step], marked: set[int], *, follows: bool, is_grouped: bool
    ) -> None:
        """Show calls, with the cursor on the newest one, or on the same call at the same height."""
        before, on = self.highlighted, self.call.id if self.call else None
        self._rows, self._steps, self._marked = rows, steps, marked
        if is_grouped != self._is_grouped:
            self._is_grouped = is_grouped
            self.draw_again()
        self._show_heading()
        places = {row.id: number for number, row in enumerate(rows) if isinstance(row, Call)} if on else {}
        place = self._first_call if follows else places.get(on or 0, self._near(before or 0))
        if not follows and before is not None:
            self.set_content_size(0, len(rows))
            self.scroll_to(0, self.scroll_offset.y + place - before, animate=False)
        self.show_rows(len(rows), place if rows else None, keeps_drawn=True)

    def _near(self, number: int) -> int:
        """Return the row of a call near a number."""
        number = max(0, min(number, len(self._rows) - 1))
        return number + 1 if self._rows and isinstance(self._rows[number], ConversationRow) else number

    def can_highlight(self, number: int) -> bool:
        """Return whether a row is a call."""
        return isinstance(self._rows[number], Call)

    def lines_above(self, number: int) -> int:
        """Return 1 below a heading, which stays on the screen with the first call of its conversation."""
        return int(0 < number < len(self._rows) and isinstance(self._rows[number - 1], ConversationRow))

    def on_resize(self) -> None:
        """Update the column titles."""
        self._show_heading()

    def _show_heading(self) -> None:
        # The frame starts two cells before the first column, and its title one cell later.
        set_title(self, Content(self._columns.heading()[1:].rstrip()))

    @property
    def _columns(self) -> Columns:
        # Leaves room for the padding, and for a scrollbar that may or may not be there.
        return Columns.of(self.content_size.width - 3, has_client=not self._is_grouped)

    def key_of(self, number: int) -> Hashable:
        """Return what identifies a row and everything about it that may change."""
        row = self._rows[number]
        if isinstance(row, ConversationRow):
            told = row.conversation
            return told.id, len(told.steps), told.tokens, len(told.wasted), row.shown
        step = self._steps.get(row.id, _NO_STEP)
        return row.id, row.change, row.id in self._marked, status_now(row), step.waste, step.follows

    def draw(self, number: int, width: int) -> list[Content]:
        """Draw a row on one line."""
        row = self._rows[number]
        drawn = _heading(row) if isinstance(row, ConversationRow) else self._call(row)
        return [drawn.truncate(width, ellipsis=True)]

    def _call(self, call: Call) -> Content:
        step, columns = self._steps.get(call.id, _NO_STEP), self._columns
        status, style = WORDS[status_now(call)]
        has_ended = call.status != CallStatus.PENDING
        number = f"{call.id:>{columns.number - 1}} " if columns.number else ""
        time = f"{local_time(call.started)[11:]} " if columns.time else ""
        client = f"{name_text(_client(call), columns.client - 1):<{columns.client}}" if columns.client else ""
        arrow = "→ " if step.follows else "  "
        milliseconds = f"{call.ms:,.0f}" if has_ended else "…"
        return Content.assemble(
            ("★ " if call.id in self._marked else "  ", "bold $primary"),
            (f"{SIGNS[step.waste]} " if step.waste else "  ", "$warning"),
            (number + time, "$text-muted"),
            (client, "$foreground"),
            (arrow, "$text-muted"),
            (f"{name_text(call.tool if call.server else short_tool(call.tool), _TOOL - 3):<{_TOOL - 2}}", "bold"),
            _asked(call, columns.asked),
            (f"{call.tokens if has_ended else '…':>{_TOKENS},}" if has_ended else f"{'…':>{_TOKENS}}", "$foreground"),
            (f"{milliseconds:>{columns.ms}}" if columns.ms else "", "$text-muted"),
            (f" {status:<{_STATUS - 1}}", style),
            (f" {step.waste}" if columns.waste and step.waste else "", "$warning"),
        )


def _asked(call: Call, width: int) -> Content:
    """Return what was asked, and what the agent was told if the call failed."""
    if not call.problem:
        asked = asked_text(call, width - 1)
        return Content.styled(asked + " " * (width - len(asked)), "$foreground")
    asked = f"{asked_text(call, width // 3)} ✗ " if width >= _ASKED_AND_TOLD else ""
    told = end_cut(one_line(call.problem), width - len(asked) - 1)
    return Content.assemble((asked, "$foreground"), (f"{told:<{width - len(asked)}}", "$error"))


def _client(call: Call) -> str:
    """Return whose call it is, and the server if it is not ours."""
    return f"{call.client}→{call.server}" if call.server else call.client


def _heading(row: ConversationRow) -> Content:
    """Draw the first row of a conversation: whose it is, when it was, and what it cost."""
    told = row.conversation
    count = count_of(len(told.steps), "call")
    calls = count if row.shown == len(told.steps) else f"{row.shown:,} of {count}"
    wasted = f", {told.wasted_tokens:,} wasted" if told.wasted else ""
    errors = f" · {count_of(told.errors, 'error')}" if told.errors else ""
    server = f"→ {name_text(told.server, _LONGEST_CLIENT)} " if told.server else ""
    return Content.assemble(
        (f"{name_text(told.client, _LONGEST_CLIENT)} ", "bold $primary"),
        (server, "bold $secondary"),
        (f"· {calls} · {told.tokens:,} tok", "$foreground"),
        (wasted, "$warning"),
        (errors, "$error"),
        (f" · {_clock_times(told)}", "$text-muted"),
    )


def _clock_times(told: Conversation) -> str:
    """Return from when to when a conversation went, to the minute."""
    first, last = (local_time(seconds)[11:16] for seconds in (told.first, told.last))
    return first if first == last else f"{first} to {last}"
