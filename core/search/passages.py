"""Loads the source of hits from the files as they are now, never from a copy."""

from collections.abc import Iterable
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


def load_passages(
    store: SearchStore, files: SourceReader, hits: Iterable[Hit], query: str
) -> tuple[dict[int, Passage], set[str]]:
    """Return the passages of hits by chunk, and the paths of files that changed since they were indexed."""
    wanted = {hit.chunk_id: hit for hit in hits}
    words = frozenset(words_of(query))
    passages: dict[int, Passage] = {}
    stale: set[str] = set()
    source = None
    for chunk_id, path, digest, start, length in store.chunk_sources(wanted):
        if source is None or source.path != path:
            source = files.read(path)
        if isinstance(source, SourceFile) and source.digest == digest:
            passages[chunk_id] = _passage(source.text, start, start + length, wanted[chunk_id], words)
        else:
            stale.add(path)
    return passages, stale


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
