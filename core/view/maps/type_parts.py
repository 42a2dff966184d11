"""Everything in a file that belongs to one type: its definitions, and the members that stand outside of them."""

import re
from collections.abc import Iterator
from functools import cached_property

from keyhole.core.deadline import paced
from keyhole.core.types.syntax import HOLDS_METHODS, Outline, Symbol

# These add to a type that may be defined in another scope or in another file.
_ADDS_TO_TYPES = frozenset(["extension", "impl"])
_TYPES = (HOLDS_METHODS | {"module", "namespace", "package", "type"}) - _ADDS_TO_TYPES
# What Rust writes before the name of a type: `impl Show for &'a mut Pool`.
_BEFORE_NAME = re.compile(r"^(?:[&*\s]|'\w+\s|(?:mut|const|dyn)\s)+")
# The arguments of a type, and the mark of one that may be null: `fun Box<T>?.close()` in Kotlin.
_ARGUMENTS = re.compile(r"[<?].*", re.DOTALL)

# How many names the end of a full name may have: code outside of `a::b::Pool` may call it `b::Pool`.
_LONGEST_ENDING = 4


class TypeParts:
    """Groups the symbols of one file by the type they belong to. A type is known by its full name."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._known: dict[str, tuple[Symbol, ...]] = {}

    def of_symbol(self, symbol: Symbol) -> tuple[Symbol, ...]:
        """Return all parts of the type that a symbol defines or adds to, in the order of the file."""
        parts_by_type, type_of = self._grouped
        full_name = type_of.get(id(symbol))
        return () if full_name is None else self._outermost(full_name, parts_by_type[full_name])

    def of_name(self, name: str) -> tuple[Symbol, ...]:
        """Return all parts of the first type with this name in any scope, preferably of one that is defined here."""
        parts_by_type, _ = self._grouped
        same = self._same_names.get(name, [])
        found = next((full_name for full_name in same if full_name in self._types), same[0] if same else None)
        return () if found is None else self._outermost(found, parts_by_type[found])

    @cached_property
    def _types(self) -> set[str]:
        return {_full_name(symbol) for symbol in self._outline.walk() if symbol.kind in _TYPES}

    @cached_property
    def _types_by_ending(self) -> dict[str, set[str]]:
        """The types whose full name ends with a name, or with a name and some of what is around it."""
        found: dict[str, set[str]] = {}
        for full_name in self._types:
            names = full_name.rsplit(".", _LONGEST_ENDING)[1:]
            for first in range(len(names)):
                found.setdefault(".".join(names[first:]), set()).add(full_name)
        return found

    @cached_property
    def _same_names(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for full_name in self._grouped[0]:
            found.setdefault(full_name.rpartition(".")[2], []).append(full_name)
        return found

    @cached_property
    def _grouped(self) -> tuple[dict[str, list[Symbol]], dict[int, str]]:
        """The parts of each type, and the type that each symbol defines or adds to."""
        placed = [(symbol, self._owner(symbol, scope)) for symbol, scope in _with_scopes(self._outline.symbols, "")]
        owners = {owner for _, owner in placed if owner}
        parts: dict[str, list[Symbol]] = {}
        type_of: dict[int, str] = {}
        for symbol, owner in paced(placed):
            defined = owner if symbol.kind in _ADDS_TO_TYPES else _full_name(symbol)
            is_type = defined in self._types or defined in owners
            if is_type:
                type_of[id(symbol)] = defined
            for full_name in filter(None, dict.fromkeys([owner, defined if is_type else ""])):
                parts.setdefault(full_name, []).append(symbol)
        return parts, type_of

    def _owner(self, symbol: Symbol, scope: str) -> str:
        """Return the type that a symbol belongs to though it does not stand inside it; empty if there is none."""
        if symbol.kind in _ADDS_TO_TYPES:
            return self._resolve(symbol.name, scope)
        is_outside = symbol.parent and symbol.parent != scope
        return self._resolve(symbol.parent.removeprefix(f"{scope}."), scope) if is_outside else ""

    def _resolve(self, written: str, scope: str) -> str:
        """Return the full name of a type as it is written in a scope: one around it, or the only one of that name."""
        name, around = _dotted(_bare(written)), _dotted(scope)
        nearest = _inside(around, name)
        while (full_name := _inside(around, name)) not in self._types:
            if not around:
                same = self._types_by_ending.get(name, set())
                return next(iter(same)) if len(same) == 1 else nearest
            around = around.rpartition(".")[0]
        return full_name

    def _outermost(self, full_name: str, parts: list[Symbol]) -> tuple[Symbol, ...]:
        """Leave out parts that stand inside others: they are shown there."""
        if full_name not in self._known:
            inner = {id(symbol) for part in parts for child in part.children for symbol in child.walk()}
            self._known[full_name] = tuple(part for part in parts if id(part) not in inner)
        return self._known[full_name]


def _with_scopes(symbols: tuple[Symbol, ...], scope: str) -> Iterator[tuple[Symbol, str]]:
    """Yield every symbol with the names of those it stands inside, in the order of the file."""
    for symbol in paced(symbols):
        yield symbol, scope
        yield from _with_scopes(symbol.children, _inside(scope, symbol.name))


def _full_name(symbol: Symbol) -> str:
    return _dotted(_inside(symbol.parent, symbol.name))


def _inside(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name


def _dotted(name: str) -> str:
    """Return a name with dots: Ruby may reopen a class as `class Zoo::Animal`."""
    return name.replace("::", ".")


def _bare(written: str) -> str:
    """Return a type without the marks of a reference before it and without arguments after it."""
    return _ARGUMENTS.sub("", _BEFORE_NAME.sub("", written)).strip()
