"""Syntax highlighting: a few colours for what readers look for, and plain text for the rest."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Token, _TokenType
from pygments.util import ClassNotFound
from textual.content import Content, Span

from keyhole.core.untrusted_text import visible

# Longer lines are mostly data: colouring the rest takes time and helps nobody.
_LONGEST_COLOURED = 2_000
# How many lines back to look for a line where the lexer can start, and how far back a definition may be.
_LOOK_BACK = 100
_DEFINITION_BACK = 300
# Text at the left margin is rarely inside a string or a comment.
_OUTSIDE = re.compile(r"[A-Za-z@#_<]")

_STYLES = {
    Token.Comment: "$text-muted italic",
    Token.Generic.Deleted: "$text-error",
    Token.Generic.Heading: "$text-muted bold",
    Token.Generic.Inserted: "$text-success",
    Token.Generic.Strong: "bold",
    Token.Generic.Subheading: "$secondary",
    Token.Keyword: "$secondary",
    Token.Literal.Number: "$warning",
    Token.Literal.String: "$success",
    Token.Literal.String.Doc: "$text-muted italic",
    Token.Name.Class: "$primary bold",
    Token.Name.Decorator: "$warning",
    Token.Name.Function: "$primary",
    Token.Name.Tag: "$secondary",
    Token.Operator.Word: "$secondary",
}


@lru_cache(maxsize=256)
def lexer_of(path: str) -> str:
    """Return the name of the lexer for a file name, or ""."""
    try:
        return str(get_lexer_for_filename(path).aliases[0])
    except (ClassNotFound, IndexError):
        return ""


def coloured(lines: list[str], start: int, end: int, lexer: str, definitions: Sequence[int] = ()) -> list[Content]:
    """Return some lines of a text in colour, with control characters made visible.

    `definitions` are the lines where definitions start, in order: the lexer can start there.
    """
    first = _where_to_start(lines, start, definitions)
    shown = [visible(line.removesuffix("\r")) for line in lines[first:end]]
    spans: list[list[Span]] = [[] for _ in shown]
    for number, left, right, style in _tokens([line[:_LONGEST_COLOURED] for line in shown], lexer):
        if number < len(spans):
            spans[number].append(Span(left, right, style))
    pairs = zip(shown[start - first :], spans[start - first :], strict=True)
    return [Content(line, spans=found) for line, found in pairs]


def _tokens(lines: list[str], lexer: str) -> Iterator[tuple[int, int, int, str]]:
    """Yield the line, start, end and style of each coloured piece."""
    number = column = 0
    # Some lexers recognise the last line only with a line feed after it.
    for kind, text in _lexer(lexer).get_tokens("\n".join(lines) + "\n"):
        style = _style_of(kind)
        for count, piece in enumerate(text.split("\n")):
            if count:
                number, column = number + 1, 0
            if piece and style:
                yield number, column, column + len(piece), style
            column += len(piece)


@lru_cache(maxsize=32)
def _lexer(name: str) -> Lexer:
    return get_lexer_by_name(name, stripnl=False, ensurenl=False, tabsize=0)


@lru_cache(maxsize=512)
def _style_of(kind: _TokenType) -> str:
    """Return the style of a token type, or of the nearest parent type that has one."""
    while kind is not None:
        if kind in _STYLES:
            return _STYLES[kind]
        kind = kind.parent
    return ""


def _where_to_start(lines: list[str], start: int, definitions: Sequence[int]) -> int:
    """Return a line at or before `start` that is outside of any string or comment, or probably so."""
    before = bisect_right(definitions, start)
    if before and definitions[before - 1] >= start - _DEFINITION_BACK:
        return definitions[before - 1]
    earliest = max(0, start - _LOOK_BACK)
    return next((number for number in range(start, earliest, -1) if _OUTSIDE.match(lines[number])), earliest)
