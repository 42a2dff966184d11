"""Stretches of source, found by where they start; and the lines that positions lie on."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from tree_sitter import Node

_LINE_FEED = re.compile(b"\n")
_TEXT = re.compile(rb"[^ \t\r\f\v]")
# Only the start of what follows is ever of interest.
_REST_LIMIT = 200


class Span(NamedTuple):
    """A stretch of source, in bytes; a tuple, since a file has thousands."""

    start: int
    end: int

    @classmethod
    def of(cls, node: Node) -> "Span":
        """Return where a node lies."""
        return cls(node.start_byte, node.end_byte)


class Spans:
    """Spans in order, each once: where a broken stretch was parsed again, some were seen twice."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = sorted(set(spans))
        self._starts = [span.start for span in self._spans]

    def __len__(self) -> int:
        return len(self._spans)

    def __iter__(self) -> Iterator[Span]:
        return iter(self._spans)

    def before(self, position: int) -> Iterator[Span]:
        """Yield the spans that start before a position, the nearest first."""
        last = bisect_left(self._starts, position)
        return reversed(self._spans[max(0, last - 50) : last])

    def between(self, start: int, end: int) -> list[Span]:
        """Return the spans that lie in this stretch whole."""
        first = bisect_left(self._starts, start)
        if first == len(self._starts) or self._starts[first] > end:
            return []
        return [span for span in self._spans[first : bisect_right(self._starts, end)] if span.end <= end]


class Source:
    """UTF-8 source that knows its lines; rows count from 0."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._first_texts: dict[int, int] = {}

    def text(self, start: int, end: int) -> str:
        """Decode a stretch."""
        return self.content[start:end].decode("utf-8", "replace")

    def node_text(self, node: Node) -> str:
        """Decode what a node covers."""
        return self.text(node.start_byte, node.end_byte)

    def row(self, position: int) -> int:
        """Return the row a position lies on."""
        return bisect_left(self._line_feeds, position)

    def last_row(self, start: int, end: int) -> int:
        """Return the row of the last text in a stretch: nodes may take in space that follows."""
        while end > start and self.content[end - 1] in b" \t\r\n\f":
            end -= 1
        return self.row(max(start, end - 1))

    def line_start(self, position: int) -> int:
        """Return where the line of a position starts."""
        row = self.row(position)
        return self._line_feeds[row - 1] + 1 if row else 0

    def starts_line(self, position: int) -> bool:
        """Tell whether only white space comes before a position on its line."""
        row = self.row(position)
        if row not in self._first_texts:
            text = _TEXT.search(self.content, self.line_start(position))
            self._first_texts[row] = text.start() if text else len(self.content)
        return position <= self._first_texts[row]

    def rest_of_line(self, position: int) -> bytes:
        """Return what follows a position on its line."""
        row = self.row(position)
        end = self._line_feeds[row] if row < len(self._line_feeds) else len(self.content)
        return self.content[position : min(end, position + _REST_LIMIT)].strip()

    @cached_property
    def _line_feeds(self) -> list[int]:
        return [match.start() for match in _LINE_FEED.finditer(self.content)]
