"""What a variable or member holds, as far as single names tell: `x = Item()`, `x: Item`, `def make() -> Item`.

Only names are followed, never the flow of a program. So a type that is found here makes a reference likely, never
certain.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.known_names import KnownNames
from keyhole.core.references.language_rules import rules_of
from keyhole.core.references.names_in_file import NO_SYMBOL, NOT_A_NAME, NamesInFile, role_set
from keyhole.core.syntax.occurrences import OccurrenceRole
from keyhole.core.types.syntax import HOLDS_METHODS

# How many names are followed: from a variable to the one that it is set to, to the function that returned it, …
_MOST_STEPS = 20
# How many classes up a member is looked for.
MOST_CLASSES = 100
_OWN = role_set(OccurrenceRole.DEFINITION, OccurrenceRole.LOCAL)
_LOCAL = role_set(OccurrenceRole.LOCAL)
_SET = role_set(OccurrenceRole.ASSIGNMENT)
_WRITTEN = role_set(OccurrenceRole.ASSIGNMENT, is_taken=True)
_CALLED = frozenset(["function", "method", "property", "getter"])


class Types(NamedTuple):
    """The classes that a value may be an instance of.

    `is_outside` means that a class from outside the workspace is among them, and `is_unknown` that not all are known.
    """

    holders: tuple[DefinitionRow, ...] = ()
    is_outside: bool = False
    is_unknown: bool = False


UNKNOWN = Types(is_unknown=True)
OUTSIDE = Types(is_outside=True)


class _Meaning(Protocol):
    @property
    def certainty(self) -> Certainty: ...
    @property
    def definitions(self) -> tuple[DefinitionRow, ...]: ...


class _Members(Protocol):
    @property
    def definitions(self) -> tuple[DefinitionRow, ...]: ...


class _Resolver(Protocol):
    """What types need of the resolver."""

    @property
    def known(self) -> KnownNames: ...
    def meaning(self, path: str, place: int) -> _Meaning: ...
    def members(self, holder: DefinitionRow, name: str) -> _Members: ...
    def bases(self, holder: DefinitionRow) -> _Members: ...
    def is_from_outside(self, path: str, place: int) -> bool: ...
    def holders_at(self, path: str, place: int) -> list[DefinitionRow]: ...


class ValueTypes:
    """Finds the types of values; each variable, member and function is looked at once."""

    def __init__(self, resolver: _Resolver) -> None:
        self._resolver = resolver
        self._variables: dict[tuple[str, int, str], Types] = {}
        self._attributes: dict[tuple[int, str], Types | None] = {}
        self._is_set: dict[tuple[int, str], bool] = {}
        self._results: dict[int, Types] = {}
        self._steps = 0

    def at(self, path: str, place: int) -> Types:
        """Return the types of what ends with the name at a place: `x`, `self.x` or `make`, if that is called."""
        names = self._resolver.known.names(path)
        if names is None or self._steps >= _MOST_STEPS:
            return UNKNOWN
        self._steps += 1
        try:
            return self._find(path, names, place)
        finally:
            self._steps -= 1

    def has_attribute(self, holder: DefinitionRow, name: str) -> bool:
        """Return whether a class or one of its bases sets a member of this name, which is no definition."""
        return any(self._sets(one, name) for one in self._with_bases(holder))

    def _sets(self, holder: DefinitionRow, name: str) -> bool:
        key = holder.id, name
        if key not in self._is_set:
            self._is_set[key] = bool(self._places(holder, name))
        return self._is_set[key]

    def _with_bases(self, holder: DefinitionRow) -> Iterator[DefinitionRow]:
        """Yield a class and what it inherits from, each once, since classes may extend each other."""
        pending, seen = [holder], set[int]()
        while pending and len(seen) < MOST_CLASSES:
            one = pending.pop()
            if one.id not in seen:
                seen.add(one.id)
                yield one
                pending += reversed(self._resolver.bases(one).definitions)

    def _find(self, path: str, names: NamesInFile, place: int) -> Types:
        role, receiver, name = names.role_at(place), names.receiver_at(place), names.name_at(place)
        rules = rules_of(self._resolver.known.language(path))
        if not receiver and (name in rules.self_words or name in rules.own_type_words):
            return self._around(path, names.line_at(place))
        if role in (OccurrenceRole.CALL, OccurrenceRole.TYPE) or (role is OccurrenceRole.BASE):
            return self._named(path, names, place)
        if not receiver:
            find = self._instance_variable if name.startswith("@") else self._variable
            return find(path, names, place, name)
        if receiver == NOT_A_NAME or not place or names.name_at(place - 1) != receiver:
            return UNKNOWN
        meaning = self._resolver.meaning(path, place)
        if meaning.definitions and meaning.certainty is not Certainty.BY_NAME:
            return self._together(map(self._of_definition, meaning.definitions))
        found = [self._attribute(holder, name) for holder in self.at(path, place - 1).holders]
        return self._together(types for types in found if types is not None) if any(found) else UNKNOWN

    def _named(self, path: str, names: NamesInFile, place: int) -> Types:
        """Return the type that a name stands for, or what a function of this name returns."""
        meaning = self._resolver.meaning(path, place)
        if meaning.definitions:
            is_sure = meaning.certainty is not Certainty.BY_NAME
            return self._together(map(self._of_definition, meaning.definitions)) if is_sure else UNKNOWN
        name = names.name_at(place)
        if name in rules_of(self._resolver.known.language(path)).open_types or names.is_type_parameter(name, place):
            return UNKNOWN
        is_class = names.role_at(place) is OccurrenceRole.TYPE or name[:1].isupper()
        return OUTSIDE if is_class and self._resolver.is_from_outside(path, place) else UNKNOWN

    def _of_definition(self, row: DefinitionRow) -> Types:
        if row.kind in HOLDS_METHODS:
            return Types((row,))
        if row.kind in _CALLED:
            return self._result(row)
        names = self._resolver.known.names(row.path)
        places = names.places_in_roles(row.name, _OWN) if names else []
        places = [place for place in places if names and names.line_at(place) == row.name_line]
        return self._held(row.path, names, places[:1]) if names else UNKNOWN

    def _result(self, row: DefinitionRow) -> Types:
        """Return what a function returns."""
        if row.id not in self._results:
            self._results[row.id] = UNKNOWN  # in case it calls itself
            names = self._resolver.known.names(row.path)
            symbol = names.symbol_named(row.name, row.name_line) if names else NO_SYMBOL
            if names and symbol != NO_SYMBOL:
                found = [self.at(row.path, place) for place in names.returned_by(symbol)]
                self._results[row.id] = self._together(found)
        return self._results[row.id]

    def _variable(self, path: str, names: NamesInFile, place: int, name: str) -> Types:
        rules = rules_of(self._resolver.known.language(path))
        scope = NO_SYMBOL
        if scopes := names.local_scopes(name):
            around = names.around(place) if rules.has_fields_as_variables else names.functions_around(place)
            scope = next((symbol for symbol in around if symbol in scopes), NO_SYMBOL)
        if scope == NO_SYMBOL and rules.includes and (field := self._field_around(path, place, name)) is not None:
            return field
        key = path, scope, name
        if key not in self._variables:
            self._variables[key] = UNKNOWN  # in case it is set to itself
            own = names.local_places(name, scope)
            self._variables[key] = self._held(path, names, own) if own else self._named(path, names, place)
        return self._variables[key]

    def _field_around(self, path: str, place: int, name: str) -> Types | None:
        """Return the types of a field whose method stands outside its class, as in C++; None if it is no field."""
        found = (self._attribute(holder, name) for holder in self._resolver.holders_at(path, place))
        return next((types for types in found if types is not None), None)

    def _instance_variable(self, path: str, names: NamesInFile, place: int, name: str) -> Types:
        """Return what the class around a place in Ruby sets a variable such as `@item` to."""
        holder = next((symbol for symbol in names.around(place) if names.is_holder(symbol)), NO_SYMBOL)
        key = path, holder, name
        if key not in self._variables:
            self._variables[key] = UNKNOWN  # in case it is set to itself
            inside = names.inside(holder) if holder != NO_SYMBOL else range(0)
            written = [one for one in names.places_in_roles(name, _SET) if one in inside]
            self._variables[key] = self._held(path, names, written)
        return self._variables[key]

    def _held(self, path: str, names: NamesInFile, places: Iterable[int]) -> Types:
        """Return the types of all that is assigned at these places."""
        found = []
        qualifiers = rules_of(self._resolver.known.language(path)).type_qualifiers
        for place in places:
            values = names.values_of(place)
            if not values:
                found.append(UNKNOWN)
                continue
            types = [value for value in values if names.role_at(value) is OccurrenceRole.TYPE]
            declared = [value for value in types if names.name_at(value) not in qualifiers]
            assigned = [value for value in values if value not in types]
            found += [self.at(path, value) for value in declared or assigned] or [UNKNOWN]
        return self._together(found)

    def _attribute(self, holder: DefinitionRow, name: str) -> Types | None:
        """Return the types of a member that a class or one of its bases sets or defines; None if there is none."""
        for one in self._with_bases(holder):
            key = one.id, name
            if key not in self._attributes:
                self._attributes[key] = None  # in case it is set to itself
                self._attributes[key] = self._own_attribute(one, name)
            if (types := self._attributes[key]) is not None:
                return types
        return None

    def _own_attribute(self, holder: DefinitionRow, name: str) -> Types | None:
        names, places = self._resolver.known.names(holder.path), self._places(holder, name)
        if names is not None and places:
            found = [self._held(holder.path, names, [place]) for place in places]
            # Often a member is None at first, and one place says what else it can be.
            known = [types for types in found if not types.is_unknown]
            return self._together(known) if known else UNKNOWN
        rows = [row for row in self._resolver.members(holder, name).definitions if row.kind in _CALLED]
        return self._together(map(self._result, rows)) if rows else None

    def _places(self, holder: DefinitionRow, name: str) -> list[int]:
        """Return where a class sets or declares a member."""
        names = self._resolver.known.names(holder.path)
        symbol = names.symbol_named(holder.name, holder.name_line) if names else NO_SYMBOL
        if names is None or symbol == NO_SYMBOL:
            return []
        inside, self_words = names.inside(symbol), rules_of(holder.language).self_words
        if rules_of(holder.language).has_namespaces:
            return self._properties(names, symbol, name)
        declared = names.local_places(name, symbol)
        written = [place for place in names.places_in_roles(name, _WRITTEN) if place in inside]
        return declared + [place for place in written if names.receiver_at(place) in self_words]

    def _properties(self, names: NamesInFile, symbol: int, name: str) -> list[int]:
        """Return where a class of PHP declares a property: in its body, or as a parameter of its constructor."""
        declared = [place for place in names.places_in_roles(f"${name}", _LOCAL) if place in names.inside(symbol)]
        constructors = [names.symbol_at(place) for place in names.places_in_roles("__construct", _OWN)]
        return [place for place in declared if names.symbol_at(place) in (symbol, *constructors)]

    def _around(self, path: str, line: int) -> Types:
        """Return the class around a line."""
        rows = [row for row in self._resolver.known.holders(path) if row.start_line <= line <= row.end_line]
        rows = [row for row in rows if row.kind in HOLDS_METHODS]
        return Types((rows[-1],)) if rows else UNKNOWN

    @staticmethod
    def _together(found: Iterable[Types]) -> Types:
        every = list(found)
        if len(every) <= 1:
            return every[0] if every else UNKNOWN
        holders = {row.id: row for types in every for row in types.holders}
        is_outside = any(types.is_outside for types in every)
        return Types(tuple(holders.values()), is_outside, any(types.is_unknown for types in every))
