"""What to mark of one result or reference: the matches, and the name of its definition."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from keyhole.core.search.match_marks import Marks, Span, joined
from keyhole.core.search.query import quoted_parts

if TYPE_CHECKING:
    from keyhole.core.types.search_results import Hit
    from keyhole.core.types.view_requests import SearchRequest


@dataclass(frozen=True)
class NameMarks:
    """Marks a name where it is a whole word: on all lines, or on one in addition to other marks."""

    name: str
    line: int = 0
    others: Marks | None = None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w){re.escape(self.name)}(?!\w)")

    def spans(self, line: str, number: int = 0) -> list[Span]:
        """Return what to mark in a line."""
        found = self.others.spans(line, number) if self.others else []
        if self.name and self.line in (0, number):
            # A definition has its name once; further places on its line are other matters.
            places = [match.span() for match in self._pattern.finditer(line)]
            found = joined([*found, *(places[:1] if self.line else places)])
        return found

    def path_spans(self, path: str) -> list[Span]:
        """Return what to mark in a path."""
        return self.others.path_spans(path) if self.others else []

    def within(self, text: str) -> "NameMarks":
        """Return the marks for the lines of a text."""
        return NameMarks(self.name, self.line, self.others.within(text)) if self.others else self


def marks_of_hit(hit: "Hit", marks: Marks) -> Marks:
    """Return what to mark in the file of a result."""
    return marks if hit.is_line or not hit.name else NameMarks(hit.name, hit.line, marks)


def opening_line(hit: "Hit", request: "SearchRequest", lines: Sequence[str]) -> int:
    """Return the line to open a result at: the first one with a text in quotes, or else that of the result."""
    texts = quoted_parts(request.query)
    if hit.is_line or not texts:
        return hit.line
    numbers = range(hit.start_line, min(hit.end_line, len(lines)) + 1)
    return next((number for number in numbers if any(text in lines[number - 1] for text in texts)), hit.line)
