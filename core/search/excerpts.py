"""Chooses the few lines of a result that match best, so that nobody has to read its file for them."""

from collections.abc import Mapping
from typing import NamedTuple

from keyhole.core.search.passages import FileLines, FoundStems
from keyhole.core.types.search_results import Stretch

# A definition with more lines is not shown whole.
_MOST_WHOLE = 10
_MOST_LINES = 5
# Long lines are data, not code to read.
_MOST_CHARACTERS = 1_000
# A word that the row above the lines has already shown says less.
_SHOWN_WORTH = 0.3
# Of two windows with the same words, the one with more matching lines is chosen.
_LINE_WORTH = 0.02
# Where in the window the matches are: what follows them explains more than what precedes them.
_SHARE_BEFORE = 0.25


class Lines(NamedTuple):
    """A range of lines, both ends included."""

    first: int
    last: int

    def within(self, other: "Lines") -> "Lines":
        """Return the lines that are also in another range."""
        return Lines(max(self.first, other.first), min(self.last, other.last))

    @property
    def length(self) -> int:
        """How many lines there are."""
        return self.last - self.first + 1


class MatchedLines(NamedTuple):
    """The stems on each line, how much each counts, and those that the row of the result contains already."""

    found: FoundStems
    worths: Mapping[str, float]
    shown: frozenset[str]


def excerpt(file: FileLines, definition: Lines, chunk: Lines, matches: MatchedLines) -> Stretch | None:
    """Return a short definition, or the lines of it in the chunk that match best; None if they are too long."""
    ways = [definition] if definition.length <= _MOST_WHOLE else []
    inside = definition.within(chunk)
    if inside.length > 0:
        ways.append(_best_lines(inside, matches))
    texts = (file.stretch(*lines) for lines in ways)
    return next((stretch for stretch in texts if len(stretch.text) <= _MOST_CHARACTERS), None)


def _best_lines(lines: Lines, matches: MatchedLines) -> Lines:
    """Return the lines with the words that count most; the first ones if none has a word."""
    latest = lines.last - _MOST_LINES + 1
    if latest <= lines.first:
        return lines
    found = [line for line in matches.found if lines.first <= line <= lines.last]
    starts = {min(max(lines.first, line - before), latest) for line in found for before in range(_MOST_LINES)}

    def worth(start: int) -> tuple[float, float]:
        inside = [line for line in found if start <= line < start + _MOST_LINES]
        stems = frozenset[str]().union(*(matches.found[line] for line in inside))
        words = sum(matches.worths.get(stem, 0.0) * (_SHOWN_WORTH if stem in matches.shown else 1) for stem in stems)
        centre = sum(inside) / len(inside) - start
        return round(words + _LINE_WORTH * len(inside), 6), -abs(centre - _MOST_LINES * _SHARE_BEFORE)

    start = max(sorted(starts), key=worth, default=lines.first)
    return Lines(start, start + _MOST_LINES - 1)
