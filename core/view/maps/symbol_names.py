"""How requests name a symbol of a file, and how views name one so that a request finds it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from keyhole.core.deadline import paced
from keyhole.core.errors import ErrorKind, QueryError
from keyhole.core.notes import Note, NoteKind
from keyhole.core.types.syntax import Outline, Symbol
from keyhole.core.view.maps.type_parts import TypeParts
from keyhole.core.view.text import count_of, name_text

_LONGEST_REFERENCE = 60
_LINES_LISTED = 5


@dataclass(frozen=True, slots=True)
class Named:
    """What a reference names: one symbol, or the parts of a type that stand in several places of the file."""

    parts: tuple[Symbol, ...]
    is_spread: bool = False
    notes: tuple[Note, ...] = ()


class SymbolNames:
    """Finds the symbols of one file by dotted name, by name, or by first line."""

    def __init__(self, outline: Outline) -> None:
        by_dotted: dict[str, list[Symbol]] = {}
        by_name: dict[str, list[Symbol]] = {}
        by_line: dict[str, list[Symbol]] = {}
        for symbol in paced(outline.walk()):
            by_dotted.setdefault(dotted_name(symbol), []).append(symbol)
            by_name.setdefault(symbol.name, []).append(symbol)
            by_line.setdefault(str(symbol.start_line), []).append(symbol)
        self._tables: Sequence[Mapping[str, list[Symbol]]] = (by_dotted, by_name, by_line)
        self._by_dotted = by_dotted
        self._types = TypeParts(outline)

    def find(self, reference: str, path: str) -> Named:
        """Return what a reference names, with a note if other symbols have the same name."""
        found = self._matches(reference)
        if parts := self._parts(reference):
            is_spread = len(parts) > 1 or not self._types.of_symbol(parts[0])
            shown = {id(symbol) for part in parts for symbol in part.walk()}
            others = [symbol for symbol in found if id(symbol) not in shown]
            return Named(parts, is_spread, _same_name(others, is_spread=is_spread))
        if found:
            return Named((found[0],), notes=_same_name(found[1:], is_spread=False))
        where = name_text(path)
        raise QueryError(f"{where} has no symbol {name_text(reference)!r}", ErrorKind.NO_SYMBOL, path=where)

    def reference(self, symbol: Symbol) -> str:
        """Return a reference that finds this symbol, with the rest of its type; empty if there is none."""
        found = (name for name in _candidates(symbol) if any(part is symbol for part in self._shown(name)))
        return next(found, "")

    def exact_reference(self, symbol: Symbol) -> str:
        """Return a reference that finds this symbol and no other part of its type; empty if there is none."""
        for candidate in _candidates(symbol):
            shown = self._shown(candidate)
            if len(shown) == 1 and shown[0] is symbol:
                return candidate
        return ""

    def _shown(self, reference: str) -> Sequence[Symbol]:
        return self._parts(reference) or self._matches(reference)[:1]

    def _parts(self, reference: str) -> tuple[Symbol, ...]:
        """Return the parts of a type; a dotted name or a line means one symbol only."""
        if named := self._by_dotted.get(reference):
            whole = (self._types.of_symbol(symbol) for symbol in named if not symbol.parent)
            return next(filter(None, whole), ())
        return self._types.of_name(reference)

    def _matches(self, reference: str) -> list[Symbol]:
        return next((table[reference] for table in self._tables if reference in table), [])


def dotted_name(symbol: Symbol) -> str:
    """Return a symbol's name with the names of everything around it."""
    return f"{symbol.parent}.{symbol.name}" if symbol.parent else symbol.name


def _candidates(symbol: Symbol) -> Iterator[str]:
    name = dotted_name(symbol)
    if name.isprintable() and " " not in name and len(name) <= _LONGEST_REFERENCE:
        yield name
    yield str(symbol.start_line)


def _same_name(others: Sequence[Symbol], *, is_spread: bool) -> tuple[Note, ...]:
    if not others:
        return ()
    lines = ", ".join(str(symbol.start_line) for symbol in others[:_LINES_LISTED])
    if is_spread:
        text = f"{count_of(len(others), 'other symbol')} of this name not shown. Use symbol=LINE: {lines}"
    else:
        text = f"{len(others) + 1:,} symbols have this name; showing the first. For the others use symbol=LINE: {lines}"
    return (Note(NoteKind.SAME_NAME, text),)
