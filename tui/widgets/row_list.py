"""A list with a cursor: rows of a fixed height, of which only those on the screen are drawn."""

from collections.abc import Hashable, Iterable, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from keyhole.tui import keys
from keyhole.tui.widgets.fixed_layout import FixedLayoutView

# Empty cells on each side of a row.
_PADDING = 1
# With more drawn rows than this, the cache is cleared.
_MOST_DRAWN = 500
_NOTICE = "notice"


class RowList(FixedLayoutView, can_focus=True):
    """Shows rows; subclasses draw them."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"row-list--cursor"}
    BINDINGS: ClassVar[list[BindingType]] = keys.LIST
    lines_each: ClassVar[int] = 1

    highlighted: reactive[int | None] = reactive(None, repaint=False)

    class Highlighted(Message):
        """The cursor moved to another row."""

    class Selected(Message):
        """A row was selected."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        self._count = 0
        self._notice: Sequence[str] = ()
        self._strips: dict[tuple[Hashable, bool, int], list[Strip]] = {}

    def draw(self, number: int, width: int) -> list[Content]:
        """Return the lines of a row."""
        raise NotImplementedError

    def key_of(self, number: int) -> Hashable:
        """Return the cache key of a row; if it covers all that is drawn, moved rows need not be drawn again."""
        return number

    def can_highlight(self, number: int) -> bool:  # noqa: ARG002  # for subclasses
        """Return whether the cursor may be on a row."""
        return True

    def lines_above(self, number: int) -> int:  # noqa: ARG002  # for subclasses
        """Return how many lines above a row belong to it, and are shown with it."""
        return 0

    def show_rows(self, count: int, highlighted: int | None, *, keeps_drawn: bool = False) -> None:
        """Show a number of rows, with the cursor on one of them."""
        self._count, self._notice = count, ()
        self._forget(keeps_drawn=keeps_drawn and len(self._strips) < _MOST_DRAWN)
        if highlighted == self.highlighted:
            self._follow_cursor()
        self.highlighted = highlighted

    def say(self, lines: Iterable[str]) -> None:
        """Show lines of text with markup instead of rows."""
        self._count, self._notice = 0, tuple(lines)
        self._forget()
        self.highlighted = None
        self.scroll_to(0, 0, animate=False)

    def _forget(self, *, keeps_drawn: bool = False) -> None:
        if not keeps_drawn:
            self._strips.clear()
        height = self._count * self.lines_each if self._count else len(self._notice_strips())
        self.set_content_size(0, height)
        self.refresh()

    def draw_again(self) -> None:
        """Draw the same rows again, since something that they show has changed."""
        self._strips.clear()
        self.refresh()

    def notify_style_update(self) -> None:
        """Drop the rows drawn in other colours."""
        super().notify_style_update()
        self._strips.clear()

    def on_resize(self) -> None:
        """Draw again in the new width."""
        self._forget()
        self._follow_cursor()

    def render_line(self, y: int) -> Strip:
        """Render one line of the screen."""
        width = self.scrollable_content_region.width
        number, part = divmod(self.scroll_offset.y + y, self.lines_each)
        if number < self._count:
            return self._row(number, width)[part]
        strips = self._notice_strips()
        line = self.scroll_offset.y + y
        return strips[line] if line < len(strips) else Strip.blank(width, self.rich_style)

    def _row(self, number: int, width: int) -> list[Strip]:
        is_cursor = number == self.highlighted
        # The width is part of the key because a scrollbar takes a cell from each row.
        key = self.key_of(number), is_cursor, width
        if key not in self._strips:
            self._strips[key] = [self._strip(line, width, is_cursor=is_cursor) for line in self.draw(number, width - 2)]
        return self._strips[key]

    def _notice_strips(self) -> list[Strip]:
        width = max(2 + _PADDING, self.scrollable_content_region.width)
        key = _NOTICE, False, width
        if key not in self._strips:
            wrapped = [part for line in self._notice for part in Content.from_markup(line).wrap(width - 2 * _PADDING)]
            self._strips[key] = [self._strip(line, width, is_cursor=False) for line in wrapped]
        return self._strips[key]

    def _strip(self, line: Content, width: int, *, is_cursor: bool) -> Strip:
        style = self.get_visual_style("row-list--cursor") if is_cursor else self.visual_style
        pieces = line.render(style, end="", parse_style=self.app.stylesheet.parse_style)
        padding = Segment(" " * _PADDING, style.rich_style)
        segments = [padding, *(Segment(text, piece.rich_style) for text, piece in pieces)]
        return Strip(segments).adjust_cell_length(width, style.rich_style)

    # The cursor

    def watch_highlighted(self, before: int | None, now: int | None) -> None:
        """Redraw the rows the cursor left and reached, and post a message."""
        for number in (before, now):
            if number is not None:
                self.refresh_lines(number * self.lines_each, self.lines_each)
        self._follow_cursor()
        if now is not None:
            self.post_message(self.Highlighted())

    def _follow_cursor(self) -> None:
        if self.highlighted is None:
            return
        top, height = self.highlighted * self.lines_each, self.scrollable_content_region.height
        if top < self.scroll_offset.y + self.lines_above(self.highlighted):
            self.scroll_to(0, top - self.lines_above(self.highlighted), animate=False)
        elif top + self.lines_each > self.scroll_offset.y + height:
            self.scroll_to(0, top + self.lines_each - height, animate=False)

    def action_move(self, step: int) -> None:
        """Move the cursor; after the last row comes the first."""
        here = self.highlighted if self.highlighted is not None else -1 if step > 0 else 0
        # A list can have 100,000 rows, and most of them can be highlighted.
        for distance in range(1, self._count + 1):
            number = (here + distance * step) % self._count
            if self.can_highlight(number):
                self.highlighted = number
                return

    def action_move_page(self, step: int) -> None:
        """Move the cursor by one screen, at most to the end."""
        rows = max(1, self.scrollable_content_region.height // self.lines_each)
        self._go_near((self.highlighted or 0) + step * rows, -step)

    def action_move_half(self, step: int) -> None:
        """Move the cursor by half a screen, at most to the end."""
        rows = max(1, self.scrollable_content_region.height // self.lines_each // 2)
        self._go_near((self.highlighted or 0) + step * rows, -step)

    def action_move_to(self, number: int) -> None:
        """Move the cursor to a row; -1 is the last."""
        self._go_near(number % self._count if self._count else 0, -1 if number < 0 else 1)

    def _go_near(self, number: int, step: int) -> None:
        number = min(max(number, 0), self._count - 1)
        while 0 <= number < self._count and not self.can_highlight(number):
            number += step
        if 0 <= number < self._count:
            self.highlighted = number

    def action_select(self) -> None:
        """Select the row under the cursor."""
        if self.highlighted is not None:
            self.post_message(self.Selected())

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked row, or select it if the cursor is there already."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        number = (offset.y + self.scroll_offset.y) // self.lines_each
        if number == self.highlighted:
            self.action_select()
        elif number < self._count and self.can_highlight(number):
            self.highlighted = number
