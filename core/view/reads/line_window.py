"""Windows into a text: some of its lines from a position on, as many whole lines as fit a budget.

Only a line that is too long for the budget is clipped, at a column; columns are characters and count from 1. Following
`next` from piece to piece gives the whole text.
"""

from collections.abc import Callable
from dataclasses import dataclass

from keyhole.core.view.budget.limits import EFFECTIVE_CHARACTERS
from keyhole.core.view.budget.sizes import Budget, Filled, Size, fill, measure
from keyhole.core.view.reads.source_style import SourceStyle

# Line ends are counted in blocks of this many characters, and located one by one only in the block that matters.
_BLOCK = 16_384


@dataclass(frozen=True, slots=True)
class Position:
    """Where something starts: a line and a column."""

    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        column = f" start_column={self.column}" if self.column > 1 else ""
        return f"start_line={self.line}{column}"


@dataclass(frozen=True, slots=True)
class Window:
    """The lines that were asked for, up to what the largest budget could hold."""

    start: Position
    lines: tuple[str, ...]
    # Lines asked for that exist, lines of the whole text, and columns of the first line.
    asked: int
    total: int
    columns: int


@dataclass(frozen=True, slots=True)
class Piece:
    """The shown part of a window; `end` is its last line, `next` is where the text continues."""

    window: Window
    text: str
    returned: int
    end: int
    next: Position | None = None
    # The limit that ended it, if one did, and the last column if it ended inside a line.
    reason: str | None = None
    end_column: int = 0


def open_window(text: str, start: Position, max_lines: int) -> Window:
    """Return the lines from a position on."""
    position, total = _find_line(text, start.line)
    line_end = text.find("\n", position) + 1 or len(text)
    columns = line_end - position
    position = min(position + start.column - 1, line_end)
    asked = max(min(max_lines, total - start.line + 1), 0)
    lines = _lines_from(text, position, asked) if start.column <= columns else ()
    return Window(start, lines, asked, total, columns)


def _lines_from(text: str, position: int, asked: int) -> tuple[str, ...]:
    """Return lines until they are more than any budget holds; a longer line is taken up to that size."""
    most = EFFECTIVE_CHARACTERS + 1
    *whole, rest = text[position : position + most].split("\n", asked)
    lines = [f"{line}\n" for line in whole]
    if rest and len(lines) < asked:
        last = min(position + most, len(text)) - len(rest)
        line_end = text.find("\n", last) + 1 or len(text)
        lines.append(text[last : min(line_end, last + most)])
    return tuple(lines)


def cut_window(window: Window, budget: Budget, style: SourceStyle) -> Piece:
    """Return the lines that fit, or the part of the first line that does, if a view writes them in a style."""
    lines, start = window.lines, window.start
    if not lines:
        return Piece(window, "", 0, start.line)
    if budget.surely_admits(style.write("".join(lines), start.line)):
        return _whole_lines(window, Filled(len(lines), Size(0, 0)))

    def size_of(first: int, last: int) -> Size:
        written = measure(style.lines("".join(lines[first:last]), start.line + first))
        return written + _fence_growth(style, lambda count: "".join(lines[:count]), first, last)

    # A line this long cannot fit. One character is spared, since the line end may be written shorter.
    is_giant = len(lines[0]) > budget.chars + 1
    filled = Filled(0, Size(0, 0)) if is_giant else fill(budget, len(lines), size_of)
    return _whole_lines(window, filled) if filled.count else _cut_line(window, budget, style)


def _fence_growth(style: SourceStyle, start_of: Callable[[int], str], first: int, last: int) -> Size:
    """Return by how much the fence grows if a text is longer; `start_of` gives the text up to a number."""
    if not style.has_fence:
        return Size(0, 0)
    before, after = (measure(2 * style.fence(start_of(count))) for count in (first, last))
    return after - before


def _whole_lines(window: Window, filled: Filled) -> Piece:
    after = window.start.line + filled.count
    following = Position(after) if after <= window.total else None
    return Piece(window, "".join(window.lines[: filled.count]), filled.count, after - 1, following, filled.reason)


def _cut_line(window: Window, budget: Budget, style: SourceStyle) -> Piece:
    line, start = window.lines[0], window.start

    def size_of(first: int, last: int) -> Size:
        return measure(style.columns(line[first:last])) + _fence_growth(style, lambda count: line[:count], first, last)

    filled = fill(budget.less(measure(style.number(start.line))), len(line), size_of)
    taken = filled.count
    # Never split the two characters of a CRLF.
    if line[taken - 1 : taken + 1] == "\r\n":
        taken -= 1
    end = start.column + taken
    following = Position(start.line, end)
    return Piece(window, line[:taken], min(taken, 1), start.line, following, filled.reason, end - 1)


def _find_line(text: str, line: int) -> tuple[int, int]:
    """Return where a line starts, or the end of the text, and the number of all lines, in one pass."""
    ends, start = 0, 0 if line == 1 else len(text)
    # Finding the first line end is ten times as fast as counting, which matters for a line of megabytes.
    first = text.find("\n")
    for block in range(first, len(text), _BLOCK) if first >= 0 else ():
        found = text.count("\n", block, block + _BLOCK)
        if ends < line - 1 <= ends + found:
            start = _after_line_ends(text, block, line - 1 - ends)
        ends += found
    return start, ends + (bool(text) and not text.endswith("\n"))


def _after_line_ends(text: str, position: int, count: int) -> int:
    for _ in range(count):
        position = text.find("\n", position) + 1
    return position
