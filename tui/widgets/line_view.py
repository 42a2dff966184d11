"""A viewer for text of any length: only the lines on the screen are coloured and rendered."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.style import Style

from keyhole.core.untrusted_text import visible
from keyhole.tui.widgets.fixed_layout import FixedLayoutView

_TAB = 4
# Nobody scrolls further to the right, and a wider canvas takes memory.
_WIDEST = 10_000
# The part of the view's height that shows the lines before the target line.
_ABOVE = 0.2


@dataclass(frozen=True)
class Document:
    """A text and how to show it: its lexer, line numbers, and marked lines."""

    text: str = ""
    lexer: str = ""
    is_numbered: bool = False
    marked: range = range(0)

    @cached_property
    def lines(self) -> list[str]:
        """The lines, without their ends."""
        lines = self.text.split("\n")
        return lines[:-1] if lines[-1] == "" else lines

    @cached_property
    def longest(self) -> int:
        """The approximate width of the longest line, in cells."""
        longest = max(self.lines, key=len, default="")
        return min(_WIDEST, len(longest.expandtabs(_TAB)) + longest.count("\x1b") * 4)


class LineView(FixedLayoutView, can_focus=True):
    """Shows a document."""

    HELP_TITLE = "View"
    COMPONENT_CLASSES: ClassVar[set[str]] = {"line-view--number", "line-view--marked", "line-view--marked-number"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "Scroll down", show=False, tooltip="Scroll down one line"),
        Binding("k", "scroll_up", "Scroll up", show=False, tooltip="Scroll up one line"),
        Binding("g", "scroll_home", "Go top", show=False, tooltip="Go to the first line"),
        Binding("G", "scroll_end", "Go end", show=False, tooltip="Go to the last line"),
    ]

    @dataclass
    class Clicked(Message):
        """A line of the document was clicked."""

        line: int

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        self.document = Document()
        self._contents: dict[int, Content] = {}
        self._strips: dict[int, Strip] = {}
        # The line that was gone to last, and the scroll position that this gave.
        self._gone_to = (1, 0)

    def show(self, document: Document, *, line: int = 1) -> None:
        """Show a document, scrolled to a line."""
        if (document.text, document.lexer) != (self.document.text, self.document.lexer):
            self._contents.clear()
        self.document = document
        self._strips.clear()
        self.set_content_size(self._gutter + document.longest + 1, len(document.lines))
        self.go_to(line)
        self.refresh()

    def go_to(self, line: int) -> None:
        """Scroll so that a line is in the upper part of the view."""
        height = self.scrollable_content_region.height
        above = int(height * _ABOVE) if line > 1 else 0
        self.scroll_to(0, max(0, line - 1 - above), animate=False, immediate=True, force=True)
        self._gone_to = line, self.scroll_offset.y

    def on_resize(self) -> None:
        """Keep the line in the upper part of the view, unless the user has scrolled; a hidden view had no height."""
        line, top = self._gone_to
        if self.scroll_offset.y == top:
            self.go_to(line)

    def mark(self, marked: range) -> None:
        """Mark other lines, without scrolling."""
        self.document = replace(self.document, marked=marked)
        self._strips.clear()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Post which line was clicked."""
        offset = event.get_content_offset(self)
        line = offset.y + self.scroll_offset.y + 1 if offset else 0
        if 0 < line <= len(self.document.lines):
            self.post_message(self.Clicked(line))

    def notify_style_update(self) -> None:
        """Drop the lines rendered in other colours."""
        super().notify_style_update()
        self._contents.clear()
        self._strips.clear()

    def render_line(self, y: int) -> Strip:
        """Render one line of the screen."""
        left, top = self.scroll_offset
        width = self.scrollable_content_region.width
        number = top + y
        if number >= len(self.document.lines):
            return Strip.blank(width, self.rich_style)
        if number not in self._strips:
            self._strips[number] = self._strip(number)
        strip = self._strips[number]
        gutter = strip.crop(0, self._gutter)
        text = strip.crop(self._gutter + left, left + width)
        return Strip.join([gutter, text]).extend_cell_length(width, self._style(number).rich_style)

    @property
    def _gutter(self) -> int:
        return len(str(len(self.document.lines))) + 2 if self.document.is_numbered else 1

    def _style(self, number: int) -> Style:
        return self.get_visual_style("line-view--marked") if self._is_marked(number) else self.visual_style

    def _is_marked(self, number: int) -> bool:
        return number + 1 in self.document.marked

    def _strip(self, number: int) -> Strip:
        content = self._content(number).expand_tabs(_TAB)
        pieces = content.render(self._style(number), end="", parse_style=self.app.stylesheet.parse_style)
        return Strip([self._number(number), *(Segment(text, style.rich_style) for text, style in pieces)])

    def _number(self, number: int) -> Segment:
        if not self.document.is_numbered:
            return Segment(" ", self.rich_style)
        name = "line-view--marked-number" if self._is_marked(number) else "line-view--number"
        style = self.get_visual_style(name).rich_style
        return Segment(f"{number + 1:>{self._gutter - 1}} ", style)

    def _content(self, number: int) -> Content:
        line = self.document.lines[number]
        if not self.document.lexer:
            return Content(visible(line))
        if number not in self._contents:
            self._colour_around(number)
        return self._contents[number]

    def _colour_around(self, number: int) -> None:
        """Colour one screen of lines: from the line down, or up to it when the next line is coloured already."""
        from keyhole.tui.source_colours import coloured  # a slow import, not needed for plain text

        height = max(1, self.scrollable_content_region.height)
        start = max(0, number - height + 1) if number + 1 in self._contents else number
        end = min(start + height, len(self.document.lines))
        self._contents |= enumerate(coloured(self.document.lines, start, end, self.document.lexer), start)
