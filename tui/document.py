"""A text with all that a view has to know to show it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from keyhole.tui.shown_line import ShownLine

if TYPE_CHECKING:
    from textual.content import Content

    from keyhole.core.index.rows import SymbolEntry
    from keyhole.core.search.match_marks import Marks
    from keyhole.tui.answer_layout import AnswerLayout, DrawnRow

# Nobody scrolls further to the right, and a wider canvas takes memory.
WIDEST = 10_000


@dataclass(frozen=True)
class Document:
    """A text and how to show it: its lexer, line numbers, lines with a bar beside them, and marked matches."""

    text: str = ""
    lexer: str = ""
    is_numbered: bool = False
    marked: range = range(0)
    # Whether long lines are wrapped, unless the reader decides otherwise.
    wraps: bool = False
    marks: "Marks | None" = None
    # The definitions, in order: the view shows which ones its first line is in.
    symbols: "tuple[SymbolEntry, ...]" = ()
    # Lines that are in colour already, by number from 0; the view colours the others.
    coloured: "Mapping[int, Content]" = field(default_factory=dict, compare=False)
    # What to draw on the text of an answer.
    layout: "AnswerLayout | None" = None

    def drawn_below(self, number: int) -> "tuple[DrawnRow, ...]":
        """Return the rows to draw below a line, which are not part of the text; its number counts from 0."""
        return self.layout.drawn.get(number, ()) if self.layout else ()

    def lines_of_result(self, number: int | None) -> range:
        """Return the lines of a result of an answer, from 1; none if it is not shown here."""
        if self.layout is None or number is None or number >= len(self.layout.results):
            return range(0)
        lines = self.layout.results[number]
        return range(lines.start + 1, lines.stop + 1)

    @cached_property
    def definition_lines(self) -> list[int]:
        """The lines where definitions start, from 0, in order."""
        return definition_lines(self.symbols)

    @cached_property
    def lines(self) -> list[str]:
        """The lines, without their ends."""
        lines = self.text.split("\n")
        return lines[:-1] if lines[-1] == "" else lines

    @cached_property
    def longest(self) -> int:
        """The approximate width of the longest line, in cells."""
        longest = max(self.lines, key=len, default="")
        # Every other line has fewer characters, but may have wider ones.
        return min(WIDEST, ShownLine(longest[:WIDEST]).cells)


def definition_lines(symbols: "tuple[SymbolEntry, ...]") -> list[int]:
    """Return the lines where definitions start, from 0, in order."""
    return sorted(symbol.start_line - 1 for symbol in symbols)


class ViewPlace(NamedTuple):
    """Where a view is: the first line with the first shown character, the cells to the left, and the current line."""

    line: int = 0
    character: int = 0
    left: int = 0
    current: int | None = None
