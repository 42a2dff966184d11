"""Loads the source of hits from the files as they are now, never from a copy."""

from collections.abc import Iterable
from functools import cached_property
from itertools import islice

from keyhole.core.files.read import SourceReader
from keyhole.core.index.protocols import SearchStore
from keyhole.core.index.words import split_words
from keyhole.core.search.query import words_of
from keyhole.core.types import Hit, Passage, SourceFile

CONTEXT_LINES = 10
# Very long lines are not useful as context.
_MAX_CONTEXT = 2_000
_MAX_MATCH_LINES = 8
# A definition with fewer lines is shown whole around a matching line.
_LONG_OWNER = 40


def load_passages(
    store: SearchStore, files: SourceReader, hits: Iterable[Hit], query: str
) -> tuple[dict[tuple[int, int], Passage], set[str]]:
    """Return the passages of hits by their keys, and the paths of files that changed since they were indexed."""
    wanted: dict[int, list[Hit]] = {}
    for hit in hits:
        wanted.setdefault(hit.chunk_id, []).append(hit)
    words = frozenset(words_of(query))
    passages: dict[tuple[int, int], Passage] = {}
    stale: set[str] = set()
    source, lines = None, _Lines("")
    for chunk_id, path, digest, start, length in store.chunk_sources(wanted):
        if source is None or source.path != path:
            source = files.read(path)
            lines = _Lines(source.text if isinstance(source, SourceFile) else "")
        if isinstance(source, SourceFile) and source.digest == digest:
            for hit in wanted[chunk_id]:
                around = lines.around(hit) if hit.is_line else _passage(source.text, start, start + length, hit, words)
                passages[hit.key] = around
        else:
            stale.add(path)
    return passages, stale


def source_around(hit: Hit) -> tuple[int, int]:
    """Return the lines that show where a matching line is: the definition around it, or the near part of a long one."""
    first, last = hit.line - CONTEXT_LINES, hit.line + CONTEXT_LINES
    if hit.owner is None:
        return first, last
    start, end = hit.owner.start_line, hit.owner.end_line
    return (start, end) if end - start < _LONG_OWNER else (max(first, start), min(last, end))


class _Lines:
    """The lines of a file, for hits that are lines."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _lines(self) -> list[str]:
        # The last line feed ends a line, and starts none.
        return self._text.removesuffix("\n").split("\n")

    def around(self, hit: Hit) -> Passage:
        """Return a line with the definition around it, or with a part of that if it is long."""
        first, last = source_around(hit)
        first, last = min(first, hit.line - CONTEXT_LINES), max(last, hit.line + CONTEXT_LINES)
        before, after = self._lines[max(0, first - 1) : hit.line - 1], self._lines[hit.line : last]
        # Very long lines are not useful as context.
        before, after = [line[:_MAX_CONTEXT] for line in before], [line[:_MAX_CONTEXT] for line in after]
        return Passage(
            self._lines[hit.line - 1], "".join(f"{line}\n" for line in before), "\n".join(after), (hit.line,)
        )


def _passage(text: str, start: int, end: int, hit: Hit, words: frozenset[str]) -> Passage:
    lines = hit.match_lines[:_MAX_MATCH_LINES] or _match_lines(text[start:end], hit.start_line, words)
    return Passage(text[start:end], _lines_before(text, start), _lines_after(text, end), tuple(lines))


def _lines_before(text: str, start: int) -> str:
    begin = start
    for _ in range(CONTEXT_LINES):
        line = text.rfind("\n", 0, max(0, begin - 1)) + 1
        if begin == 0 or start - line > _MAX_CONTEXT:
            break
        begin = line
    return text[begin:start]


def _lines_after(text: str, end: int) -> str:
    finish = end
    for _ in range(CONTEXT_LINES):
        line = text.find("\n", finish) + 1 or len(text)
        if finish == len(text) or line - end > _MAX_CONTEXT:
            break
        finish = line
    return text[end:finish]


def _match_lines(text: str, first: int, words: frozenset[str]) -> list[int]:
    lines = text.split("\n")
    # Searching for the letters first is fast, and avoids splitting most lines into words.
    letters = text.lower().replace("_", "").split("\n")
    matching = (
        number
        for number, line in enumerate(lines)
        if (not line.isascii() or any(word in letters[number] for word in words))
        and not words.isdisjoint(split_words(line).split())
    )
    return [first + number for number in islice(matching, _MAX_MATCH_LINES)]
