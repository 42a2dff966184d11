"""Ranges of source, looked up by where they start, and the lines of positions."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from tree_sitter import Node

_LINE_FEED = re.compile(b"\n")
_TEXT = re.compile(rb"[^ \t\r\f\v]")
# Callers only need the start of the rest of a line.
_REST_LIMIT = 200


class Span(NamedTuple):
    """A range of source, in bytes; a named tuple, because a file has thousands."""

    start: int
    end: int

    @classmethod
    def of(cls, node: Node) -> "Span":
        """Return the range of a node."""
        return cls(node.start_byte, node.end_byte)


class Spans:
    """Spans in order, without the duplicates that parsing broken source again produces."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = sorted(set(spans))
        self._starts = [span.start for span in self._spans]

    def __len__(self) -> int:
        return len(self._spans)

    def __iter__(self) -> Iterator[Span]:
        return iter(self._spans)

    def before(self, position: int) -> Iterator[Span]:
        """Return the spans that start before a position, the nearest first."""
        last = bisect_left(self._starts, position)
        return reversed(self._spans[max(0, last - 50) : last])

    def between(self, start: int, end: int) -> list[Span]:
        """Return the spans that are entirely inside a range."""
        first = bisect_left(self._starts, start)
        if first == len(self._starts) or self._starts[first] > end:
            return []
        return [span for span in self._spans[first : bisect_right(self._starts, end)] if span.end <= end]


class Source:
    """UTF-8 source with the positions of its lines; rows count from 0."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._first_texts: dict[int, int] = {}

    def text(self, start: int, end: int) -> str:
        """Decode a range."""
        return self.content[start:end].decode("utf-8", "replace")

    def node_text(self, node: Node) -> str:
        """Decode the text of a node."""
        return self.text(node.start_byte, node.end_byte)

    def row(self, position: int) -> int:
        """Return the row of a position."""
        return bisect_left(self._line_feeds, position)

    def rows(self, positions: Iterable[int]) -> list[int]:
        """Return the rows of many positions."""
        feeds = self._line_feeds
        return [bisect_left(feeds, position) for position in positions]

    def last_row(self, start: int, end: int) -> int:
        """Return the row of the last text in a range, since nodes may include white space after it."""
        while end > start and self.content[end - 1] in b" \t\r\n\f":
            end -= 1
        return self.row(max(start, end - 1))

    def line_start(self, position: int) -> int:
        """Return the start of the line of a position."""
        return self.row_start(self.row(position))

    def row_start(self, row: int) -> int:
        """Return the start of a row."""
        return self._row_starts[row]

    def starts_line(self, position: int) -> bool:
        """Return whether only white space comes before a position on its line."""
        row = self.row(position)
        if row not in self._first_texts:
            text = _TEXT.search(self.content, self.line_start(position))
            self._first_texts[row] = text.start() if text else len(self.content)
        return position <= self._first_texts[row]

    def rest_of_line(self, position: int) -> bytes:
        """Return the text after a position on its line."""
        row = self.row(position)
        end = self._line_feeds[row] if row < len(self._line_feeds) else len(self.content)
        return self.content[position : min(end, position + _REST_LIMIT)].strip()

    def row_starts(self, rows: Iterable[int]) -> list[int]:
        """Return the starts of many rows."""
        return list(map(self._row_starts.__getitem__, rows))

    @cached_property
    def _row_starts(self) -> list[int]:
        return [0, *(feed + 1 for feed in self._line_feeds)]

    @cached_property
    def _line_feeds(self) -> list[int]:
        return [match.start() for match in _LINE_FEED.finditer(self.content)]
