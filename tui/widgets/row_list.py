"""A list to move a cursor through: rows of a fixed height, of which only those on the screen are drawn."""

from collections.abc import Hashable, Iterable, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from keyhole.tui.widgets.fixed_layout import FixedLayoutView

# A cell of air on each side.
_AIR = 1
# Beyond this, what was drawn long ago is forgotten.
_MOST_DRAWN = 500
_NOTICE = "notice"


class RowList(FixedLayoutView, can_focus=True):
    """Shows rows; who derives from it says what a row looks like."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"row-list--cursor"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", "read", tooltip="Go into the view"),
        Binding("j,down", "move(1)", "next", show=False, tooltip="Next one"),
        Binding("k,up", "move(-1)", "previous", show=False, tooltip="Previous one"),
        Binding("pagedown", "move_page(1)", "page down", show=False, tooltip="A screenful down"),
        Binding("pageup", "move_page(-1)", "page up", show=False, tooltip="A screenful up"),
        Binding("home", "move_to(0)", "first", show=False, tooltip="The first one"),
        Binding("end", "move_to(-1)", "last", show=False, tooltip="The last one"),
    ]
    lines_each: ClassVar[int] = 1

    highlighted: reactive[int | None] = reactive(None)

    class Highlighted(Message):
        """The cursor is on another row."""

    class Selected(Message):
        """A row was chosen."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        self._count = 0
        self._notice: Sequence[str] = ()
        self._strips: dict[tuple[Hashable, bool, int], list[Strip]] = {}

    def draw(self, number: int, width: int) -> list[Content]:
        """Write the lines of a row."""
        raise NotImplementedError

    def key_of(self, number: int) -> Hashable:
        """Tell rows apart; a list whose keys say all that is drawn keeps what it has drawn when rows move."""
        return number

    def can_highlight(self, number: int) -> bool:  # noqa: ARG002  # some lists have rows to pass over
        """Tell whether the cursor may be on a row."""
        return True

    def show_rows(self, count: int, highlighted: int | None, *, keeps_drawn: bool = False) -> None:
        """Draw so many rows anew, with the cursor on one of them."""
        self._count, self._notice = count, ()
        self._forget(keeps_drawn=keeps_drawn and len(self._strips) < _MOST_DRAWN)
        if highlighted == self.highlighted:
            self._follow_cursor()
        self.highlighted = highlighted

    def say(self, lines: Iterable[str]) -> None:
        """Show a text instead of rows, with markup."""
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

    def notify_style_update(self) -> None:
        """Forget what was drawn in other colours."""
        super().notify_style_update()
        self._strips.clear()

    def on_resize(self) -> None:
        """Draw in the new width."""
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
        # A scrollbar that appears takes a cell from each row.
        key = self.key_of(number), is_cursor, width
        if key not in self._strips:
            self._strips[key] = [self._strip(line, width, is_cursor=is_cursor) for line in self.draw(number, width - 2)]
        return self._strips[key]

    def _notice_strips(self) -> list[Strip]:
        width = max(2 + _AIR, self.scrollable_content_region.width)
        key = _NOTICE, False, width
        if key not in self._strips:
            wrapped = [part for line in self._notice for part in Content.from_markup(line).wrap(width - 2 * _AIR)]
            self._strips[key] = [self._strip(line, width, is_cursor=False) for line in wrapped]
        return self._strips[key]

    def _strip(self, line: Content, width: int, *, is_cursor: bool) -> Strip:
        style = self.get_visual_style("row-list--cursor") if is_cursor else self.visual_style
        pieces = line.render(style, end="", parse_style=self.app.stylesheet.parse_style)
        air = Segment(" " * _AIR, style.rich_style)
        segments = [air, *(Segment(text, piece.rich_style) for text, piece in pieces)]
        return Strip(segments).adjust_cell_length(width, style.rich_style)

    # The cursor

    def watch_highlighted(self, before: int | None, now: int | None) -> None:
        """Show the cursor where it is, and tell."""
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
        if top < self.scroll_offset.y:
            self.scroll_to(0, top, animate=False)
        elif top + self.lines_each > self.scroll_offset.y + height:
            self.scroll_to(0, top + self.lines_each - height, animate=False)

    def action_move(self, step: int) -> None:
        """Move the cursor, around the ends."""
        numbers = [number for number in range(self._count) if self.can_highlight(number)]
        if numbers:
            here = numbers.index(self.highlighted) if self.highlighted in numbers else -1 if step > 0 else 0
            self.highlighted = numbers[(here + step) % len(numbers)]

    def action_move_page(self, step: int) -> None:
        """Move the cursor by what fits on the screen, to the end at most."""
        rows = max(1, self.scrollable_content_region.height // self.lines_each)
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
        """Choose the row under the cursor."""
        if self.highlighted is not None:
            self.post_message(self.Selected())

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on a row, or choose the one it is on."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        number = (offset.y + self.scroll_offset.y) // self.lines_each
        if number == self.highlighted:
            self.action_select()
        elif number < self._count and self.can_highlight(number):
            self.highlighted = number
