"""Cuts the source of hits from the files as they are now, never from a copy."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from io import StringIO

from keyhole.core.index.words import split_words, stem, written_words
from keyhole.core.types.search_results import Owner, Passage, Stretch

CONTEXT_LINES = 10
# Very long lines are not useful as context.
_MAX_CONTEXT = 2_000
_MAX_MATCH_LINES = 8
# A definition with more lines is not shown whole.
_LONG_DEFINITION = 40
# Of a long definition, so many lines are shown around each match, and gaps of so few lines too.
_AROUND_MATCH = 3
_SMALL_GAP = 2
_MAX_SIGNATURE_LINES = 20
# If what would be shown is longer, less of it is.
_MAX_CONTENT = 6_000
_DOCSTRINGS = ('"""', "'''")
_MOST_CACHED = 50_000
_LONGEST_CACHED = 64

# The stems of the query that each line contains, by line number.
FoundStems = Mapping[int, frozenset[str]]
_NO_STEMS = frozenset[str]()


def source_around(line: int, owner: Owner | None) -> tuple[int, int]:
    """Return the lines that show where a matching line is: the definition around it, or the near part of a long one."""
    first, last = line - CONTEXT_LINES, line + CONTEXT_LINES
    if owner is None:
        return first, last
    start, end = owner.start_line, owner.end_line
    return (start, end) if end - start < _LONG_DEFINITION else (max(first, start), min(last, end))


@dataclass(frozen=True, slots=True)
class ChunkLines:
    """A chunk in its file: the offsets of its text, and its lines."""

    start: int
    end: int
    start_line: int
    end_line: int


class FileLines:
    """The text of a file, line by line."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _lines(self) -> list[str]:
        # Not `splitlines`, which also splits at other characters.
        return self.text.split("\n")

    def _joined(self, start: int, stop: int) -> str:
        """Return some lines with their ends, counted from 0."""
        lines = self._lines[start:stop]
        return "\n".join(lines) + ("\n" if lines and stop < len(self._lines) else "")

    def _with_ends(self, start: int, stop: int) -> list[str]:
        return list(StringIO(self._joined(start, stop), newline="\n"))

    def line(self, number: int) -> str:
        """Return a line without its end; empty if there is no such line."""
        return self._lines[number - 1].rstrip("\r\n") if 0 < number <= len(self._lines) else ""

    def stretch(self, first: int, last: int) -> Stretch:
        """Return some lines."""
        first = max(1, first)
        return Stretch(first, self._joined(first - 1, last))

    def before(self, line: int) -> str:
        """Return the lines of context before a line."""
        lines = self._with_ends(max(0, line - 1 - CONTEXT_LINES), line - 1)
        return "".join(reversed(list(_not_too_long(reversed(lines)))))

    def after(self, line: int) -> str:
        """Return the lines of context after a line."""
        return "".join(_not_too_long(iter(self._with_ends(line, line + CONTEXT_LINES))))

    def around(self, line: int, owner: Owner | None) -> Passage:
        """Return a matching line with the definition around it, or with a part of that if it is long."""
        first, last = source_around(line, owner)
        first, last = min(first, line - CONTEXT_LINES), max(last, line + CONTEXT_LINES)
        before = [_clipped_context(text) for text in self._with_ends(max(0, first - 1), line - 1)]
        after = [_clipped_context(text) for text in self._with_ends(line, last)]
        match = self._lines[line - 1]
        return Passage(
            match, "".join([f"{text}\n" for text in before]), "\n".join(after), (line,), (Stretch(line, match),)
        )

    def passage(
        self, chunk: ChunkLines, named_lines: tuple[int, int], name_line: int, matches: Sequence[int], best: int
    ) -> Passage:
        """Return what a hit names, with the lines around it; `matches` are the lines of its chunk that match best."""
        content = self._content(chunk, named_lines, name_line, matches, best)
        return Passage(
            text=self.text[chunk.start : chunk.end],
            before=self.before(content[0].start_line),
            after=self.after(content[-1].end_line),
            match_lines=tuple(matches),
            content=content,
        )

    def _content(
        self, chunk: ChunkLines, named_lines: tuple[int, int], name_line: int, matches: Sequence[int], best: int
    ) -> tuple[Stretch, ...]:
        """Return what a hit names: all of it, its start and what is around the matches, or its part in the chunk."""
        whole_chunk = (Stretch(chunk.start_line, self.text[chunk.start : chunk.end]),)
        if named_lines == (0, 0):
            return whole_chunk
        first, last = named_lines
        # The best line may be in the comment above a definition.
        first = min(first, best) if best and first - best < _LONG_DEFINITION else first
        for way in self._ways(first, last, name_line, matches, chunk):
            content = tuple(self.stretch(*lines) for lines in way)
            if sum(len(stretch.text) for stretch in content) <= _MAX_CONTENT:
                return content
        return whole_chunk

    def _ways(
        self, first: int, last: int, name_line: int, matches: Sequence[int], chunk: ChunkLines
    ) -> Iterator[list[tuple[int, int]]]:
        """Yield the stretches that can show a definition, most lines first."""
        if last - first < _LONG_DEFINITION:
            yield [(first, last)]
        yield self._lines_around(first, last, name_line, matches, chunk)
        yield [(max(first, chunk.start_line), min(last, chunk.end_line))]

    def _lines_around(
        self, first: int, last: int, name_line: int, best_matches: Sequence[int], chunk: ChunkLines
    ) -> list[tuple[int, int]]:
        """Return the stretches that show a long definition: its signature, and what is around the matches."""
        numbers = set(range(name_line, self._end_of_signature(name_line, last) + 1))
        matches = [line for line in best_matches if first <= line <= last]
        for line in matches:
            numbers |= set(range(max(first, line - _AROUND_MATCH), min(last, line + _AROUND_MATCH) + 1))
        if not matches:
            numbers |= set(range(max(first, chunk.start_line), min(last, chunk.end_line) + 1))
        return list(_runs(sorted(numbers)))

    def start_of_body(self, name_line: int, last: int) -> int:
        """Return the first line of a definition after its signature and the docstring below it."""
        start = min(self._end_of_signature(name_line, last) + 1, last)
        quotes = next((mark for mark in _DOCSTRINGS if self.line(start).strip().lstrip("rR").startswith(mark)), None)
        if quotes is None:
            return start
        text = self.line(start).strip()
        if text.count(quotes) > 1:
            return min(start + 1, last)
        ends = (number + 1 for number in range(start + 1, last + 1) if quotes in self.line(number))
        return min(next(ends, start), last)

    def _end_of_signature(self, line: int, last: int) -> int:
        """Return the line where all brackets are closed that a signature opens."""
        opened = 0
        for number in range(line, min(last, line + _MAX_SIGNATURE_LINES) + 1):
            text = self.line(number)
            opened += sum(map(text.count, "([")) - sum(map(text.count, ")]"))
            if opened <= 0:
                return number
        return line


def _runs(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of each run of numbers, across gaps that are not worth a mark."""
    start = end = numbers[0]
    for number in numbers[1:]:
        if number - end > _SMALL_GAP + 1:
            yield start, end
            start = number
        end = number
    yield start, end


