"""Which definitions enclose the lines in view: a line on top of the view shows them."""

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from textual.content import Content

from keyhole.core.view.text import name_text, one_line

if TYPE_CHECKING:
    from keyhole.core.index.rows import SymbolEntry

_LONGEST_NAME = 60


def enclosing(symbols: "Sequence[SymbolEntry]", line: int) -> "list[SymbolEntry]":
    """Return the definitions around a line that start before it, outermost first; symbols are in order."""
    around: list[SymbolEntry] = []
    for number in range(bisect_left(symbols, line, key=attrgetter("start_line")) - 1, -1, -1):
        symbol = symbols[number]
        if symbol.end_line >= line and (not around or symbol.depth < around[-1].depth):
            around.append(symbol)
        if around and around[-1].depth == 0:
            break
    return around[::-1]


def header_content(number: str, symbols: "Sequence[SymbolEntry]") -> Content:
    """Return names of definitions on one line, the last one with its signature."""
    *outer, inner = symbols
    names = [
        Content.assemble((f"{symbol.kind} ", "$secondary"), name_text(symbol.name, _LONGEST_NAME)) for symbol in outer
    ]
    last = Content.styled(one_line(inner.signature or inner.name), "bold")
    return Content.styled(number, "$text-muted") + Content.styled(" ▸ ", "$text-muted").join([*names, last])
