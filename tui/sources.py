"""Reading files for display: their text, their map and their symbols."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from keyhole.tui.document import Document, definition_lines

if TYPE_CHECKING:
    from textual.content import Content

    from keyhole.core.index.rows import SymbolEntry
    from keyhole.core.search.match_marks import Marks
    from keyhole.core.service import Service
    from keyhole.core.types.choices import MapLevel
    from keyhole.core.types.syntax import Outline
    from keyhole.core.view.writing import View

# A view opens with some lines before the one it is about, and few terminals show more lines than this.
_LINES_BEFORE = 20
_SCREEN_LINES = 60
# Languages whose lines are paragraphs.
_PROSE = frozenset(("markdown", "rst", "text", "latex"))


@dataclass(frozen=True, slots=True)
class FileText:
    """The current text of a file, and its definitions if the index knows them."""

    text: str
    symbols: "tuple[SymbolEntry, ...]" = ()
    # Lines in colour, by number from 0: those that a view shows first.
    coloured: "Mapping[int, Content]" = field(default_factory=dict)


def read_source(service: "Service", path: str, line: int = 1) -> FileText:
    """Return a file, even if it is too large to be indexed, with colours for a view that opens at a line.

    Colouring a screen takes longer than a key may wait, so it is done here, in the worker that reads the file.
    """
    source = service.read(path)
    symbols = tuple(service.symbols_of(source))
    return FileText(source.text, symbols, _coloured_around(path, source.text, line, symbols))


def _coloured_around(path: str, text: str, line: int, symbols: "tuple[SymbolEntry, ...]") -> "dict[int, Content]":
    from keyhole.tui.source_colours import coloured, lexer_of

    lines, lexer = text.split("\n"), lexer_of(path)
    if not lexer:
        return {}
    start = max(0, min(line, len(lines)) - 1 - _LINES_BEFORE)
    end = min(start + _SCREEN_LINES, len(lines))
    return dict(enumerate(coloured(lines, start, end, lexer, definition_lines(symbols)), start))


def source_document(path: str, source: FileText, marked: range, marks: "Marks | None" = None) -> Document:
    """Return a file as a view shows it."""
    from keyhole.core.syntax.languages import detect_language
    from keyhole.tui.source_colours import lexer_of

    return Document(
        source.text,
        lexer_of(path),
        is_numbered=True,
        marked=marked,
        wraps=detect_language(path, "").id in _PROSE,
        marks=marks.within(source.text) if marks else None,
        symbols=source.symbols,
        coloured=source.coloured,
    )


def read_map(service: "Service", path: str, level: "MapLevel", max_tokens: int, offset: int = 0) -> "View":
    """Return a page of the map of a file, as an agent gets it."""
    from keyhole.core.types.view_requests import MapRequest

    return service.map_view(MapRequest(path, level, offset=offset, max_tokens=max_tokens))


def read_outline(service: "Service", path: str) -> "Outline":
    """Return the symbols of a file."""
    from keyhole.core.syntax.parser_process import shared_parser

    return shared_parser().outline_of(service.read(path))
