"""The list of calls, newest first."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from textual.content import Content

from keyhole.core.journal.reader import status_now
from keyhole.core.types.calls import Call
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.text import name_text
from keyhole.tui.status_words import WORDS
from keyhole.tui.widgets.bars import set_title
from keyhole.tui.widgets.row_list import RowList

# The number and the time of a call are shown from these widths on.
_WITH_NUMBER, _WITH_TIME = 70, 62
_CLIENT, _TOOL = 11, 13
_SHORTEST_CLIENT = 6
# The longest name of our own tools, and as much of a client's name as is useful.
_LONGEST_CLIENT, _LONGEST_TOOL = 24, 17
# A mark, a space between the names, tokens, milliseconds, and the longest status.
_REST = 2 + 1 + 7 + 8 + 12


@dataclass(frozen=True, slots=True)
class Columns:
    """The widths of the columns; names share what is left, the tool's first."""

    number: int
    time: int
    client: int
    tool: int

    @classmethod
    def of(cls, width: int) -> "Columns":
        """Return the columns for a width."""
        number = 6 if width >= _WITH_NUMBER else 0
        time = 9 if width >= _WITH_TIME else 0
        names = width - number - time - _REST
        tool = min(_LONGEST_TOOL, max(_TOOL, names - _CLIENT))
        return cls(number, time, min(_LONGEST_CLIENT, max(_SHORTEST_CLIENT, names - tool)), tool)

    def line(self, number: str, time: str, client: str, tool: str) -> tuple[str, str, str]:
        """Return the first columns of a line: number and time if there is room, client, and tool."""
        numbered = f"{number:>{self.number - 1}} " if self.number else ""
        timed = f"{time:<{self.time - 1}} " if self.time else ""
        named = f"{name_text(client, self.client):<{self.client}} "
        return numbered + timed, named, f"{name_text(tool, self.tool):<{self.tool}}"


class CallList(RowList):
    """One line per call: time, client, tool, tokens, milliseconds and status."""

    HELP_TITLE = "Calls"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        self._calls: Sequence[Call] = ()
        self._marked: set[int] = set()

    @property
    def call(self) -> Call | None:
        """The call under the cursor."""
        return self._calls[self.highlighted] if self.highlighted is not None and self._calls else None

    @property
    def calls(self) -> Sequence[Call]:
        """The calls in the list."""
        return self._calls

    def show(self, calls: Sequence[Call], marked: set[int], *, follows: bool) -> None:
        """Show calls, with the cursor on the newest one, or on the same call at the same height."""
        before, on = self.highlighted, self.call.id if self.call else None
        self._calls, self._marked = calls, marked
        places = {call.id: number for number, call in enumerate(calls)}
        place = 0 if follows else places.get(on or 0, min(before or 0, len(calls) - 1))
        if not follows and before is not None:
            self.set_content_size(0, len(calls))
            self.scroll_to(0, self.scroll_offset.y + place - before, animate=False)
        self.show_rows(len(calls), place if calls else None, keeps_drawn=True)

    def on_resize(self) -> None:
        """Update the column titles."""
        # The frame starts two cells before the first column, and its title one cell later.
        set_title(self, Content(heading(self._columns)[1:]))

    @property
    def _columns(self) -> Columns:
        # Leaves room for the padding, and for a scrollbar that may or may not be there.
        return Columns.of(self.content_size.width - 3)

    def key_of(self, number: int) -> Hashable:
        """Return what identifies a call and everything about it that may change."""
        call = self._calls[number]
        return call.id, call.change, call.id in self._marked, status_now(call)

    def draw(self, number: int, width: int) -> list[Content]:
        """Draw a call on one line."""
        call = self._calls[number]
        status, style = WORDS[status_now(call)]
        has_ended = call.status != CallStatus.PENDING
        mark = "★ " if call.id in self._marked else "  "
        when, client, tool = self._columns.line(str(call.id), _clock(call.started), call.client, call.tool)
        parts: list[Content | str | tuple[str, str]] = [
            (mark, "bold $primary"),
            (when, "$text-muted"),
            (client, "$foreground"),
            (tool, "bold"),
            (f"{call.tokens:>7,}" if has_ended else f"{'…':>7}", "$foreground"),
            (f"{call.ms:>7,.0f} " if has_ended else f"{'…':>7} ", "$text-muted"),
            (status, style),
        ]
        return [Content.assemble(*parts).truncate(width, ellipsis=True)]


def heading(columns: Columns) -> str:
    """Return the column titles."""
    return f"  {''.join(columns.line('#', 'time', 'client', 'tool'))}{'tok':>7}{'ms':>7} status"


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%H:%M:%S")
