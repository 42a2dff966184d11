"""Search by regular expression: trigrams say which files can match, RE2 says where they do."""

import re
from collections.abc import Iterator
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parser  # type: ignore[attr-defined]
from typing import Protocol

from keyhole.core.deadline import check_time
from keyhole.core.errors import QueryError
from keyhole.core.files.read import read_source
from keyhole.core.index.protocols import SearchStore
from keyhole.core.index.rows import ChunkScope, FileDigest
from keyhole.core.types import SourceFile

# A few trigrams rule out nearly every file; each further one costs a look into the index.
_MAX_TRIGRAMS = 40
# What Python's `re` knows and RE2 does not.
_UNSUPPORTED = re.compile(r"\(\?(?:<?[=!]|P=|>|\()|\\[1-9]|\\[gk]<|[*+?}]\+")


class Pattern(Protocol):
    """A pattern as RE2 compiles it, which has no types of its own."""

    def finditer(self, text: str, /) -> Iterator[re.Match[str]]:
        """Yield every match in a text."""


class LineMatch:
    """A chunk with a match, and the lines of the file that match."""

    def __init__(self, chunk_id: int, lines: list[int]) -> None:
        self.chunk_id = chunk_id
        self.lines = lines


def compile_pattern(pattern: str) -> Pattern:
    """Compile with RE2, whose time is linear in the text; say where a pattern is wrong."""
    import re2

    options = re2.Options()
    # RE2 would write to stderr, which belongs to the terminal or to the MCP client.
    options.log_errors = False
    try:
        # In code, ^ and $ are expected to mean a line.
        compiled: Pattern = re2.compile(f"(?m){pattern}", options)
    except re2.error as error:
        place, reason = _locate(pattern, _message_of(error))
        raise QueryError(f"bad regular expression: {reason}\n  {pattern}\n  {' ' * place}^") from None
    return compiled


def find_matches(
    store: SearchStore, root: Path, pattern: str, scope: ChunkScope, *, max_bytes: int
) -> Iterator[LineMatch]:
    """Yield every chunk with a match, file by file."""
    compiled = compile_pattern(pattern)
    for file_id, path, digest in _files(store, pattern):
        # Thousands of files may have to be read, and the agent may have given up by now.
        check_time()
        if not scope.admits_file(file_id):
            continue
        source = read_source(root, path, max_bytes=max_bytes)
        # A file that changed has been refreshed before, or will drop out when hits are checked.
        if isinstance(source, SourceFile) and source.digest == digest:
            yield from _in_file(store, file_id, source.text, compiled, scope)


def required_texts(pattern: str) -> list[str]:
    """Return texts that every match contains; the parser of Python's `re` reads nearly all of RE2's syntax."""
    try:
        parsed = sre_parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        # Then every file is read: slower, but nothing is missed.
        return []
    texts: list[str] = []
    _collect(parsed, texts)
    return [text for text in texts if len(text) >= 3]


def _in_file(store: SearchStore, file_id: int, text: str, compiled: Pattern, scope: ChunkScope) -> Iterator[LineMatch]:
    positions = [match.start() for match in compiled.finditer(text)]
    if not positions:
        return
    # A match belongs to the chunk that it starts in: chunks tile the file, so each has exactly one.
    for chunk_id, start, length, start_line, _, definitions in store.chunks_of_file(file_id):
        inside = [position for position in positions if start <= position < start + length]
        if inside and scope.admits(file_id, definitions):
            lines = [start_line + text.count("\n", start, position) for position in inside]
            yield LineMatch(chunk_id, list(dict.fromkeys(lines)))


def _files(store: SearchStore, pattern: str) -> list[FileDigest]:
    trigrams = [text[i : i + 3] for text in required_texts(pattern) for i in range(len(text) - 2)]
    # SQLite ends a text at a zero byte, so such a trigram would match nothing.
    telling = list(dict.fromkeys(t for t in trigrams if "\0" not in t))[:_MAX_TRIGRAMS]
    return store.files_with_trigrams(telling)


def _collect(parsed: sre_parser.SubPattern, texts: list[str]) -> None:
    """Gather runs of letters that no alternative, class or optional part interrupts."""
    run = ""
    for operation, value in parsed:
        if operation is sre.LITERAL:
            run += chr(value)
            continue
        texts.append(run)
        run = ""
        if operation is sre.SUBPATTERN:
            _collect(value[-1], texts)
        # What may be missing in a match must not be required; what comes at least once must be there.
        elif operation in (sre.MAX_REPEAT, sre.MIN_REPEAT) and value[0] >= 1:
            _collect(value[2], texts)
    texts.append(run)


def _message_of(error: Exception) -> str:
    """Return what RE2 says is wrong; it says so in bytes."""
    return " ".join(part.decode("utf-8", "replace") if isinstance(part, bytes) else str(part) for part in error.args)


def _locate(pattern: str, message: str) -> tuple[int, str]:
    """Find the place of an error: RE2 tells what is wrong, but not where."""
    if found := _UNSUPPORTED.search(pattern):
        return found.start(), "lookaround, backreferences and possessive repeats are not supported"
    try:
        re.compile(pattern)
    except re.error as error:
        return error.pos or 0, error.msg
    except RecursionError:
        pass
    return 0, message
