"""Where a query matches in a line, as the search understands it: words in any form, exact texts, or a pattern."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Protocol

from keyhole.core.index.words import parts_in, split_words, stem, unspaced_runs
from keyhole.core.search.query import is_identifier, letters_of, name_part, pattern_of, quoted_parts, words_of
from keyhole.core.search.regex import Pattern, asks_for_line_ends, compile_pattern
from keyhole.core.search.symbol_search import separate
from keyhole.core.types.choices import Mode
from keyhole.core.types.view_requests import Query

Span = tuple[int, int]

# Marks further right, or more of them, help nobody; a line can be megabytes long.
_LONGEST_LINE = 10_000
_MOST_ON_LINE = 500
# A pattern that spans lines is matched against the whole text once.
_LONGEST_TEXT = 2_000_000
_MOST_IN_TEXT = 20_000
# More words than this describe something, and together they are no name.
_MOST_WORDS_OF_NAME = 4


class Marks(Protocol):
    """What to mark in the lines of a text."""

    def spans(self, line: str, number: int = 0) -> list[Span]:
        """Return what to mark in a line, in order and without overlap; `number` counts from 1 if it is known."""

    def path_spans(self, path: str) -> list[Span]:
        """Return what to mark in a path."""

    def within(self, text: str) -> "Marks":
        """Return the marks for the lines of a text."""


def marks_of(query: Query, mode: Mode) -> Marks:
    """Return what a search marks; `mode` is the one that it chose."""
    if mode == Mode.REGEX:
        return PatternMarks(pattern_of(query.text))
    if mode == Mode.SYMBOL:
        parts = [part for part in separate(name_part(query.text)) if part]
        return WordMarks(names=tuple(parts), contained=tuple(parts[-1:]))
    texts = quoted_parts(query.text)
    plain = name_part(query.text) if texts else query.text
    if texts and plain == " ".join(texts):
        return WordMarks(texts=tuple(texts))
    runs = unspaced_runs(plain)
    # Of such a run the index has each character, but only all of them together are a word.
    words = tuple(word for word in words_of(plain) if not unspaced_runs(word))
    return WordMarks(words, texts=tuple(dict.fromkeys([*texts, *runs])), names=_names_in(plain))


def _names_in(text: str) -> tuple[str, ...]:
    """Return the whole query if it may be one name that is written as several words: `query set`."""
    count = len(text.split())
    is_name = is_identifier(text) or 1 < count <= _MOST_WORDS_OF_NAME
    return ("".join(text.split()),) if is_name else ()


@dataclass(frozen=True)
class WordMarks:
    """Marks words in any form, also as parts of names; names in any spelling; and texts as written."""

    words: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    # What a name may contain: a search by symbol also finds parts of names.
    contained: tuple[str, ...] = ()

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(map(stem, self.words))

    @cached_property
    def _letters(self) -> frozenset[str]:
        return frozenset(letters_of(re.sub(r"\W", "", name)) for name in self.names)

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        return [re.compile(re.escape(text)) for text in self.texts]

    def spans(self, line: str, number: int = 0) -> list[Span]:  # noqa: ARG002  # the same on every line
        """Return what to mark in a line."""
        line = line[:_LONGEST_LINE]
        found = [match.span() for text in self._patterns for match in text.finditer(line)]
        for start, end, parts in parts_in(line):
            found += self._in_word(line, start, end, parts)
        return joined(islice(found, _MOST_ON_LINE))

    def path_spans(self, path: str) -> list[Span]:
        """Return what to mark in a path, whose words count in a search."""
        return self.spans(path)

    def within(self, text: str) -> "WordMarks":  # noqa: ARG002  # the same for every text
        """Return the same marks."""
        return self

    def _in_word(self, line: str, start: int, end: int, parts: list[Span]) -> Iterator[Span]:
        letters = letters_of(line[start:end])
        if not letters:
            return
        if letters in self._letters or stem(_plain(letters)) in self._stems:
            # The underscores of a private name are no part of a word.
            word = line[start:end]
            yield start + len(word) - len(word.lstrip("_")), end - len(word) + len(word.rstrip("_"))
            return
        for text in map(str.lower, self.contained):
            if (place := line.lower().find(text, start, end)) >= 0:
                yield place, place + len(text)
        for left, right in parts:
            # One letter of a name is not what anybody looks for.
            if right - left > 1 and stem(_plain(line[left:right])) in self._stems:
                yield left, right


def _plain(word: str) -> str:
    """Return a word as the index has it."""
    return word.lower() if word.isascii() else split_words(word.casefold())


@dataclass(frozen=True)
class PatternMarks:
    """Marks what a regular expression matches."""

    pattern: str

    @cached_property
    def _compiled(self) -> Pattern:
        return compile_pattern(self.pattern)

    def spans(self, line: str, number: int = 0) -> list[Span]:  # noqa: ARG002  # the same on every line
        """Return what to mark in a line."""
        matches = islice(self._compiled.finditer(line[:_LONGEST_LINE]), _MOST_ON_LINE)
        return [match.span() for match in matches if match.end() > match.start()]

    def path_spans(self, path: str) -> list[Span]:  # noqa: ARG002  # patterns are matched against lines
        """Return nothing: a pattern does not match paths."""
        return []

    def within(self, text: str) -> Marks:
        """Return the marks for a text; only a pattern that may span lines needs the text."""
        return PlacedMarks(self._by_line(text[:_LONGEST_TEXT])) if asks_for_line_ends(self.pattern) else self

    def _by_line(self, text: str) -> dict[int, list[Span]]:
        found: dict[int, list[Span]] = {}
        line, line_start, counted = 1, 0, 0
        for match in islice(self._compiled.finditer(text), _MOST_IN_TEXT):
            start, end = match.span()
            if newlines := text.count("\n", counted, start):
                line, line_start = line + newlines, text.rfind("\n", counted, start) + 1
            counted, left = start, start - line_start
            for number, part in enumerate(text[start:end].split("\n"), line):
                if part:
                    found.setdefault(number, []).append((left, left + len(part)))
                left = 0
        return found


@dataclass(frozen=True, slots=True)
class PlacedMarks:
    """Marks at known places of one text."""

    by_line: dict[int, list[Span]]

    def spans(self, line: str, number: int = 0) -> list[Span]:  # noqa: ARG002  # only its number counts
        """Return what to mark in a line."""
        return self.by_line.get(number, [])

    def path_spans(self, path: str) -> list[Span]:  # noqa: ARG002  # no place of a text is in its path
        """Return nothing."""
        return []

    def within(self, text: str) -> "PlacedMarks":  # noqa: ARG002  # they are for one text already
        """Return the same marks."""
        return self


def joined(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, those that overlap or touch as one."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = result[-1][0], max(end, result[-1][1])
        else:
            result.append((start, end))
    return result
