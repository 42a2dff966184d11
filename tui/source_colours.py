"""Colouring source: a few colours for what the eye looks for, and plain text for the rest."""

import re
from collections.abc import Iterator
from functools import lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Token, _TokenType
from pygments.util import ClassNotFound
from textual.content import Content, Span

from keyhole.core.view.text import visible

# The rest of a longer line is data: colouring it costs time and helps nobody.
_LONGEST_COLOURED = 2_000
# How far back a place is looked for where a lexer can start.
_LOOK_BACK = 100
# Text at the left margin is hardly ever inside a string or a comment.
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
    """Name the lexer for a file, by its name alone; "" when there is none."""
    try:
        return str(get_lexer_for_filename(path).aliases[0])
    except (ClassNotFound, IndexError):
        return ""


def coloured(lines: list[str], start: int, end: int, lexer: str) -> list[Content]:
    """Colour some lines of a text, with control characters made visible."""
    first = _where_to_start(lines, start)
    shown = [visible(line.removesuffix("\r")) for line in lines[first:end]]
    spans: list[list[Span]] = [[] for _ in shown]
    for number, left, right, style in _tokens([line[:_LONGEST_COLOURED] for line in shown], lexer):
        if number < len(spans):
            spans[number].append(Span(left, right, style))
    pairs = zip(shown[start - first :], spans[start - first :], strict=True)
    return [Content(line, spans=found) for line, found in pairs]


def _tokens(lines: list[str], lexer: str) -> Iterator[tuple[int, int, int, str]]:
    """Yield where each coloured piece stands: its line, from, to, and how it looks."""
    number = column = 0
    # Some lexers know a line only by its end.
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
    """Find the style of a kind of token, or of the kind that it belongs to."""
    while kind is not None:
        if kind in _STYLES:
            return _STYLES[kind]
        kind = kind.parent
    return ""


def _where_to_start(lines: list[str], start: int) -> int:
    """Go back to a line that is likely to be outside of any string."""
    earliest = max(0, start - _LOOK_BACK)
    return next((number for number in range(start, earliest, -1) if _OUTSIDE.match(lines[number])), earliest)