def _clipped_context(line: str) -> str:
    """Return a line without its end, clipped if it is very long: then it is not useful as context."""
    line = line.rstrip("\n")
    return line if len(line) <= _MAX_CONTEXT else f"{line[:_MAX_CONTEXT]}…"


def _not_too_long(lines: Iterator[str]) -> Iterator[str]:
    length = 0
    for line in lines:
        length += len(line)
        if length > _MAX_CONTEXT:
            return
        yield line


class QueryStems:
    """Finds in texts what a query asks for: the stems of its words, and its quoted parts as written."""

    def __init__(self, stems: frozenset[str], quoted: Sequence[str]) -> None:
        self._stems = stems
        self._quoted = quoted
        self._of_word = _StemsOfWords(stems)

    def in_text(self, text: str) -> frozenset[str]:
        """Return the stems that a text contains."""
        return _NO_STEMS.union(*filter(None, map(self._of_word.__getitem__, written_words(text))))

    def in_lines(self, text: str, first: int) -> dict[int, frozenset[str]]:
        """Return what each line of a text contains, in order; `first` is the number of its first line.

        A quoted text has its quotes in the answer.
        """
        found = dict[int, frozenset[str]]()
        lines = text.split("\n")
        for number in sorted(self._lines_to_split(text, lines)):
            if matched := self.in_text(lines[number]):
                found[first + number] = matched
        if not self._quoted:
            return found
        # A quoted text may be on any line.
        for number, line in enumerate(lines, first):
            if as_written := {f'"{part}"' for part in self._quoted if part in line}:
                found[number] = found.get(number, _NO_STEMS) | as_written
        return dict(sorted(found.items()))

    def _lines_to_split(self, text: str, lines: Sequence[str]) -> set[int]:
        """Return the numbers, from 0, of the lines that may contain a stem: splitting a line takes longer."""
        letters = text.lower().replace("_", "")
        numbers = set[int]()
        for wanted in self._stems:
            numbers.update(_lines_with(wanted, letters))
        if not text.isascii():
            # The letters of other scripts may be written in several ways.
            numbers.update(number for number, line in enumerate(lines) if not line.isascii())
        return numbers

    def count_quoted(self, found: frozenset[str]) -> int:
        """Return how many quoted texts are among what was found."""
        return sum(part.startswith('"') for part in found) if self._quoted else 0

    def best_lines(self, found: FoundStems) -> list[int]:
        """Return the lines that contain most of what the query asks for, in order."""
        if len(found) <= _MAX_MATCH_LINES:
            return list(found)
        best = sorted(found, key=lambda line: (-self.count_quoted(found[line]), -len(found[line]), line))
        return sorted(best[:_MAX_MATCH_LINES])


class _StemsOfWords(dict[str, frozenset[str]]):
    """Which stems of a query each written word has, since code repeats few words very often."""

    def __init__(self, stems: frozenset[str]) -> None:
        super().__init__()
        self._stems = stems

    def __missing__(self, word: str) -> frozenset[str]:
        found = self[word] = self._stems & stems_of(word)
        return found


def _lines_with(wanted: str, text: str) -> Iterator[int]:
    """Yield the number, from 0, of each line that contains some letters."""
    number = counted = 0
    place = text.find(wanted)
    while place >= 0:
        number += text.count("\n", counted, place)
        yield number
        counted = text.find("\n", place)
        place = text.find(wanted, counted) if counted >= 0 else -1


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of all words in a text; those of names are cached."""
    return _cached_stems(text) if len(text) <= _LONGEST_CACHED else _stems(text)


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, split_words(text).split()))


_cached_stems = lru_cache(maxsize=_MOST_CACHED)(_stems)
