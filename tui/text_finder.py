"""Finding a text in the lines of a view."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# Nobody steps through more matches.
MOST_MATCHES = 100_000


class Match(NamedTuple):
    """A match on a line; the line counts from 0."""

    line: int
    start: int
    end: int


def needle_of(text: str) -> re.Pattern[str]:
    """Return the pattern for a text as written; without capital letters, it matches both cases."""
    return re.compile(re.escape(text), 0 if any(map(str.isupper, text)) else re.IGNORECASE)


def matches_in(lines: Sequence[str], start: int, end: int, needle: re.Pattern[str]) -> Iterator[Match]:
    """Yield the matches in some of the lines."""
    for number in range(start, min(end, len(lines))):
        for match in needle.finditer(lines[number]):
            yield Match(number, match.start(), match.end())


class Finding:
    """The matches of a text in a view, and the one that was gone to last."""

    def __init__(self, text: str, origin: int) -> None:
        self.text = text
        # The line where the search started, from 0: the first match at or after it comes first.
        self.origin = origin
        self.matches: list[Match] = []
        self.by_line: dict[int, list[Match]] = {}
        self.number: int | None = None
        self.is_complete = False

    def add(self, matches: list[Match]) -> None:
        """Add the matches in further lines."""
        self.matches += matches
        for match in matches:
            self.by_line.setdefault(match.line, []).append(match)

    @property
    def current(self) -> Match | None:
        """The match that was gone to last."""
        return self.matches[self.number] if self.number is not None else None

    def first(self) -> Match | None:
        """Go to the first match at or after the origin, or else to the first of all."""
        after = bisect_left(self.matches, (self.origin, 0, 0))
        self.number = after % len(self.matches) if self.matches else None
        return self.current

    def step(self, step: int) -> Match | None:
        """Go to the next or the previous match; after the last comes the first."""
        if self.number is None or not self.matches:
            return self.first()
        self.number = (self.number + step) % len(self.matches)
        return self.current

    @property
    def is_in_vain(self) -> bool:
        """Whether there is no match at all."""
        return self.is_complete and bool(self.text) and not self.matches

    @property
    def count_text(self) -> str:
        """Which match this is, of how many."""
        if not self.text:
            return ""
        if not self.is_complete:
            return "Searching…"
        if not self.matches:
            return "No matches"
        more = "+" if len(self.matches) >= MOST_MATCHES else ""
        return f"{(self.number or 0) + 1:,} of {len(self.matches):,}{more}"
