"""Chooses the few lines of a result that answer a query best, so that nobody has to read its file for them."""

from collections.abc import Mapping
from typing import NamedTuple

from keyhole.core.search.passages import FoundStems

# A word that the row above the lines has already shown says less.
_SHOWN_WORTH = 0.3
# Of two windows with the same words, the one with more matching lines is chosen; a word counts more than that.
_LINE_WORTH = 0.02
# What follows a match explains more than what precedes it.
_BEFORE = 0.25


class Lines(NamedTuple):
    """A range of lines, both ends included."""

    first: int
    last: int


def best_lines(
    whole: Lines, found: FoundStems, worths: Mapping[str, float], shown: frozenset[str], most: int
) -> Lines:
    """Return up to `most` lines of a definition: all, or those with the words that count most; else its start.

    `worths` tells how much each stem counts, and `shown` are stems that the row contains already.
    """
    if whole.last - whole.first < most:
        return whole
    matches = [line for line in found if whole.first <= line <= whole.last]
    latest = whole.last - most + 1
    starts = {min(max(whole.first, line - before), latest) for line in matches for before in range(most)}
    if not starts:
        return Lines(whole.first, whole.first + most - 1)

    def worth(start: int) -> tuple[float, float]:
        inside = [line for line in matches if start <= line < start + most]
        stems = frozenset().union(*(found[line] for line in inside))
        words = sum(worths.get(one, 0.0) * (_SHOWN_WORTH if one in shown else 1) for one in stems)
        centre = sum(inside) / len(inside) - start
        return round(words + _LINE_WORTH * len(inside), 6), -abs(centre - most * _BEFORE)

    start = max(sorted(starts), key=worth)
    return Lines(start, start + most - 1)
