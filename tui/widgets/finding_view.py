"""A view with a line over its lower frame, to find a text or to go to a line."""

import asyncio
from typing import TYPE_CHECKING

from rich.cells import cell_len

from keyhole.tui.document import Document
from keyhole.tui.row_map import RowPlace
from keyhole.tui.text_finder import MOST_MATCHES, Finding, Match, matches_in, needle_of
from keyhole.tui.widgets.document_view import DocumentView

if TYPE_CHECKING:
    from keyhole.tui.widgets.view_line import ViewLine

# How many lines are searched before the view handles other events.
_LINES_AT_ONCE = 2_000


class FindingView(DocumentView):
    """Finds texts in its document, and goes to lines by their numbers."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        self._finding: Finding | None = None
        # The text that was found last, to find it again.
        self._last_found = ""
        self._line: ViewLine | None = None

    def show(self, document: Document, *, line: int = 1) -> None:
        """Show a document, scrolled to a line; what was found before is found in it too."""
        is_other = document.text != self.document.text
        super().show(document, line=line)
        if is_other and self._finding:
            self._start_finding(self._finding.text, moves=False)

    @property
    def is_finding(self) -> bool:
        """Whether the matches of a text are marked."""
        return self._finding is not None and bool(self._finding.text)

    def found_in(self, number: int) -> list[tuple[Match, bool]]:
        """Return the matches on a line, each with whether it was gone to last."""
        if self._finding is None:
            return []
        return [(match, match == self._finding.current) for match in self._finding.by_line.get(number, ())]

    # The line

    async def action_find(self) -> None:
        """Open the find line."""
        from keyhole.tui.widgets.view_line import FindLine

        self.stop_finding()
        await self._open_line(FindLine(self, self._last_found))

    async def action_ask_line(self) -> None:
        """Open the line that asks for the number of a line."""
        from keyhole.tui.widgets.view_line import GoToLine

        self.stop_finding()
        await self._open_line(GoToLine(self))

    async def action_find_next(self, step: int) -> None:
        """Go to the next or the previous match; without a text to find, ask for one."""
        if self._finding:
            self.find_next(step)
        elif self._last_found:
            self._start_finding(self._last_found, moves=True)
        else:
            await self.action_find()

    async def _open_line(self, line: "ViewLine") -> None:
        """Open a line and give it the focus at once: the next key may come already."""
        self._line = line
        await self.screen.mount(line)
        self.screen.set_focus(line.input)
        line.input.select_all()

    @property
    def is_asking(self) -> bool:
        """Whether one of its lines has the focus."""
        return self._line is not None and self._line.has_focus_within

    def close_line(self) -> None:
        """Close the find line or the other, and read on."""
        self.stop_finding()
        self.screen.set_focus(self)

    def stop_finding(self) -> bool:
        """Close the line of the view and unmark its matches; return whether there was one."""
        line, self._line = self._line, None
        was_there = line is not None or self._finding is not None
        if line:
            line.remove()
        self._finding = None
        self.forget_drawn()
        self.refresh()
        return was_there

    # Finding

    def find(self, text: str) -> None:
        """Find a text while it is typed, from where the view was when that began."""
        if self._finding is None or text != self._finding.text:
            self._last_found = text
            self._start_finding(text, moves=True)

    def _start_finding(self, text: str, *, moves: bool) -> None:
        origin = self._finding.origin if self._finding and moves else self.current_line - 1
        self._finding = Finding(text, origin)
        self._say_count()
        self.run_worker(self._find_all(self._finding, moves=moves), group="find", exclusive=True, name="find")

    async def _find_all(self, finding: Finding, *, moves: bool) -> None:
        """Find a text in all lines, some at a time, so that typing is not held up."""
        lines, needle = self.document.lines, needle_of(finding.text)
        for start in range(0, len(lines) if finding.text else 0, _LINES_AT_ONCE):
            if len(finding.matches) >= MOST_MATCHES:
                break
            finding.add(list(matches_in(lines, start, start + _LINES_AT_ONCE, needle)))
            await asyncio.sleep(0)
        finding.is_complete = True
        finding.first()
        if moves:
            self._show_match()
        self._say_count()
        self.forget_drawn()
        self.refresh()

    def find_next(self, step: int) -> None:
        """Go to the next or the previous match."""
        if self._finding and self._finding.is_complete:
            self._finding.step(step)
            self._show_match()
            self._say_count()

    def _show_match(self) -> None:
        match = self._finding.current if self._finding else None
        if match is None:
            return
        self.set_current(match.line + 1)
        self._scroll_to_match(match.line, match.start, match.end)

    def _scroll_to_match(self, line: int, start: int, end: int) -> None:
        """Scroll only if the match is not in view, below the header and above the edge."""
        shown, height = self.shown_line(line), self.scrollable_content_region.height
        left, right = shown.place_of(start), shown.place_of(end)
        part = sum(1 for begin in self.starts_in(line)[1:] if begin <= left)
        row, top = self._rows.row_of(RowPlace(line, part)), self.scroll_offset.y
        # At the very top there is no header.
        is_in_view = top < row < top + height or row == top == 0
        if not is_in_view:
            self.go_to(line + 1, part)
        if not self._row_width:
            self.show_cells(cell_len(shown.text[:left]), cell_len(shown.text[:right]))

    def _say_count(self) -> None:
        if self._line and self._finding:
            self._line.say(self._finding.count_text, is_problem=self._finding.is_in_vain)

    # Its line follows the view

    def on_resize(self) -> None:
        """Lay out again, and move the find line along."""
        super().on_resize()
        if self._line:
            self._line.follow_view()

    def on_hide(self) -> None:
        """Hide the find line with the view."""
        if self._line:
            self._line.display = False

    def on_show(self) -> None:
        """Show the find line with the view."""
        if self._line:
            self._line.display = True
            self.call_after_refresh(self._line.follow_view)
