"""Search by regular expression: trigrams select the files that can match, and RE2 finds the matches."""

import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parser  # type: ignore[attr-defined]
from typing import NamedTuple, Protocol

from keyhole.core.deadline import check_time
from keyhole.core.errors import QueryError
from keyhole.core.files.text_source import TextSource
from keyhole.core.index.protocols import SearchStore
from keyhole.core.index.rows import ChunkScope, ChunkSpan, FileDigest
from keyhole.core.search.regex_errors import pattern_error, pointed_out
from keyhole.core.types.source_files import SourceFile

# A few trigrams rule out nearly every file, and each one costs an index lookup.
_MAX_TRIGRAMS = 40
# In a code search, ^ and $ should match at line ends.
_MULTILINE = "(?m)"


# Patterns that ask for a line end, or let `.` match it. All others are matched within a line, as people expect: `[^,]`
# is any other character of the line.
_ASKS_FOR_LINE_ENDS = re.compile(r"\n|\\n|\\x\{?0*a|\\0?12|\(\?\w*s", re.IGNORECASE)


class Pattern(Protocol):
    """The type of a compiled RE2 pattern; the library has no types."""

    def finditer(self, text: str, /) -> Iterator[re.Match[str]]:
        """Yield every match in a text."""


class LineMatch(NamedTuple):
    """A line with a match; `column` is where the first one starts, `position` counts characters of the file."""

    line: int
    column: int
    position: int


class FileMatches(NamedTuple):
    """A file with matching lines, in order."""

    file_id: int
    path: str
    digest: str
    lines: list[LineMatch]


def compile_pattern(pattern: str, *, within_lines: bool = False) -> Pattern:
    """Compile a pattern with RE2, which takes linear time; raise QueryError with the position of a syntax error."""
    import re2

    options = re2.Options()
    # RE2 must not write to stderr, which belongs to the terminal or to the MCP client.
    options.log_errors = False
    options.never_nl = within_lines
    try:
        compiled: Pattern = re2.compile(f"{_MULTILINE}{pattern}", options)
    except re2.error as error:
        found = pattern_error(pattern, _message_of(error))
        raise QueryError(f"invalid regular expression: {found.reason}{pointed_out(pattern, found.place)}") from None
    except UnicodeEncodeError as error:
        # Half of a character; a shell passes bytes that are not UTF-8 in this form.
        reason = "it contains a character that is not valid text; remove it"
        raise QueryError(
            f"invalid regular expression: {reason}{pointed_out(pattern, error.start - len(_MULTILINE))}"
        ) from None
    return compiled


def find_matches(store: SearchStore, files: TextSource, pattern: str, scope: ChunkScope) -> Iterator[FileMatches]:
    """Yield every file with a match, and its matching lines."""
    compiled = _for_lines(pattern)
    for file, text in _unchanged(files, _files(store, pattern, scope)):
        lines = _matching_lines(compiled, text)
        if scope.kind:
            lines = _in_scope(store, file.id, lines, scope)
        if lines:
            yield FileMatches(file.id, file.path, file.digest, lines)


def _unchanged(files: TextSource, candidates: Sequence[FileDigest]) -> Iterator[tuple[FileDigest, str]]:
    """Yield the files that are as they were indexed, with their texts."""
    for file, source in zip(candidates, files.read_all(file.path for file in candidates), strict=True):
        # This loop may read thousands of files, and the client may have cancelled by now.
        check_time()
        # A changed file was indexed again before, or is dropped later when the hits are checked.
        if isinstance(source, SourceFile) and source.digest == file.digest:
            yield file, source.text


def chunks_containing(store: SearchStore, files: TextSource, texts: Sequence[str], scope: ChunkScope) -> frozenset[int]:
    """Return the chunks with a line that contains one of several texts as written, of files that contain all.

    A line counts for the chunk that its first match starts in.
    """
    found: dict[int, set[int]] = {}
    for number, text in enumerate(texts):
        within = scope if not number else replace(scope, file_ids=frozenset(found))
        matches = _chunks_with(store, files, text, within)
        found = {file_id: found.get(file_id, set()) | chunk_ids for file_id, chunk_ids in matches}
    return frozenset().union(*found.values())


def _chunks_with(store: SearchStore, files: TextSource, text: str, scope: ChunkScope) -> Iterator[tuple[int, set[int]]]:
    """Yield each file that contains a text, with the chunks that do."""
    pattern = re.escape(text)
    # The text may not be one that can be searched for.
    compiled = _for_lines(pattern)
    candidates = _files(store, pattern, scope)
    chunks = store.chunks_of_files(file.id for file in candidates)
    for file, source in _unchanged(files, candidates):
        known = chunks[file.id]
        # RE2 takes ten times as long for a text that is on most lines.
        matching: Iterable[ChunkSpan] = (
            (chunk_of(known, line.position) for line in _matching_lines(compiled, source))
            if "\n" in text
            else _chunks_with_lines(text, source, known)
        )
        if chunk_ids := {chunk.chunk_id for chunk in matching if scope.admits(file.id, chunk.definitions)}:
            yield file.id, chunk_ids


