"""A scrolling view of a document: its rows, where it is, and how to get elsewhere."""

from collections.abc import Sequence
from dataclasses import replace

from keyhole.tui.document import WIDEST, Document, ViewPlace
from keyhole.tui.row_map import PlainRows, RowPlace, Rows, WrappedRows, row_starts
from keyhole.tui.shown_line import ShownLine
from keyhole.tui.widgets.fixed_layout import FixedLayoutView

# The part of the view's height that shows the lines before the target line.
_ABOVE = 0.2
# How far a key scrolls to the side.
_SIDE_STEP = 8
# With more lines than this, the cache is cleared.
_MOST_LINES = 2_000


class DocumentView(FixedLayoutView, can_focus=True):
    """Lays a document out in rows; subclasses draw them. Only lines near the screen are looked at."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        self.document = Document()
        self._rows: Rows = PlainRows(0)
        # The width of wrapped rows in the current layout; 0 if lines are not wrapped. A view that has just been resized
        # is drawn once before it is laid out again.
        self._row_width = 0
        self._shown_lines: dict[int, ShownLine] = {}
        # What the reader chose for documents that are wrapped by default, and for the others.
        self._wrap_choices: dict[bool, bool] = {}
        # The line of the cursor, from 1: clicked, found or gone to.
        self._current: int | None = None
        # The line that was gone to last, and the scroll position that this gave.
        self._gone_to = (1, 0)

    def forget_drawn(self) -> None:
        """Drop what was drawn; for subclasses."""

    # Showing

    def show(self, document: Document, *, line: int = 1) -> None:
        """Show a document, scrolled to a line."""
        self.document = document
        self._shown_lines.clear()
        self._current = line if line > 1 or (line and document.marked) else None
        self._lay_out()
        self.go_to(line)
        self.refresh()

    def mark(self, marked: range) -> None:
        """Mark other lines, without scrolling; the first is the current one."""
        self.document = replace(self.document, marked=marked)
        self.set_current(marked.start)

    def select_result(self, number: int | None) -> None:
        """Mark a result in the text of an answer and keep it in view; `number` is its place on the page."""
        if self.document.layout is None:
            return
        lines, current = self.document.lines_of_result(number), self._current
        if lines and lines != self.document.marked:
            self.mark(lines)
            if current in lines:
                self.set_current(current)
            self.keep_in_view(lines)
        elif not lines:
            # A result that is left out is missing at the end.
            self.document = replace(self.document, marked=lines)
            self.set_current(None)
            self.scroll_end(animate=False, immediate=True)

    def set_current(self, line: int | None) -> None:
        """Make a line the current one, without scrolling."""
        self._current = line
        self.forget_drawn()
        self.refresh()

    @property
    def gutter_width(self) -> int:
        """The width of the line numbers, or of the costs of results, and the bar."""
        if self.document.is_numbered:
            return len(str(len(self.document.lines))) + 2
        return self.document.layout.cost_width + 1 if self.document.layout else 1

    @property
    def is_wrapping(self) -> bool:
        """Whether long lines are wrapped."""
        return self._wrap_choices.get(self.document.wraps, self.document.wraps)

    def shown_line(self, number: int) -> ShownLine:
        """Return a line as it is shown; its number counts from 0."""
        if number not in self._shown_lines:
            if len(self._shown_lines) > _MOST_LINES:
                self._shown_lines.clear()
            line = self.document.lines[number]
            # In coloured source, the ends of lines of Windows files go without saying.
            self._shown_lines[number] = ShownLine(line.removesuffix("\r") if self.document.lexer else line)
        return self._shown_lines[number]

    def starts_in(self, number: int) -> Sequence[int]:
        """Return where the rows of a line start."""
        return row_starts(self.shown_line(number).text, self._row_width) if self._row_width else (0,)

    def _lay_out(self) -> None:
        lines = self.document.lines
        # There is always room for the scrollbar, so that its coming changes nothing; a hidden view has no width.
        width = max(0, self.content_size.width - self.gutter_width - 1)
        self._row_width = width if self.is_wrapping else 0
        if self._row_width or (self.document.layout and self.document.layout.drawn):
            self._rows = WrappedRows(lines, self._height_of, self._row_width or WIDEST)
        else:
            self._rows = PlainRows(len(lines))
        self.forget_drawn()
        self._update_size()

    def _height_of(self, number: int) -> int:
        return len(self.starts_in(number)) + len(self.document.drawn_below(number))

    def _update_size(self) -> None:
        width = 1 if self._row_width else self.gutter_width + self.document.longest + 1
        self.set_content_size(width, self._rows.total)

    # Where the view is

    @property
    def top_line(self) -> int:
        """The first line in view, from 1."""
        return self.locate(0).line + 1

    @property
    def current_line(self) -> int:
        """The line of the cursor: clicked, found or gone to; if none is in view, the first line that is."""
        current = self._current
        return current if current and self.is_in_view(range(current, current + 1)) else self.top_line

    def is_in_view(self, lines: range) -> bool:
        """Return whether one of some lines is in view."""
        height = self.scrollable_content_region.height
        return lines.start - 1 <= self.locate(max(0, height - 1)).line and lines.stop > self.top_line

    def locate(self, y: int) -> RowPlace:
        """Return what is on a row of the screen."""
        return self._rows.locate(self.scroll_offset.y + y)

    @property
    def place(self) -> ViewPlace:
        """Where the view is, to come back to."""
        line, part = self.locate(0)
        character = 0
        if part and line < len(self.document.lines):
            # A row that is only drawn comes after the last row of its line.
            starts = self.starts_in(line)
            character = starts[min(part, len(starts) - 1)]
        return ViewPlace(line, character, self.scroll_offset.x, self._current)

    def go_back_to(self, place: ViewPlace) -> None:
        """Go to where the view was."""
        self._current = place.current
        self.forget_drawn()
        self._scroll_to_place(place)
        self._gone_to = (0, -1)

    def _scroll_to_place(self, place: ViewPlace) -> None:
        if place.line >= len(self.document.lines):
            return
        starts = self.starts_in(place.line)
        part = sum(1 for start in starts[1:] if start <= place.character) if place.character else 0
        self._scroll_to_row(RowPlace(place.line, part), place.left)

    # Going elsewhere

    def go_to(self, line: int, part: int = 0) -> None:
        """Scroll so that a line, or one of its rows, is in the upper part of the view."""
        height = self.scrollable_content_region.height
        above = int(height * _ABOVE) if line > 1 or part else 0
        self._scroll_to_row(RowPlace(max(0, line - 1), part), 0, above=above)
        self._gone_to = line, self.scroll_offset.y

    def go_to_line(self, line: int) -> None:
        """Go to a line and make it the current one."""
        line = min(max(1, line), max(1, len(self.document.lines)))
        self.set_current(line)
        self.go_to(line)

    def keep_in_view(self, lines: range) -> None:
        """Scroll only if some lines are not in view, or only partly though there is room for all."""
        first, last = (self._rows.row_of(RowPlace(line - 1)) for line in (lines.start, lines.stop))
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        fits_below = last <= top + height or (last - first > height and first < top + height // 2)
        if not (top <= first and fits_below):
            self.go_to(lines.start)

    def show_cells(self, left: int, right: int) -> None:
        """Scroll to the side if a part of a line is not in view."""
        width, here = self.scrollable_content_region.width - self.gutter_width - 1, self.scroll_offset.x
        if not here <= left <= right <= here + width:
            there = 0 if right <= width else max(0, left - width // 2)
            self.scroll_to(x=there, animate=False, immediate=True, force=True)

    def _scroll_to_row(self, place: RowPlace, left: int, *, above: int = 0) -> None:
        rows, height = self._rows, self.scrollable_content_region.height
        rows.settle(rows.row_of(place), height)
        self._update_size()
        row = max(0, rows.row_of(place) - above)
        self.scroll_to(left, row, animate=False, immediate=True, force=True)
        self._settle()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Measure the lines that came into view."""
        super().watch_scroll_y(old_value, new_value)
        self._settle()

    def _settle(self) -> None:
        """Measure the lines near the screen; the first one stays where it is, and the end stays the end."""
        top, was_at_end = self.scroll_offset.y, self.is_vertical_scroll_end
        settled = self._rows.settle(top, self.scrollable_content_region.height)
        if self._rows.total != self.virtual_size.height:
            self._update_size()
            settled = self.max_scroll_y if was_at_end and top else settled
        if settled != top:
            # `scroll_to` would stop the animation that is calling, which Textual can't bear.
            self.set_scroll(None, settled)
            self.scroll_target_y = settled
            self.vertical_scrollbar.position = settled
            self.refresh()
            self._settle()

    def on_resize(self) -> None:
        """Lay out again in the new width; the same line stays in view.

        A line that was gone to stays in the upper part of the view, unless the user has scrolled: a hidden view had no
        height.
        """
        place, (line, top) = self.place, self._gone_to
        has_scrolled = self.scroll_offset.y != top
        if self.is_wrapping:
            self._lay_out()
        if has_scrolled:
            self._scroll_to_place(place)
        else:
            self.go_to(line)

    def action_toggle_wrap(self) -> None:
        """Wrap long lines, or stop wrapping them; the same line stays in view."""
        place = self.place
        self._wrap_choices[self.document.wraps] = not self.is_wrapping
        self._lay_out()
        self._scroll_to_place(place._replace(left=0))
        self.refresh()

    def action_scroll_side(self, step: int) -> None:
        """Scroll to the left or right."""
        left = self.scroll_offset.x + step * _SIDE_STEP
        self.scroll_to(x=left, animate=False, immediate=True, force=True)

    def action_scroll_half(self, step: int) -> None:
        """Scroll by half a screen."""
        self.scroll_relative(y=step * max(1, self.scrollable_content_region.height // 2), animate=False, immediate=True)
