"""The list of calls, newest first."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from textual.content import Content

from keyhole.core.journal.reader import is_lost
from keyhole.core.types import Call, CallStatus
from keyhole.core.view.text import name_text
from keyhole.tui.widgets.bars import set_title
from keyhole.tui.widgets.row_list import RowList

# From these widths on there is room for the number of a call, and for its time.
_WITH_NUMBER, _WITH_TIME = 70, 62
_CLIENT, _TOOL = 11, 13
_SHORTEST_CLIENT = 6
# The longest name of our own tools; and a client's, which is its own affair.
_LONGEST_CLIENT, _LONGEST_TOOL = 24, 17
# A mark, a space between the names, tokens, milliseconds, and the longest status.
_REST = 2 + 1 + 7 + 8 + 11
# Every status is a sign and a word, so that colour is never needed.
STATUSES = {
    CallStatus.PENDING: ("… pending", "$secondary"),
    CallStatus.OK: ("✓ ok", "$success"),
    CallStatus.TRUNCATED: ("▲ cut", "$warning"),
    CallStatus.ERROR: ("✗ error", "$error"),
}
_LOST = ("✗ lost", "$error")
_CANCELLED = ("✗ cancelled", "$warning")


@dataclass(frozen=True, slots=True)
class Columns:
    """How wide the columns of a list are; names have what the rest leaves, the tool's before the client's."""

    number: int
    time: int
    client: int
    tool: int

    @classmethod
    def of(cls, width: int) -> "Columns":
        """Share out a width."""
        number = 6 if width >= _WITH_NUMBER else 0
        time = 9 if width >= _WITH_TIME else 0
        names = width - number - time - _REST
        tool = min(_LONGEST_TOOL, max(_TOOL, names - _CLIENT))
        return cls(number, time, min(_LONGEST_CLIENT, max(_SHORTEST_CLIENT, names - tool)), tool)

    def line(self, number: str, time: str, client: str, tool: str) -> tuple[str, str, str]:
        """Write what stands in front: the number and the time, if there is room, the client, and the tool."""
        numbered = f"{number:>{self.number - 1}} " if self.number else ""
        timed = f"{time:<{self.time - 1}} " if self.time else ""
        named = f"{name_text(client, self.client):<{self.client}} "
        return numbered + timed, named, f"{name_text(tool, self.tool):<{self.tool}}"


class CallList(RowList):
    """One line for each call: when, who, what, how many tokens, how long, and how it ended."""

    HELP_TITLE = "In the calls"

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
        """Show calls, with the cursor on the newest or else where it was, at the same height of the screen."""
        before, on = self.highlighted, self.call.id if self.call else None
        self._calls, self._marked = calls, marked
        places = {call.id: number for number, call in enumerate(calls)}
        place = 0 if follows else places.get(on or 0, min(before or 0, len(calls) - 1))
        if not follows and before is not None:
            self.set_content_size(0, len(calls))
            self.scroll_to(0, self.scroll_offset.y + place - before, animate=False)
        self.show_rows(len(calls), place if calls else None, keeps_drawn=True)

    def on_resize(self) -> None:
        """Name the columns there are."""
        # The frame begins two cells before the first column, and its own title one after that.
        set_title(self, Content(heading(self._columns)[1:]))

    @property
    def _columns(self) -> Columns:
        # Without the air at the sides, and whether there is a scrollbar or not.
        return Columns.of(self.content_size.width - 3)

    def key_of(self, number: int) -> Hashable:
        """Tell calls apart, and what may change of one."""
        call = self._calls[number]
        return call.id, call.change, call.id in self._marked, is_lost(call)

    def draw(self, number: int, width: int) -> list[Content]:
        """Write a call on one line."""
        call = self._calls[number]
        status, style = _standing(call)
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
    """Name the columns."""
    return f"  {''.join(columns.line('#', 'time', 'client', 'tool'))}{'tok':>7}{'ms':>7} status"


def _standing(call: Call) -> tuple[str, str]:
    if is_lost(call):
        return _LOST
    return _CANCELLED if call.is_cancelled else STATUSES[call.status]


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%H:%M:%S")
