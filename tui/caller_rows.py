"""Who calls a symbol, or the symbols of a file, as rows of the links pane."""

from typing import TYPE_CHECKING

from keyhole.core.deadline import check_time
from keyhole.core.errors import ErrorKind, QueryError
from keyhole.core.links.requests import ReferenceRelation, ReferencesRequest
from keyhole.core.types.syntax import HOLDS_METHODS
from keyhole.core.view.text import name_text
from keyhole.tui.history import Place
from keyhole.tui.link_rows import LinkRow
from keyhole.tui.reference_rows import caller_row
from keyhole.tui.sources import read_outline

if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.core.view.lists.reference_page import ReferencePage

# The first callers are enough for a glance; Enter on the last row lists the others.
_MOST_CALLERS = 5
_MOST_NAMES = 3
# Each symbol of a file takes one request.
_MOST_SYMBOLS = 12
_LONGEST_NAME = 60
_CALLED = HOLDS_METHODS | {"function", "method", "constructor", "macro"}


def called_by(service: "Service", path: str, line: int | None) -> list[LinkRow]:
    """Return who calls the symbol at a line; without a line or a symbol there, who calls the symbols of the file."""
    if line is not None:
        try:
            return _callers_of_symbol(service, Place(path, line))
        except QueryError as error:
            if error.kind is not ErrorKind.NO_DEFINITION_AT_LINE:
                raise
    return _callers_of_file(service, path)


def _callers_of_symbol(service: "Service", place: Place) -> list[LinkRow]:
    page, total = _callers(service, place, _MOST_CALLERS)
    if page is None or page.definition.kind not in _CALLED:
        return []
    row = page.definition
    name = name_text(row.qualified_name, _LONGEST_NAME)
    rows = [LinkRow(f"called by {total:,}", name, is_title=True)]
    for node in page.calls:
        caller = caller_row(node)
        rows.append(LinkRow(caller.second, f"{caller.first}, {node.certainty}", caller.place))
    if total > len(page.calls):
        rows.append(LinkRow(f"▾ {total - len(page.calls):,} more", callers_of=Place(row.path, row.name_line)))
    return rows


def _callers_of_file(service: "Service", path: str) -> list[LinkRow]:
    """Return the functions, classes and methods of a file that have callers, each with the first of them."""
    outline = read_outline(service, path)
    symbols = [one for top in outline.symbols for one in (top, *top.children) if one.kind in _CALLED]
    rows = []
    for symbol in symbols[:_MOST_SYMBOLS]:
        # Each takes a moment, and the user may have gone on to another file.
        check_time()
        place = Place(path, symbol.start_line)
        page, total = _callers(service, place, _MOST_NAMES)
        if page and total:
            names = ", ".join([caller_row(node).first for node in page.calls] + ["…"] * (total > len(page.calls)))
            name = name_text(page.definition.qualified_name, _LONGEST_NAME)
            rows.append(LinkRow(name, f"called by {total:,}: {names}", callers_of=place))
    if not symbols:
        return []
    checked = f"{len(symbols):,}" if len(symbols) <= _MOST_SYMBOLS else f"the first {_MOST_SYMBOLS}"
    noun = "symbol" if len(symbols) == 1 else "symbols"
    return [LinkRow(f"called: {len(rows):,} of {checked} {noun}", is_title=True), *rows]


def _callers(service: "Service", place: Place, most: int) -> "tuple[ReferencePage | None, int]":
    path, line = place
    request = ReferencesRequest(path=path, line=line, relation=ReferenceRelation.CALLERS, limit=most)
    results, _ = service.relation_page(request)
    return results.references, results.total