def _chunks_with_lines(text: str, source: str, chunks: list[ChunkSpan]) -> Iterator[ChunkSpan]:
    """Yield each chunk in which the first match on a line starts; the text is within a line."""
    place = source.find(text)
    while place >= 0:
        line_start = source.rfind("\n", 0, place) + 1
        if source.find(text, line_start, place + len(text)) == place:
            chunk = chunk_of(chunks, place)
            yield chunk
            following = max(chunk.start + chunk.length, place + 1)
        else:
            # The chunk starts inside a long line, and the first match on that line is in a chunk before.
            following = source.find("\n", place)
        place = source.find(text, following) if following >= 0 else -1


def asks_for_line_ends(pattern: str) -> bool:
    """Return whether a match may span lines."""
    return _ASKS_FOR_LINE_ENDS.search(pattern) is not None


def _for_lines(pattern: str) -> Pattern:
    """Compile a pattern to find matching lines, of which only the first match counts.

    A match within a line is extended to its end. A pattern such as `.` then has as many matches as there are lines, not
    as there are characters.
    """
    compiled = compile_pattern(pattern)
    if asks_for_line_ends(pattern):
        return compiled
    return compile_pattern(f"(?:{pattern})[^\\n]*", within_lines=True)


def required_texts(pattern: str) -> list[str]:
    """Return texts that every match contains; Python's own parser handles nearly all of RE2's syntax."""
    # Python reads `[[:space:]]` as a set that contains a bracket.
    if "[:" in pattern:
        return []
    try:
        with warnings.catch_warnings():
            # Python may read sets such as `[[a]` differently one day.
            warnings.simplefilter("ignore", FutureWarning)
            parsed = sre_parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        # Then every file is searched, which is slower but misses nothing.
        return []
    texts: list[str] = []
    _collect(parsed, texts)
    return [text for text in texts if len(text) >= 3]


def chunk_of(chunks: list[ChunkSpan], position: int) -> ChunkSpan:
    """Return the chunk that a match starts in; chunks cover a file without overlap, so there is exactly one."""
    return chunks[bisect_right(chunks, position, key=attrgetter("start")) - 1]


def _matching_lines(compiled: Pattern, text: str) -> list[LineMatch]:
    lines: list[LineMatch] = []
    line, line_start, counted = 1, 0, 0
    for match in compiled.finditer(text):
        position = match.start()
        # A pattern may match nothing at the end of the text, after the last line.
        if position == len(text):
            break
        if newlines := text.count("\n", counted, position):
            line, line_start = line + newlines, text.rfind("\n", counted, position) + 1
        counted = position
        if not lines or lines[-1].line != line:
            lines.append(LineMatch(line, position - line_start + 1, position))
    return lines


def _in_scope(store: SearchStore, file_id: int, lines: list[LineMatch], scope: ChunkScope) -> list[LineMatch]:
    chunks = store.chunks_of_file(file_id)
    return [line for line in lines if scope.admits(file_id, chunk_of(chunks, line.position).definitions)]


def _files(store: SearchStore, pattern: str, scope: ChunkScope) -> list[FileDigest]:
    """Return the files in scope that may contain a match, by path."""
    trigrams = [text[i : i + 3] for text in required_texts(pattern) for i in range(len(text) - 2)]
    # SQLite ends a text at a zero byte, so a trigram with one would match nothing.
    usable = list(dict.fromkeys(t for t in trigrams if "\0" not in t))[:_MAX_TRIGRAMS]
    return [file for file in store.files_with_trigrams(usable) if scope.admits_file(file.id)]


def _collect(parsed: sre_parser.SubPattern, texts: list[str]) -> None:
    """Collect runs of literal characters without alternatives, classes or optional parts in between."""
    run = ""
    for operation, value in parsed:
        if operation is sre.LITERAL:
            run += chr(value)
            continue
        texts.append(run)
        run = ""
        if operation is sre.SUBPATTERN:
            _collect(value[-1], texts)
        # Optional parts may be missing in a match; parts that repeat at least once are required.
        elif operation in (sre.MAX_REPEAT, sre.MIN_REPEAT) and value[0] >= 1:
            _collect(value[2], texts)
    texts.append(run)


def _message_of(error: Exception) -> str:
    """Return the message of an RE2 error, which is in bytes."""
    return " ".join(part.decode("utf-8", "replace") if isinstance(part, bytes) else str(part) for part in error.args)
