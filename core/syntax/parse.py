"""Grammars and symbol queries, loaded once per process and only when a file needs them."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib.resources import files
from itertools import chain, pairwise
from operator import itemgetter

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Point, Query, QueryCursor, QueryError, Range
from tree_sitter_language_pack import get_language

from keyhole.core.errors import AssetError
from keyhole.core.syntax.languages import Language

# How many blocks of broken source are parsed separately; real files need only a few.
RECOVERY_LIMIT = 500

Match = dict[str, list[Node]]

# Source that crashes a grammar. A crash can also corrupt memory without ending the process, so such source is never
# parsed, although a worker would survive it.
_UNSAFE = {
    # A block nested in about 250 others.
    "markdown": re.compile(rb"^[ \t>*+\-\d.)]{150}", re.MULTILINE),
    # The scanner saves its state into 1,024 bytes and checks for room too late: block level 254 writes past the end.
    # This lets through at most 237 levels.
    "yaml": re.compile(rb"^[ \t\-?:]{120}", re.MULTILINE),
    # The scanner aborts at about 1,030 strings inside each other.
    "kotlin": re.compile(rb"(?:\"\$\{[^\"]*){500}"),
}
# Some grammars crash on letters outside ASCII because they look them up in a table of 128 entries. So these bytes are
# replaced by x for parsing: positions stay the same, and names are read from the original source.
_ONLY_ASCII = bytes(range(128)) + b"x" * 128

# A macro before the name of a class, as in `class EXPORT Item {`, which the grammar takes for a function called Item.
_MACRO_OF_CLASS = re.compile(
    rb"(\b(?:class|struct)[ \t]+)([A-Z][A-Z0-9_]+(?:\([^()\n]*\))?)(?=\s+[A-Za-z_]\w*(?:\s+final)?\s*(?:\{|:[^:]))"
)

_BLOCK_START = re.compile(rb"\n(?=[^\s{)\]}])")
# Data languages with keys at the start of lines, so that a part of a file can be parsed separately.
_MARGIN_HAS_KEYS = frozenset(["yaml"])
# Where blocks start, for languages in which an unindented line may continue a statement.
_BLOCK_STARTS = {"sql": re.compile(rb"\n(?=create\b)", re.IGNORECASE)}
# The quotes around code of another language, which the grammar would parse as its own.
_QUOTED_CODE = {"sql": re.compile(rb"\$(?:[A-Za-z_]\w*)?\$")}
# The depth up to which patterns may start to match; deeper nodes would take too much time.
_MAX_DEPTH = 300


@cache
def load_grammar(name: str) -> Grammar:
    """Load the named grammar from the language pack."""
    return get_language(name)  # type: ignore[arg-type]  # the pack types names as a Literal


@cache
def load_query(language: Language, folder: str = "") -> Query:
    """Compile the symbol query of a language, or another one from a folder."""
    tables = files("keyhole.assets").joinpath("queries", folder)
    try:
        text = tables.joinpath(f"{language.table}.scm").read_text("utf-8")
        # TSX shares TypeScript's table, and may have one with what only TSX has.
        own = tables.joinpath(f"{language.id}.scm")
        if language.id != language.table and own.is_file():
            text += own.read_text("utf-8")
        return Query(load_grammar(language.grammar or language.id), text)
    except (OSError, QueryError) as error:
        raise AssetError(
            f"the {folder or 'symbol'} query for {language.label} is invalid: {error}; reinstall keyhole"
        ) from error


def parse(language: Language, source: bytes) -> Node | None:
    """Parse UTF-8 source; None if the language has no grammar or the parser cannot process the source."""
    unsafe = _UNSAFE.get(language.id)
    if language.grammar is None or (unsafe and unsafe.search(source)):
        return None
    try:
        return _parse_part(language, source, 0, len(source))
    except ValueError:
        return None


def has_errors(language: Language, root: Node) -> bool:
    """Return whether the source has syntax errors; tokens missing around excluded quoted code do not count."""
    if language.id in _QUOTED_CODE:
        return next(_outermost_errors(root), None) is not None
    return root.has_error


def find_matches(language: Language, trees: Iterable[Node]) -> Iterator[Match]:
    """Yield the matches of the language's symbol query in the trees of a file."""
    if not language.has_symbols:
        return
    cursor = QueryCursor(load_query(language))
    cursor.set_max_start_depth(_MAX_DEPTH)
    for tree in trees:
        # Matches come in source order; sort them by pattern, so that the earlier patterns of the query come first.
        for _, match in sorted(cursor.matches(tree), key=itemgetter(0)):
            yield match


