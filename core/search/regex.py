"""Search by regular expression: trigrams select the files that can match, and RE2 finds the matches."""

import re
from collections.abc import Iterator
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parser  # type: ignore[attr-defined]
from typing import Protocol

from keyhole.core.deadline import check_time
from keyhole.core.errors import QueryError
from keyhole.core.files.read import SourceReader
from keyhole.core.index.protocols import SearchStore
from keyhole.core.index.rows import ChunkScope, FileDigest
from keyhole.core.search.regex_errors import pattern_error, pointed_out
from keyhole.core.types import SourceFile

# A few trigrams rule out nearly every file, and each one costs an index lookup.
_MAX_TRIGRAMS = 40
# In a code search, ^ and $ should match at line ends.
_MULTILINE = "(?m)"


class Pattern(Protocol):
    """The type of a compiled RE2 pattern; the library has no types."""

    def finditer(self, text: str, /) -> Iterator[re.Match[str]]:
        """Yield every match in a text."""


class LineMatch:
    """A chunk with matches, and the line numbers of the matches."""

    def __init__(self, chunk_id: int, lines: list[int]) -> None:
        self.chunk_id = chunk_id
        self.lines = lines


def compile_pattern(pattern: str) -> Pattern:
    """Compile a pattern with RE2, which takes linear time; raise QueryError with the position of a syntax error."""
    import re2

    options = re2.Options()
    # RE2 must not write to stderr, which belongs to the terminal or to the MCP client.
    options.log_errors = False
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


def find_matches(store: SearchStore, files: SourceReader, pattern: str, scope: ChunkScope) -> Iterator[LineMatch]:
    """Yield every chunk with a match, file by file."""
    compiled = compile_pattern(pattern)
    for file_id, path, digest in _files(store, pattern):
        # This loop may read thousands of files, and the client may have cancelled by now.
        check_time()
        if not scope.admits_file(file_id):
            continue
        source = files.read(path)
        # A changed file was indexed again before, or is dropped later when the hits are checked.
        if isinstance(source, SourceFile) and source.digest == digest:
            yield from _in_file(store, file_id, source.text, compiled, scope)


def required_texts(pattern: str) -> list[str]:
    """Return texts that every match contains; Python's own parser handles nearly all of RE2's syntax."""
    try:
        parsed = sre_parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        # Then every file is searched, which is slower but misses nothing.
        return []
    texts: list[str] = []
    _collect(parsed, texts)
    return [text for text in texts if len(text) >= 3]


def _in_file(store: SearchStore, file_id: int, text: str, compiled: Pattern, scope: ChunkScope) -> Iterator[LineMatch]:
    positions = [match.start() for match in compiled.finditer(text)]
    if not positions:
        return
    # A match belongs to the chunk that it starts in. Chunks cover the file without overlap, so there is exactly one.
    for chunk_id, start, length, start_line, _, definitions in store.chunks_of_file(file_id):
        inside = [position for position in positions if start <= position < start + length]
        if inside and scope.admits(file_id, definitions):
            lines = [start_line + text.count("\n", start, position) for position in inside]
            yield LineMatch(chunk_id, list(dict.fromkeys(lines)))


def _files(store: SearchStore, pattern: str) -> list[FileDigest]:
    trigrams = [text[i : i + 3] for text in required_texts(pattern) for i in range(len(text) - 2)]
    # SQLite ends a text at a zero byte, so a trigram with one would match nothing.
    usable = list(dict.fromkeys(t for t in trigrams if "\0" not in t))[:_MAX_TRIGRAMS]
    return store.files_with_trigrams(usable)


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
