"""Grammars and symbol queries, loaded once per process and only when a file needs them."""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import pairwise

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Point, Query, QueryCursor, QueryError, Range
from tree_sitter_language_pack import get_language

from keyhole.core.errors import AssetError
from keyhole.core.syntax.languages import Language

# How many pieces of a broken stretch are parsed on their own; real damage needs a handful.
RECOVERY_LIMIT = 500

Match = dict[str, list[Node]]

_BLOCK_START = re.compile(rb"\n(?=[^\s)\]}])")


@cache
def load_grammar(name: str) -> Grammar:
    """Load the named grammar from the language pack."""
    return get_language(name)  # type: ignore[arg-type]  # the pack types names as a Literal


@cache
def load_query(language: Language) -> Query:
    """Compile the language's table of symbols."""
    table = files("keyhole.assets").joinpath("queries", f"{language.id}.scm")
    try:
        return Query(load_grammar(language.grammar or language.id), table.read_text("utf-8"))
    except (OSError, QueryError) as error:
        raise AssetError(f"the symbol table for {language.label} is broken: {error}; reinstall keyhole") from error


def parse(language: Language, source: bytes) -> Node | None:
    """Parse UTF-8 source; None when the language has no grammar."""
    if language.grammar is None:
        return None
    # A parser is cheap and not thread-safe, so each call has its own.
    return Parser(load_grammar(language.grammar)).parse(source).root_node


def find_matches(language: Language, root: Node, source: bytes) -> Iterator[Match]:
    """Run the language's table over a tree; the walk itself happens in C."""
    if not language.has_symbols:
        return
    cursor = QueryCursor(load_query(language))
    for tree in (root, *_reparse_broken(language, root, source)):
        for _, match in cursor.matches(tree):
            yield match


def _reparse_broken(language: Language, root: Node, source: bytes) -> Iterator[Node]:
    """Parse again, one block at a time, what the parser gave up on.

    One unclosed bracket can turn the rest of a file into a single ERROR node; the definitions after
    it are whole, though, and start at the margin.
    """
    if not root.has_error or not language.is_code:
        return
    left = RECOVERY_LIMIT
    for broken in [root] if root.is_error else [child for child in root.children if child.is_error]:
        starts = [m.end() for m in _BLOCK_START.finditer(source, broken.start_byte, broken.end_byte)][:left]
        left -= len(starts)
        for start, end in pairwise([*starts, broken.end_byte]):
            block = Range(_point(source, start), _point(source, end), start, end)
            yield Parser(load_grammar(language.grammar or ""), included_ranges=[block]).parse(source).root_node


def _point(source: bytes, position: int) -> Point:
    return Point(source.count(b"\n", 0, position), position - source.rfind(b"\n", 0, position) - 1)