def find_names(language: Language, trees: Iterable[Node]) -> Iterator[Match]:
    """Yield what the language's query for references captures in each tree of a file."""
    if not language.has_definitions:
        return
    cursor = QueryCursor(load_query(language, "references"))
    cursor.set_max_start_depth(_MAX_DEPTH)
    for tree in trees:
        yield cursor.captures(tree)


def quoted_trees(language: Language, source: bytes) -> Iterator[Node]:
    """Parse the code that a file quotes, such as the bodies of SQL functions: it has names, but no symbols."""
    for start, end in _quoted_bodies(language, source, 0, len(source))[:RECOVERY_LIMIT]:
        yield _parse_part(language, source, start, end)


def trees_of(language: Language, root: Node, source: bytes) -> list[Node]:
    """Return the tree of a file, and one for each part that had to be parsed again."""
    return [root, *_reparse_broken(language, root, source)] if language.has_symbols else [root]


def _reparse_broken(language: Language, root: Node, source: bytes) -> Iterator[Node]:
    """Parse the broken parts of a file again, block by block.

    One unclosed bracket can turn the rest of a file into a single ERROR node, although the definitions after it are
    intact and start on unindented lines.
    """
    if not root.has_error or not (language.is_code or language.id in _MARGIN_HAS_KEYS):
        return
    # No time limit is needed: the broken parts do not overlap, so together they are no longer than the file.
    left, block_start = RECOVERY_LIMIT, _BLOCK_STARTS.get(language.id, _BLOCK_START)
    for broken in _outermost_errors(root):
        # An error deep inside a definition starts with a fragment of it, so its first line may be a new block.
        first = broken.start_byte if broken.parent == root else max(broken.start_byte - 1, 0)
        # If the root itself is an error, some parsers stop before the end of the file.
        limit = len(source) if broken == root else broken.end_byte
        starts = [m.end() for m in block_start.finditer(source, first, limit)][:left]
        left -= len(starts)
        for start, end in pairwise([*starts, limit]):
            with suppress(ValueError):
                yield _parse_part(language, source, start, end)


def _outermost_errors(root: Node) -> Iterator[Node]:
    pending = [root]
    while pending:
        node = pending.pop()
        if node.is_error:
            yield node
        elif node.has_error:
            pending.extend(reversed(node.children))


def _parse_part(language: Language, source: bytes, start: int, end: int) -> Node:
    # Parsers are cheap to create and not thread-safe, so each call creates one.
    parser = Parser(load_grammar(language.grammar or ""))
    bodies = _quoted_bodies(language, source, start, end)
    edges = [start, *chain.from_iterable(bodies), end]
    if edges != [0, len(source)]:
        marks = list(zip(_points(source, edges), edges, strict=True))
        pairs = zip(marks[::2], marks[1::2], strict=True)
        parser.included_ranges = [
            Range(first, last, begin, stop) for (first, begin), (last, stop) in pairs if begin < stop
        ]
    if language.id == "cpp":
        source = _MACRO_OF_CLASS.sub(_blank_macro, source)
    return parser.parse(source if source.isascii() else source.translate(_ONLY_ASCII)).root_node


def _blank_macro(found: re.Match[bytes]) -> bytes:
    """Replace a macro by blanks, so that positions stay the same."""
    return found[1] + b" " * len(found[2])


def _quoted_bodies(language: Language, source: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """Return the ranges between two equal quotes; scanning backwards needs one pass only."""
    mark = _QUOTED_CODE.get(language.id)
    if mark is None:
        return []
    marks = list(mark.finditer(source, start, end))
    next_equal: dict[bytes, int] = {}
    closing: dict[int, int] = {}
    for number in range(len(marks) - 1, -1, -1):
        closing[number] = next_equal.get(marks[number].group(), 0)
        next_equal[marks[number].group()] = number
    bodies, number = [], 0
    while number < len(marks):
        if last := closing[number]:
            bodies.append((marks[number].end(), marks[last].start()))
            number = last
        number += 1
    return bodies


def _points(source: bytes, positions: list[int]) -> Iterator[Point]:
    row = last = 0
    for position in positions:
        row, last = row + source.count(b"\n", last, position), position
        yield Point(row, position - source.rfind(b"\n", 0, position) - 1)
