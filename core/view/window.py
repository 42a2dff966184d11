"""Windows into a text: some lines of it from a place on, cut to a budget at the end of a line.

Only a line that no budget holds is cut inside, at a column; columns are characters and count from 1. The pieces
that follow one another through the places they name are the text.
"""

from collections.abc import Callable
from dataclasses import dataclass

from keyhole.core.view.budget import Budget, Filled, Size, fill, measure
from keyhole.core.view.limits import EFFECTIVE_CHARACTERS
from keyhole.core.view.text import count_lines

# Where counting line ends in halves stops, and looking for each begins.
_SMALL = 4_096


@dataclass(frozen=True, slots=True)
class Place:
    """Where something starts: a line, and a column in it."""

    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        column = f" start_column={self.column}" if self.column > 1 else ""
        return f"start_line={self.line}{column}"


@dataclass(frozen=True, slots=True)
class Window:
    """The lines that were asked for, as far as any budget could hold them."""

    start: Place
    lines: tuple[str, ...]
    # How many lines were asked for and are there, how many the text has, and the columns of the first line.
    asked: int
    total: int
    columns: int


@dataclass(frozen=True, slots=True)
class Piece:
    """What is shown of a window; `end` is the last line of it, `next` where the text goes on."""

    window: Window
    text: str
    returned: int
    end: int
    size: Size
    next: Place | None = None
    # Which limit on size cut it, if one did, and where in the line.
    reason: str | None = None
    end_column: int = 0


def open_window(text: str, start: Place, max_lines: int) -> Window:
    """Find the lines from a place on."""
    total = count_lines(text)
    position = _line_start(text, start.line) if start.line <= total else len(text)
    line_end = text.find("\n", position) + 1 or len(text)
    columns = line_end - position
    position = min(position + start.column - 1, line_end)
    asked = max(min(max_lines, total - start.line + 1), 0)
    lines: list[str] = []
    room = EFFECTIVE_CHARACTERS
    while position < len(text) and len(lines) < asked and room >= 0:
        end = text.find("\n", position) + 1 or len(text)
        # One character more than any budget admits, so that the rest need not be kept.
        lines.append(text[position : min(end, position + EFFECTIVE_CHARACTERS + 1)])
        room -= end - position
        position = end
    return Window(start, tuple(lines) if start.column <= columns else (), asked, total, columns)


def cut_window(window: Window, budget: Budget, written: Callable[[str], str]) -> Piece:
    """Take the lines that fit, or else the part of the first line that does; `written` shows text as it is sent."""
    lines, start = window.lines, window.start
    if not lines:
        return Piece(window, "", 0, start.line, Size(0, 0))

    def size_of(first: int, last: int) -> Size:
        return measure(written("".join(lines[first:last])))

    # That a line is too long is plain to see, but for a line end that may be written shorter.
    is_giant = len(lines[0]) > budget.chars + 1
    filled = Filled(0, Size(0, 0)) if is_giant else fill(budget, len(lines), size_of)
    if not filled.count:
        return _cut_line(window, budget, written)
    after = start.line + filled.count
    following = Place(after) if after <= window.total else None
    return Piece(window, "".join(lines[: filled.count]), filled.count, after - 1, filled.size, following, filled.reason)


def _cut_line(window: Window, budget: Budget, written: Callable[[str], str]) -> Piece:
    line, start = window.lines[0], window.start
    filled = fill(budget, len(line), lambda first, last: measure(written(line[first:last])))
    taken = filled.count
    # The two characters of a line end stay together.
    if line[taken - 1 : taken + 1] == "\r\n":
        taken -= 1
    end = start.column + taken
    following = Place(start.line, end)
    return Piece(window, line[:taken], min(taken, 1), start.line, filled.size, following, filled.reason, end - 1)


def _line_start(text: str, line: int) -> int:
    """Find where a line starts, with far fewer steps than there are lines."""
    before, low, high = line - 1, 0, len(text)
    while before and high - low > _SMALL:
        middle = (low + high) // 2
        count = text.count("\n", low, middle)
        if count >= before:
            high = middle
        else:
            low, before = middle, before - count
    for _ in range(before):
        low = text.find("\n", low) + 1
    return low
