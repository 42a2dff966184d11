"""Cuts the source of hits from the files as they are now, never from a copy."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from keyhole.core.index.words import split_words, stem
from keyhole.core.types import Hit, Passage, Stretch

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

# The stems of the query that each line contains, by line number.
FoundStems = Mapping[int, frozenset[str]]


def source_around(hit: Hit) -> tuple[int, int]:
    """Return the lines that show where a matching line is: the definition around it, or the near part of a long one."""
    first, last = hit.line - CONTEXT_LINES, hit.line + CONTEXT_LINES
    if hit.owner is None:
        return first, last
    start, end = hit.owner.start_line, hit.owner.end_line
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
        lines = [f"{line}\n" for line in self.text.split("\n")]
        # The last line feed ends a line, and starts none.
        last = lines.pop().removesuffix("\n")
        return [*lines, last] if last else lines

    def line(self, number: int) -> str:
        """Return a line without its end; empty if there is no such line."""
        return self._lines[number - 1].rstrip("\r\n") if 0 < number <= len(self._lines) else ""

    def stretch(self, first: int, last: int) -> Stretch:
        """Return some lines."""
        first = max(1, first)
        return Stretch(first, "".join(self._lines[first - 1 : last]))

    def before(self, line: int) -> str:
        """Return the lines of context before a line."""
        return "".join(
            reversed(list(_not_too_long(reversed(self._lines[max(0, line - 1 - CONTEXT_LINES) : line - 1]))))
        )

    def after(self, line: int) -> str:
        """Return the lines of context after a line."""
        return "".join(_not_too_long(iter(self._lines[line : line + CONTEXT_LINES])))

    def around(self, hit: Hit) -> Passage:
        """Return a matching line with the definition around it, or with a part of that if it is long."""
        first, last = source_around(hit)
        first, last = min(first, hit.line - CONTEXT_LINES), max(last, hit.line + CONTEXT_LINES)
        # Very long lines are not useful as context.
        before = [line.rstrip("\n")[:_MAX_CONTEXT] for line in self._lines[max(0, first - 1) : hit.line - 1]]
        after = [line.rstrip("\n")[:_MAX_CONTEXT] for line in self._lines[hit.line : last]]
        line = self._lines[hit.line - 1].removesuffix("\n")
        return Passage(
            line, "".join(f"{text}\n" for text in before), "\n".join(after), (hit.line,), (Stretch(hit.line, line),)
        )

    def passage(
        self, chunk: ChunkLines, named_lines: tuple[int, int], name_line: int, found: FoundStems, best: int
    ) -> Passage:
        """Return what a hit names, with the lines around it; `found` are the matches in its chunk."""
        content = self._content(chunk, named_lines, name_line, found, best)
        return Passage(
            text=self.text[chunk.start : chunk.end],
            before=self.before(content[0].start_line),
            after=self.after(content[-1].end_line),
            match_lines=tuple(_best_matches(found)),
            content=content,
            best_line=Stretch(best, self.line(best)) if best else None,
        )

    def _content(
        self, chunk: ChunkLines, named_lines: tuple[int, int], name_line: int, found: FoundStems, best: int
    ) -> tuple[Stretch, ...]:
        """Return what a hit names: all of it, its start and what is around the matches, or its part in the chunk."""
        whole_chunk = (Stretch(chunk.start_line, self.text[chunk.start : chunk.end]),)
        if named_lines == (0, 0):
            return whole_chunk
        first, last = named_lines
        # The best line may be in the comment above a definition.
        first = min(first, best) if best and first - best < _LONG_DEFINITION else first
        around = self._lines_around(first, last, name_line, found, chunk)
        part = (max(first, chunk.start_line), min(last, chunk.end_line))
        ways = [[(first, last)] if last - first < _LONG_DEFINITION else around, around, [part]]
        for way in ways:
            content = tuple(self.stretch(*lines) for lines in way)
            if sum(len(stretch.text) for stretch in content) <= _MAX_CONTENT:
                return content
        return whole_chunk

    def _lines_around(
        self, first: int, last: int, name_line: int, found: FoundStems, chunk: ChunkLines
    ) -> list[tuple[int, int]]:
        """Return the stretches that show a long definition: its signature, and what is around the matches."""
        numbers = set(range(name_line, self._end_of_signature(name_line, last) + 1))
        matches = [line for line in _best_matches(found) if first <= line <= last]
        for line in matches:
            numbers |= set(range(max(first, line - _AROUND_MATCH), min(last, line + _AROUND_MATCH) + 1))
        if not matches:
            numbers |= set(range(max(first, chunk.start_line), min(last, chunk.end_line) + 1))
        return list(_runs(sorted(numbers)))

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


def _best_matches(found: FoundStems) -> list[int]:
    """Return the lines with the most words of the query, in the order of the file."""
    best = sorted(found, key=lambda line: (-count_quoted(found[line]), -len(found[line]), line))
    return sorted(best[:_MAX_MATCH_LINES])


def _not_too_long(lines: Iterator[str]) -> Iterator[str]:
    length = 0
    for line in lines:
        length += len(line)
        if length > _MAX_CONTEXT:
            return
        yield line


def find_stems(text: str, first: int, stems: frozenset[str], quoted: Sequence[str]) -> dict[int, frozenset[str]]:
    """Return what of a query each line of a text contains; `first` is the number of its first line.

    A quoted text is found as written, and has its quotes in the answer.
    """
    # Searching for the letters first is fast, and avoids splitting most lines into words.
    letters = text.lower().replace("_", "").split("\n")
    starts, found = tuple(stems), dict[int, frozenset[str]]()
    for number, line in enumerate(text.split("\n")):
        if not line.isascii() or any(wanted in letters[number] for wanted in starts):
            words = (word for word in split_words(line).split() if word.startswith(starts))
            if matched := stems.intersection(map(stem, words)):
                found[first + number] = matched
        if as_written := frozenset(f'"{part}"' for part in quoted if part in line):
            found[first + number] = found.get(first + number, frozenset()) | as_written
    return found


def count_quoted(found: frozenset[str]) -> int:
    """Return how many quoted texts are among what was found."""
    return sum(part.startswith('"') for part in found)


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of all words in a text."""
    return frozenset(map(stem, split_words(text).split()))
