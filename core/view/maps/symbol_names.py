"""How requests name a symbol of a file, and how views name one so that a request finds it."""

from collections.abc import Mapping, Sequence

from keyhole.core.errors import ErrorKind, QueryError
from keyhole.core.notes import Note, NoteKind
from keyhole.core.types import Outline, Symbol
from keyhole.core.view.text import name_text

_LONGEST_REFERENCE = 60
_LINES_LISTED = 5


class SymbolNames:
    """Finds the symbols of one file by dotted name, by name, or by first line."""

    def __init__(self, outline: Outline) -> None:
        by_dotted: dict[str, list[Symbol]] = {}
        by_name: dict[str, list[Symbol]] = {}
        by_line: dict[str, list[Symbol]] = {}
        for symbol in outline.walk():
            by_dotted.setdefault(dotted_name(symbol), []).append(symbol)
            by_name.setdefault(symbol.name, []).append(symbol)
            by_line.setdefault(str(symbol.start_line), []).append(symbol)
        self._tables: Sequence[Mapping[str, list[Symbol]]] = (by_dotted, by_name, by_line)

    def find(self, reference: str, path: str) -> tuple[Symbol, list[Note]]:
        """Return the symbol that a reference names, with a note if several match."""
        found = self._matches(reference)
        if not found:
            shown = name_text(path)
            raise QueryError(f"{shown} has no symbol {name_text(reference)!r}", ErrorKind.NO_SYMBOL, path=shown)
        if len(found) == 1:
            return found[0], []
        lines = ", ".join(str(symbol.start_line) for symbol in found[1 : _LINES_LISTED + 1])
        text = f"{len(found):,} symbols have this name; showing the first. For the others use symbol=LINE: {lines}"
        return found[0], [Note(NoteKind.SAME_NAME, text)]

    def reference(self, symbol: Symbol) -> str:
        """Return a reference that finds this symbol; empty if there is none."""
        name = dotted_name(symbol)
        is_plain = name.isprintable() and " " not in name and len(name) <= _LONGEST_REFERENCE
        for candidate in ([name] if is_plain else []) + [str(symbol.start_line)]:
            if self._matches(candidate)[0] is symbol:
                return candidate
        return ""

    def _matches(self, reference: str) -> list[Symbol]:
        return next((table[reference] for table in self._tables if reference in table), [])


def dotted_name(symbol: Symbol) -> str:
    """Return a symbol's name with the names of everything around it."""
    return f"{symbol.parent}.{symbol.name}" if symbol.parent else symbol.name
