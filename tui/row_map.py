"""Which rows of a view each line takes: one each, or several if long lines are wrapped."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol

from rich.cells import cell_len, get_character_cell_size

# Heights of lines are measured in blocks, and only of blocks near the screen.
_BLOCK = 64
# A longer line is data: breaking it between words would take time and help nobody.
_LONGEST_BY_WORDS = 10_000


class RowPlace(NamedTuple):
    """A row of a line; both count from 0."""

    line: int
    part: int = 0


class Rows(Protocol):
    """The rows of a text."""

    @property
    def total(self) -> int:
        """The number of rows."""

    def locate(self, row: int) -> RowPlace:
        """Return the line that is on a row."""

    def row_of(self, place: RowPlace) -> int:
        """Return the row of a place."""

    def settle(self, top: int, height: int) -> int:
        """Measure what is near the screen; return the row where its first line is then."""


class PlainRows:
    """One row for each line."""

    def __init__(self, count: int) -> None:
        self.total = count

    def locate(self, row: int) -> RowPlace:
        """Return the line that is on a row."""
        return RowPlace(row)

    def row_of(self, place: RowPlace) -> int:
        """Return the row of a line."""
        return place.line

    def settle(self, top: int, height: int) -> int:  # noqa: ARG002  # nothing has to be measured
        """Return the same row."""
        return top


class WrappedRows:
    """Several rows for a long line. Heights are estimated until they are measured, so any text is shown at once."""

    def __init__(self, lines: Sequence[str], height_of: Callable[[int], int], width: int) -> None:
        self._lines = lines
        self._height_of = height_of
        self._width = width
        # For each measured block the row where each line starts, counted from the block's start, and its end.
        self._measured: dict[int, list[int]] = {}
        count = len(lines)
        estimates = [
            sum(len(line) // width + 1 for line in lines[start : start + _BLOCK]) for start in range(0, count, _BLOCK)
        ]
        self._block_starts = [0, *accumulate(estimates)]

    @property
    def total(self) -> int:
        """The number of rows, partly estimated."""
        return self._block_starts[-1]

    def locate(self, row: int) -> RowPlace:
        """Return the line that is on a row; in a block that is not measured, by estimate."""
        if not self._lines:
            return RowPlace(0)
        block = min(bisect_right(self._block_starts, max(0, row)) - 1, len(self._block_starts) - 2)
        starts = self._measured.get(block) or self._estimated(block)
        inside = row - self._block_starts[block]
        number = min(bisect_right(starts, inside) - 1, len(starts) - 2)
        return RowPlace(block * _BLOCK + number, inside - starts[number])

    def row_of(self, place: RowPlace) -> int:
        """Return the row of a place, which measures its block."""
        if not self._lines:
            return 0
        block, number = divmod(min(place.line, len(self._lines) - 1), _BLOCK)
        self._measure(block)
        starts = self._measured[block]
        part = min(place.part, starts[number + 1] - starts[number] - 1)
        return self._block_starts[block] + starts[number] + part

    def settle(self, top: int, height: int) -> int:
        """Measure one screen before and two after the first line; return the row where that line is then."""
        if not self._lines:
            return 0
        place = self.locate(top)
        top = self.row_of(place)
        block = place.line // _BLOCK
        self._measure_until(range(block - 1, -1, -1), top - self._block_starts[block], height)
        top = self.row_of(place)
        self._measure_until(
            range(block + 1, len(self._block_starts) - 1), self._block_starts[block + 1] - top, 2 * height
        )
        return top

    def _measure_until(self, blocks: range, rows: int, wanted: int) -> None:
        for block in blocks:
            if rows >= wanted:
                return
            self._measure(block)
            rows += self._block_starts[block + 1] - self._block_starts[block]

    def _measure(self, block: int) -> None:
        if block in self._measured:
            return
        numbers = range(block * _BLOCK, min((block + 1) * _BLOCK, len(self._lines)))
        starts = self._measured[block] = [0, *accumulate(map(self._height_of, numbers))]
        old = self._block_starts
        if more := starts[-1] - (old[block + 1] - old[block]):
            self._block_starts = old[: block + 1] + [start + more for start in old[block + 1 :]]

    def _estimated(self, block: int) -> list[int]:
        lines = self._lines[block * _BLOCK : (block + 1) * _BLOCK]
        return [0, *accumulate(len(line) // self._width + 1 for line in lines)]


def row_starts(text: str, width: int) -> Sequence[int]:
    """Return where each row of a wrapped text starts: after a space if there is one, so that words stay whole."""
    if len(text) <= width and text.isascii():
        return (0,)
    if len(text) > _LONGEST_BY_WORDS:
        # Every character fits in two cells.
        return range(0, len(text), width if text.isascii() else max(1, width // 2))
    starts, start, end = [0], 0, _end_of_row(text, 0, width)
    while end < len(text):
        # The space after the last word may be beyond the edge, where nobody misses it.
        space = text.rfind(" ", start, end + 1)
        start = space + 1 if space > start and not text[start:space].isspace() else end
        if start == len(text):
            break
        starts.append(start)
        end = _end_of_row(text, start, width)
    return starts


def _end_of_row(text: str, start: int, width: int) -> int:
    """Return how far a text fits into a row; at least one character does."""
    end = min(start + width, len(text))
    row = text[start:end]
    if row.isascii():
        return end
    cells, end = 0, start
    while end < len(text) and (cells := cells + get_character_cell_size(text[end])) <= width:
        end += 1
    # A selector after a symbol can make both wider than they are alone.
    while end > start + 1 and cell_len(text[start:end]) > width:
        end -= 1
    return max(end, start + 1)
