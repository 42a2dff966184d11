"""A line as a view shows it, and which character of the line is where: needed for marks and for selected text."""

from bisect import bisect_right
from functools import cached_property

from rich.cells import cell_len
from textual.content import Content, Span

from keyhole.core.untrusted_text import visible

_TAB = 4


class ShownLine:
    """A line with hidden characters as escapes, and tabs as spaces."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.visible = visible(line)
        self.text = self.visible.expandtabs(_TAB)

    @property
    def cells(self) -> int:
        """The width of the shown text."""
        return len(self.text) if self.text.isascii() else cell_len(self.text)

    def place_of(self, offset: int) -> int:
        """Return where a character of the line starts in the shown text; the end of the line is a place too."""
        starts = self._starts
        return starts[min(offset, len(self.line))] if starts else offset

    def offset_of(self, place: int) -> int:
        """Return the character of the line that is at a place of the shown text."""
        starts = self._starts
        return max(0, bisect_right(starts, place) - 1) if starts else min(place, len(self.line))

    def content(self, coloured: Content) -> Content:
        """Return the shown text in the colours of the visible one."""
        places = self._tab_places
        if not places:
            return coloured
        last = len(places) - 1
        spans = [Span(places[min(start, last)], places[min(end, last)], style) for start, end, style in coloured.spans]
        return Content(self.text, spans=spans)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each character of the line starts in the shown text, and its end; empty if nothing is replaced."""
        if self.text == self.line:
            return []
        starts, place = [], 0
        for character in self.line:
            starts.append(place)
            # An escape starts with a backslash, which is never hidden itself.
            is_escaped = self.visible[place] != character
            place += len(visible(character)) if is_escaped else 1
        starts.append(place)
        tabs = self._tab_places
        return [tabs[start] for start in starts] if tabs else starts

    @cached_property
    def _tab_places(self) -> list[int]:
        """Where each character of the visible line starts when tabs are spaces, and its end; empty without tabs."""
        if "\t" not in self.visible:
            return []
        places, place = [], 0
        for character in self.visible:
            places.append(place)
            place += _TAB - place % _TAB if character == "\t" else 1
        return [*places, place]
