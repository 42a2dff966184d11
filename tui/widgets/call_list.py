"""The list of calls, newest first."""

from collections.abc import Hashable, Sequence
from datetime import UTC, datetime

from textual.content import Content

from keyhole.core.journal.reader import is_lost
from keyhole.core.types import Call, CallStatus
from keyhole.core.view.text import name_text
from keyhole.tui.widgets.row_list import RowList

_WIDE = 70
_CLIENT, _TOOL = 11, 13
# Every status is a sign and a word, so that colour is never needed.
STATUSES = {
    CallStatus.PENDING: ("… pending", "$secondary"),
    CallStatus.OK: ("✓ ok", "$success"),
    CallStatus.TRUNCATED: ("▲ cut", "$warning"),
    CallStatus.ERROR: ("✗ error", "$error"),
}
_LOST = ("✗ lost", "$error")


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

    def key_of(self, number: int) -> Hashable:
        """Tell calls apart, and what may change of one."""
        call = self._calls[number]
        return call.id, call.change, call.id in self._marked, is_lost(call)

    def draw(self, number: int, width: int) -> list[Content]:
        """Write a call on one line."""
        call = self._calls[number]
        status, style = _LOST if is_lost(call) else STATUSES[call.status]
        has_ended = call.status != CallStatus.PENDING
        mark = "★ " if call.id in self._marked else "  "
        parts: list[Content | str | tuple[str, str]] = [
            (mark, "bold $primary"),
            (f"{call.id:>5} " if width >= _WIDE else "", "$text-muted"),
            (_clock(call.started), "$text-muted"),
            (f" {name_text(call.client, _CLIENT):<{_CLIENT}} ", "$foreground"),
            (f"{name_text(call.tool, _TOOL):<{_TOOL}}", "bold"),
            (f"{call.tokens:>7,}" if has_ended else f"{'…':>7}", "$foreground"),
            (f"{call.ms:>6,.0f}  " if has_ended else f"{'…':>6}  ", "$text-muted"),
            (status, style),
        ]
        return [Content.assemble(*parts).truncate(width, ellipsis=True)]


def heading(width: int) -> str:
    """Name the columns of a list so wide."""
    number = f"{'#':>5} " if width >= _WIDE else ""
    return f"  {number}{'time':<8} {'client':<{_CLIENT}} {'tool':<{_TOOL}}{'tok':>7}{'ms':>6}  status"


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%H:%M:%S")
