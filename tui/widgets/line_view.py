"""A viewer for text of any length: only the lines on the screen are coloured and drawn."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from keyhole.tui import keys
from keyhole.tui.document import WIDEST, Document
from keyhole.tui.sticky_header import enclosing, header_content
from keyhole.tui.themes import FOUND_STYLE, MATCH_STYLE, PART_STYLES, SELECTED_STYLE
from keyhole.tui.widgets.finding_view import FindingView

if TYPE_CHECKING:
    from keyhole.core.index.rows import SymbolEntry

_BAR = "▎"
_CONTINUES = "»"
_CONTINUED = "↪"
# With more drawn rows than this, the cache is cleared.
_MOST_DRAWN = 1_000


class LineView(FindingView):
    """Shows a document."""

    HELP_TITLE = "View"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "line-view--number",
        "line-view--current",
        "line-view--current-number",
        "line-view--bar",
        "line-view--header",
        "line-view--drawn",
    }
    BINDINGS: ClassVar[list[BindingType]] = keys.VIEW

    @dataclass
    class Clicked(Message):
        """A line of the document was clicked."""

        line: int

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        self._contents: dict[int, Content] = {}
        # The rows drawn so far, by line and part, scroll position to the side, and width.
        self._strips: dict[tuple[int, int, int, int], Strip] = {}

    def show(self, document: Document, *, line: int = 1) -> None:
        """Show a document, scrolled to a line."""
        if (document.text, document.lexer) != (self.document.text, self.document.lexer):
            self._contents.clear()
            # What was selected in another text means nothing here.
            if self.is_attached and self.text_selection:
                self.screen.clear_selection()
        self._contents |= document.coloured
        super().show(document, line=line)

    def forget_drawn(self) -> None:
        """Drop the rows drawn so far."""
        self._strips.clear()

    def notify_style_update(self) -> None:
        """Drop the rows drawn in other colours; lines name their colours, so they stay."""
        super().notify_style_update()
        self._strips.clear()

    # Drawing

    def render_line(self, y: int) -> Strip:
        """Render one line of the screen."""
        width = self.scrollable_content_region.width
        if y == 0 and (symbols := self.header):
            return self._header_strip(symbols, width)
        row = self.scroll_offset.y + y
        if row >= self._rows.total:
            return Strip.blank(width, self.rich_style)
        line, part = self._rows.locate(row)
        if (drawn := part - len(self.starts_in(line))) >= 0:
            return self._drawn_strip(line, drawn, width)
        key = line, part, self.scroll_offset.x, width
        if key not in self._strips:
            if len(self._strips) > _MOST_DRAWN:
                self._strips.clear()
            text = self._in_view(self._strip(line, part), width - self.gutter_width, line, part)
            self._strips[key] = Strip.join([Strip(self._gutter(line, part)), text])
        return self._strips[key]

    def _in_view(self, strip: Strip, width: int, line: int, part: int) -> Strip:
        """Return the part of a row between the edges, with a mark where it continues."""
        style, left = self._style(line).rich_style, self.scroll_offset.x
        text = strip.crop(left, left + width).extend_cell_length(width, style)
        start = self.starts_in(line)[part] + _characters_before(strip, left)
        # With these offsets Textual knows what is selected with the mouse.
        text = text.apply_offsets(start, line)
        if not self._row_width and strip.cell_length > left + width > 1:
            mark = Segment(_CONTINUES, self.get_visual_style("line-view--number").rich_style)
            return Strip.join([text.crop(0, width - 1), Strip([mark], 1)])
        return text

    def _drawn_strip(self, line: int, number: int, width: int) -> Strip:
        """Return a row that is not part of the text: what is selected from here starts at the end of the line."""
        from keyhole.tui.answer_layout import drawn_row_cells

        cells = drawn_row_cells(self.document.drawn_below(line)[number], self.gutter_width, width)
        style = self.get_visual_style("line-view--drawn").rich_style
        end = Style.from_meta({"offset": (len(self.shown_line(line).text), line)}).rich_style
        return Strip([Segment(cell, style + end) for cell in cells]).adjust_cell_length(width, self.rich_style)

    def _style(self, number: int) -> Style:
        is_current = number + 1 == self._current
        return self.get_visual_style("line-view--current") if is_current else self.visual_style

    def _strip(self, number: int, part: int) -> Strip:
        shown = self.shown_line(number)
        content = self._marked(number, shown.content(self._content(number)))
        starts = self.starts_in(number)
        end = starts[part + 1] if part + 1 < len(starts) else None
        row = content[starts[part] : end] if len(starts) > 1 else content[:WIDEST]
        pieces = row.render(self._style(number), end="", parse_style=self.app.stylesheet.parse_style)
        return Strip(Segment(text, style.rich_style) for text, style in pieces)

    def _marked(self, number: int, content: Content) -> Content:
        """Mark the matches of a search, those of the find line, and what is selected."""
        document, place_of = self.document, self.shown_line(number).place_of
        # While a text is being found, other marks would hide its matches.
        if document.marks and not self.is_finding:
            for start, end in document.marks.spans(document.lines[number], number + 1):
                content = content.stylize(MATCH_STYLE, place_of(start), place_of(end))
        for match, is_current in self.found_in(number):
            style = FOUND_STYLE if is_current else MATCH_STYLE
            content = content.stylize(style, place_of(match.start), place_of(match.end))
        span = self.text_selection.get_span(number) if self.text_selection else None
        if span:
            content = content.stylize(SELECTED_STYLE, max(0, span[0]), None if span[1] == -1 else span[1])
        return content

    def _gutter(self, number: int, part: int) -> list[Segment]:
        """Return the number of a line, then a bar beside marked lines; without numbers, a mark where a line continues.

        Each cell is a segment with the place where the row starts, so that text selected from here starts there.
        """
        offset = Style.from_meta({"offset": (self.starts_in(number)[part], number)}).rich_style
        is_current = number + 1 == self._current
        style = self.get_visual_style("line-view--current-number" if is_current else "line-view--number").rich_style
        style += offset
        cells = [Segment(cell, style) for cell in f"{self._beside(number, part):>{self.gutter_width - 1}}"]
        if number + 1 in self.document.marked:
            return [*cells, Segment(_BAR, self.get_visual_style("line-view--bar").rich_style + offset)]
        if part and not cells:
            return [Segment(_CONTINUED, style)]
        return [*cells, Segment(" ", self._style(number).rich_style + offset)]

    def _beside(self, number: int, part: int) -> str:
        """Return the number of a line, or what the result costs that starts there, or that a line continues."""
        if self.document.is_numbered:
            return "" if part else str(number + 1)
        if self.document.layout is None:
            return ""
        return _CONTINUED if part else self.document.layout.costs.get(number, "")

    def _content(self, number: int) -> Content:
        if not self.document.lexer:
            kind = self.document.layout.kinds[number] if self.document.layout else None
            return Content.styled(self.shown_line(number).visible, PART_STYLES.get(kind, "") if kind else "")
        if number not in self._contents:
            self._colour_around(number)
        return self._contents[number]

    def _colour_around(self, number: int) -> None:
        """Colour one screen of lines: from the line down, or up to it when the next line is coloured already."""
        from keyhole.tui.source_colours import coloured  # a slow import, not needed for plain text

        height = max(1, self.scrollable_content_region.height)
        start = max(0, number - height + 1) if number + 1 in self._contents else number
        end = min(start + height, len(self.document.lines))
        found = coloured(self.document.lines, start, end, self.document.lexer, self.document.definition_lines)
        self._contents |= enumerate(found, start)

    # The header

    @property
    def header(self) -> "list[SymbolEntry]":
        """The definitions around the lines in view whose own first lines are above; outermost first."""
        if not self.document.symbols or not self.scroll_offset.y:
            return []
        # The header covers the first row, so it is about the second.
        covered, first = self.locate(0).line + 1, self.locate(1).line + 1
        around = enclosing(self.document.symbols, first)
        return around if any(symbol.start_line < covered for symbol in around) else []

    @property
    def top_line(self) -> int:
        """The first line in view, from 1: the header covers one."""
        return self.locate(1 if self.header else 0).line + 1

    def _header_strip(self, symbols: "list[SymbolEntry]", width: int) -> Strip:
        style = self.get_visual_style("line-view--header")
        number = f"{symbols[-1].start_line:>{self.gutter_width - 1}} " if self.document.is_numbered else " "
        content = header_content(number, symbols).truncate(width, ellipsis=True, pad=True)
        pieces = content.render(style, end="", parse_style=self.app.stylesheet.parse_style)
        return Strip(Segment(text, piece.rich_style) for text, piece in pieces).adjust_cell_length(width)

    # The mouse

    def on_click(self, event: events.Click) -> None:
        """Post which line was clicked; the header goes to the definition that it shows."""
        offset = event.get_content_offset(self)
        if offset is None or self.text_selection:
            return
        if offset.y == 0 and (symbols := self.header):
            self.go_to_line(symbols[-1].start_line)
            return
        if self.scroll_offset.y + offset.y < self._rows.total:
            line = self.locate(offset.y).line + 1
            self.set_current(line)
            self.post_message(self.Clicked(line))

    def text_select_all(self) -> None:
        """Select nothing: two clicks must not select a whole file."""

    @property
    def select_container(self) -> Widget:
        """The view itself, so that three clicks select nothing either."""
        return self

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text as the document has it, without numbers, and in its own lines."""
        lines, (start, end) = self.document.lines, selection
        if not lines:
            return None
        first = start.y if start else 0
        last = min(end.y if end else len(lines) - 1, len(lines) - 1)
        chosen = lines[first : last + 1]
        if end and end.y == last:
            chosen[-1] = chosen[-1][: self._end_offset(last, end.x)]
        if start and chosen:
            chosen[0] = chosen[0][self.shown_line(first).offset_of(max(0, start.x)) :]
        return "\n".join(chosen), "\n"

    @property
    def selected_lines(self) -> tuple[int, int]:
        """The first and the last line of what is selected with the mouse, from 1; all lines if nothing is."""
        count = max(1, len(self.document.lines))
        start, end = self.text_selection or (None, None)
        return (start.y + 1 if start else 1), min(count, end.y + 1 if end else count)

    def _end_offset(self, number: int, place: int) -> int:
        return self.shown_line(number).offset_of(place - 1) + 1 if place > 0 else 0

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the selection."""
        self.forget_drawn()
        super().selection_updated(selection)


def _characters_before(strip: Strip, cell: int) -> int:
    """Return how many characters of a row are before a cell."""
    if not cell:
        return 0
    return len(strip.crop(0, cell).text)
