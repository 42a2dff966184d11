"""Reading the record of a file's names, which syntax/occurrences.py packs."""

from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from keyhole.core.index.single_threaded import single_threaded
from keyhole.core.syntax.occurrences import (
    FUNCTION,
    HAS_RECEIVER,
    HEADER,
    HOLDER,
    IS_ENTERED,
    IS_RETURNED,
    IS_VALUE,
    MARK_BITS,
    NARROW,
    OTHER,
    ROLE_BITS,
    UNNAMED,
    UNNAMED_FUNCTION,
    OccurrenceRole,
)

with single_threaded():
    import numpy as np
    from numpy.typing import NDArray

# The receiver of `make().name`.
NOT_A_NAME = "…"
# Stands for the code outside any symbol.
NO_SYMBOL = -1
# The role of each number that a role is recorded as, whatever its marks.
ROLES = tuple(OccurrenceRole(min(number & ROLE_BITS, max(OccurrenceRole))) for number in range(2 * HAS_RECEIVER))
# What names that are taken from nothing have as their role.
_ALONE = bytes(range(HAS_RECEIVER))
_IMPORTED = (OccurrenceRole.IMPORT, OccurrenceRole.ALIAS)
# A name of one of these roles starts something else that may have a type.
STARTS_OTHER = frozenset(map(int, [OccurrenceRole.LOCAL, OccurrenceRole.ASSIGNMENT, OccurrenceRole.DEFINITION]))
# How many names after or before a variable are looked at to find where its type comes from.
LONGEST_VALUE = 12
# Of more places, all rows are counted at once.
_MANY = 4_000
FUNCTIONS = frozenset([FUNCTION, UNNAMED_FUNCTION])
_SIZES = {"H": 2, "I": 4}

Numbers = NDArray[np.int64]
# Bytes are the fastest; a memoryview has greater numbers.
Column = bytes | memoryview
# For each number that a role is recorded as: 1 if it is one of the wanted roles.
RoleSet = bytes


def role_set(*roles: OccurrenceRole, is_taken: bool = False) -> RoleSet:
    """Return these roles, with any mark, as a set; `is_taken` wants those of names that are taken from something."""
    wanted = bytearray(2 * HAS_RECEIVER)
    for role in roles:
        for mark in (0, IS_VALUE, IS_ENTERED, IS_RETURNED):
            wanted[role | mark | (HAS_RECEIVER if is_taken else 0)] = 1
    return bytes(wanted)


_ARGUMENT = role_set(OccurrenceRole.ARGUMENT)
_LOCAL = role_set(OccurrenceRole.LOCAL, OccurrenceRole.OUTER)
_FIELD = role_set(OccurrenceRole.LOCAL, OccurrenceRole.ARGUMENT)
_MEMBER_SET = role_set(OccurrenceRole.ASSIGNMENT, is_taken=True)
_TYPE_PARAMETER = role_set(OccurrenceRole.TYPE_PARAMETER)


class NamesInFile:
    """The names of one file; columns are only read when they are needed."""

    __slots__ = (
        "_columns",
        "_firsts",
        "_known_local_places",
        "_known_locals",
        "_known_places",
        "_known_type_parameters",
        "_last_row",
        "_lasts",
        "_name_of",
        "_names",
        "_names_end",
        "_outward",
        "_receivers",
        "_record",
        "_rows",
        "_scopes",
        "_steps",
        "roles",
    )

    def __init__(self, record: bytes) -> None:
        # A question opens hundreds of files, so this does no more than it must.
        _, codes, size, places, receivers, symbols = HEADER.unpack_from(record)
        self._record = record
        self._names_end = roles = HEADER.size + size
        columns, scopes = roles + places, roles + 2 * places
        wide = scopes + symbols
        self.roles: bytes = record[roles:columns]
        self._columns: bytes = record[columns:scopes]
        self._scopes: bytes = record[scopes:wide]
        self._name_of: Column
        self._receivers: Column
        self._steps: Column
        self._firsts: Column
        self._lasts: Column
        self._outward: Column
        if codes == NARROW:
            # Single bytes, as most files have them.
            self._name_of = record[wide : (end := wide + places)]
            self._receivers = record[end : (end := end + receivers)]
            self._steps = record[end : (end := end + places)]
            self._firsts = record[end : (end := end + symbols)]
            self._lasts = record[end : (end := end + symbols)]
            self._outward = record[end : end + symbols]
        else:
            lengths = places, receivers, places, symbols, symbols, symbols
            self._name_of, self._receivers, self._steps, self._firsts, self._lasts, self._outward = _wide_columns(
                codes, record, wide, lengths
            )
        self._names: list[str] | None = None
        self._rows: Numbers | None = None
        self._last_row = -1, 0
        self._known_places: dict[str, list[int]] = {}
        self._known_locals: dict[str, dict[int, int]] = {}
        self._known_local_places: dict[tuple[str, int], list[int]] = {}
        self._known_type_parameters: dict[str, set[int]] = {}

    def __contains__(self, name: str) -> bool:
        return bool(self.places(name))

    @property
    def count(self) -> int:
        """How many places there are."""
        return len(self._name_of)

    # Places

    def places(self, name: str, number: int | None = None) -> list[int]:
        """Return where a name stands, in order; its number saves looking for it."""
        known = self._known_places.get(name)
        if known is None:
            number = self._number(name) if number is None else number
            known = self._known_places[name] = _places_of(self._name_of, number) if number >= 0 else []
        return known

    def places_in_roles(self, name: str, roles: RoleSet) -> list[int]:
        """Return where a name has one of these roles, in order."""
        recorded = self.roles
        return [place for place in self.places(name) if roles[recorded[place]]]

    def name_numbered(self, number: int) -> str:
        """Return the name that `taken_from` gives a number."""
        return NOT_A_NAME if number == UNNAMED else self._split_names()[number - 1]

    def number_at(self, place: int) -> int:
        """Return the number of the name at a place."""
        return self._name_of[place]

    def name_at(self, place: int) -> str:
        """Return the name at a place."""
        return (self._names or self._split_names())[self._name_of[place]]

    def role_at(self, place: int) -> OccurrenceRole:
        """Return the role at a place."""
        return ROLES[self.roles[place]]

    def line_at(self, place: int) -> int:
        """Return the line of a place."""
        if self._rows is None and len(self._steps) > _MANY:
            self._count_rows()
        if self._rows is not None:
            return self._rows.item(place) + 1
        # Mostly a few places of a file are asked for, in order.
        last, row = self._last_row
        row = row + sum(self._steps[last + 1 : place + 1]) if place >= last else sum(self._steps[: place + 1])
        self._last_row = place, row
        return row + 1

    def column_at(self, place: int) -> int:
        """Return the column of a place in bytes, from 0; LAST_COLUMN stands for all beyond."""
        return self._columns[place]

    def receiver_at(self, place: int) -> str:
        """Return what the name at a place is taken from, as written; empty if it stands alone."""
        if self.roles[place] < HAS_RECEIVER:
            return ""
        return self.name_numbered(self.receiver_number(place))

    def receiver_number(self, place: int) -> int:
        """Return the number of what the name at a place is taken from; it must have a receiver."""
        # Counting the names with a receiver up to a place, or from it on, is faster than a table for all places.
        roles = self.roles
        if place * 2 < len(roles):
            return self._receivers[len(roles[:place].translate(None, _ALONE))]
        return self._receivers[-len(roles[place:].translate(None, _ALONE))]

    def taken_from(self, place: int) -> tuple[int, ...]:
        """Return the numbers of the names before a name, as in `a.b.name`, the nearest first."""
        if self.roles[place] < HAS_RECEIVER:
            return ()
        found: list[int] = []
        while self.roles[place] >= HAS_RECEIVER:
            found.append(self.receiver_number(place))
            if found[-1] == UNNAMED or not place:
                break
            place -= 1
        return tuple(found)

    def places_in_role(self, role: OccurrenceRole) -> list[int]:
        """Return the places of all names in a role, in order."""
        return _indices(_numbers(self.roles) & ROLE_BITS == role)

    def is_continued(self, place: int) -> bool:
        """Return whether the next name is taken from the one at a place."""
        return place + 1 < self.count and self._is_taken_from_last(place + 1)

    def dotted(self, place: int) -> str:
        """Return the name at a place with the names before it, such as `package.module`."""
        parts = [self.name_at(place)]
        while self._is_taken_from_last(place):
            place -= 1
            parts.append(self.name_at(place))
        return ".".join(reversed(parts))

    def name_before_braces(self, place: int) -> int | None:
        """Return the place of the name before the braces around an imported name; None if it is not in braces."""
        receiver = self.receiver_at(place)
        if not receiver or self._is_taken_from_last(place):
            return None
        return next((one for one in reversed(self.places(receiver)) if one < place), None)

    def is_renamed(self, place: int) -> bool:
        """Return whether an import gives the name at a place another one, which follows it."""
        roles = self.roles
        if roles[place] & ROLE_BITS != OccurrenceRole.IMPORT or place + 1 >= len(roles):
            return False
        # The other name of a Go import stands before it, so the one on the next line is another import's.
        return roles[place + 1] & ROLE_BITS == OccurrenceRole.ALIAS and self.line_at(place) == self.line_at(place + 1)

    def new_names(self, name: str) -> list[str]:
        """Return what imports of the file call a name instead: `b` for `a` in `import a as b`."""
        return [self.name_at(place + 1) for place in self.places(name) if self.is_renamed(place)]

    def has_imports_between(self, first: int, end: int) -> bool:
        """Return whether imported names stand on the lines from `first` up to `end`."""
        rows = self._count_rows() if self._rows is None else self._rows
        start, stop = np.searchsorted(rows, [first - 1, end - 1])
        return any(self.role_at(place) in _IMPORTED for place in range(start, stop))

    # Where types come from

    def values_of(self, place: int) -> list[int]:
        """Return the names that say what the variable at a place holds: those of its declared type, and its value."""
        after, before = (
            self.roles[place + 1 : place + 1 + LONGEST_VALUE],
            self.roles[max(0, place + 1 - LONGEST_VALUE) : place],
        )
        return [place + distance for distance in value_distances(after, before)]

    def returned_by(self, symbol: int) -> list[int]:
        """Return the names that say what a function returns: its declared type, or else what its body returns."""
        inside = self.inside(symbol)
        marks = _numbers(self.roles)[inside.start : inside.stop] & MARK_BITS
        places = [inside.start + number for number in _indices(marks == IS_RETURNED)]
        found = [place for place in places if self.symbol_at(place) == symbol]
        declared = [place for place in found if self.roles[place] & ROLE_BITS == OccurrenceRole.TYPE]
        return declared or found

    # Symbols, by their number in the file

    def symbol_at(self, place: int) -> int:
        """Return the innermost symbol around a place."""
        symbol = bisect_right(self._firsts, place) - 1
        while symbol != NO_SYMBOL and self._lasts[symbol] <= place:
            outward = self._outward[symbol]
            symbol = symbol - outward if outward else NO_SYMBOL
        return symbol

    def around(self, place: int) -> list[int]:
        """Return the symbols around a place, the innermost first."""
        found: list[int] = []
        symbol = bisect_right(self._firsts, place) - 1
        while symbol != NO_SYMBOL:
            if self._lasts[symbol] > place:
                found.append(symbol)
            outward = self._outward[symbol]
            symbol = symbol - outward if outward else NO_SYMBOL
        return found

    def functions_around(self, place: int) -> list[int]:
        """Return the functions around a place, the innermost first."""
        scopes = self._scopes
        return [symbol for symbol in self.around(place) if scopes[symbol] in FUNCTIONS]

    def scopes_around(self, place: int) -> list[int]:
        """Return the functions and classes around a place, the innermost first."""
        return [symbol for symbol in self.around(place) if self._scopes[symbol] != OTHER]

    def inside(self, symbol: int) -> range:
        """Return the places inside a symbol."""
        return range(self._firsts[symbol], self._lasts[symbol])

    def lines_of(self, symbol: int) -> range:
        """Return the lines of a symbol, from the first that has a name to the last."""
        return range(self.line_at(self._firsts[symbol]), self.line_at(self._lasts[symbol] - 1) + 1)

    def is_holder(self, symbol: int) -> bool:
        """Return whether a symbol has members, as a class has."""
        return symbol != NO_SYMBOL and self._scopes[symbol] == HOLDER

    def symbol_named(self, name: str, line: int) -> int:
        """Return the symbol whose name stands on a line."""
        for place in self.places(name):
            if self.role_at(place) is OccurrenceRole.DEFINITION and self.line_at(place) == line:
                return next((symbol for symbol in self.around(place) if not self.is_unnamed(symbol)), NO_SYMBOL)
        return NO_SYMBOL

    def is_unnamed(self, symbol: int) -> bool:
        """Return whether a function has no name, so that it is no symbol of the file."""
        return self._scopes[symbol] == UNNAMED_FUNCTION

    def scope_of(self, name: str, line: int) -> int:
        """Return the function in which the symbol whose name stands on a line is defined."""
        symbol = self.symbol_named(name, line)
        if symbol == NO_SYMBOL:
            return NO_SYMBOL
        around = self.functions_around(self._firsts[symbol])
        return next((other for other in around if other < symbol), NO_SYMBOL)

    def is_inside_function(self, name: str, line: int) -> bool:
        """Return whether the symbol whose name stands on a line is inside a function."""
        return self.scope_of(name, line) != NO_SYMBOL

    def bases_of(self, symbol: int) -> list[int]:
        """Return the places of what a class extends."""
        places = self.inside(symbol) if symbol != NO_SYMBOL else range(0)
        bases = [place for place in places if self.roles[place] & ROLE_BITS == OccurrenceRole.BASE]
        return [place for place in bases if self.symbol_at(place) == symbol]

    def has_member_set(self, name: str, self_words: frozenset[str]) -> bool:
        """Return whether a class of the file sets a member of this name: `self.name = …`."""
        return any(self.receiver_at(place) in self_words for place in self.places_in_roles(name, _MEMBER_SET))

    def has_field(self, name: str) -> bool:
        """Return whether a class of the file has a field of this name."""
        return any(self.is_holder(self.symbol_at(place)) for place in self.places_in_roles(name, _FIELD))

    def is_type_parameter(self, name: str, place: int) -> bool:
        """Return whether a function or class around a place has a type parameter of this name."""
        known = self._known_type_parameters.get(name)
        if known is None:
            places = self.places_in_roles(name, _TYPE_PARAMETER)
            known = self._known_type_parameters[name] = {self.symbol_at(one) for one in places}
        return bool(known) and not known.isdisjoint(self.around(place))

    def has_argument(self, name: str, symbol: int) -> bool:
        """Return whether a name inside a symbol is one of its own, such as a variant of an enum."""
        inside = self.inside(symbol) if symbol != NO_SYMBOL else range(0)
        return any(place in inside for place in self.places_in_roles(name, _ARGUMENT))

    def local_before_name(self, symbol: int) -> str:
        """Return the variable that stands before the name of a function, as in `func (s *Server) Run()`, or nothing."""
        for place in self.inside(symbol):
            if self.role_at(place) is OccurrenceRole.LOCAL:
                return self.name_at(place)
            if self.role_at(place) is OccurrenceRole.DEFINITION:
                break
        return ""

    # Columns of the record

    def _number(self, name: str) -> int:
        """Return the number of a name, or -1."""
        start = self._record.find(f"\n{name}\n".encode(), HEADER.size, self._names_end)
        return self._record.count(b"\n", HEADER.size, start) if start >= 0 else -1

    def _split_names(self) -> list[str]:
        """Return every name once, in the order of their numbers."""
        if self._names is None:
            self._names = self._record[HEADER.size + 1 : self._names_end - 1].decode("utf-8", "replace").split("\n")
        return self._names

    def _is_taken_from_last(self, place: int) -> bool:
        return place > 0 and self.roles[place] >= HAS_RECEIVER and self.receiver_at(place) == self.name_at(place - 1)

    def local_scopes(self, name: str) -> dict[int, int]:
        """Return the functions in which a name is a parameter or variable, each with its first line.

        Classes that have it as a field are among them. Functions that share the name with the code around them are
        left out.
        """
        known = self._known_locals.get(name)
        if known is None:
            known = self._known_locals[name] = self._find_local_scopes(name)
        return known

    def local_places(self, name: str, scope: int) -> list[int]:
        """Return where a name becomes a variable of a function, a class or, for NO_SYMBOL, the file."""
        self.local_scopes(name)
        return self._known_local_places.get((name, scope), [])

    def variable_at(self, name: str, place: int) -> list[int] | None:
        """Return where a name becomes the variable of a function around a place that it stands for there.

        None if it is no such variable, or if it takes `local_scopes` to tell.
        """
        roles = self.roles
        starts = [one for one in self.places(name) if _LOCAL[roles[one]]]
        if not starts or OccurrenceRole.OUTER in [roles[one] & ROLE_BITS for one in starts]:
            return None
        for symbol in self.functions_around(place):
            first, last = self._firsts[symbol], self._lasts[symbol]
            if own := [one for one in starts if first <= one < last and self._scope_of_variable(one) == symbol]:
                return own
        return None

    def _find_local_scopes(self, name: str) -> dict[int, int]:
        places = self.places_in_roles(name, _LOCAL)
        if not places:
            return {}
        scopes: dict[int, int] = {}
        shared = {NO_SYMBOL}
        for place in places:
            scope = self._scope_of_variable(place)
            if self.roles[place] & ROLE_BITS == OccurrenceRole.LOCAL:
                if scope not in scopes:
                    scopes[scope] = self.line_at(place)
                self._known_local_places.setdefault((name, scope), []).append(place)
            else:
                shared.add(scope)
        return {scope: line for scope, line in scopes.items() if scope not in shared}

    def _scope_of_variable(self, place: int) -> int:
        """Return the class whose body a place is in, or else the innermost function around it."""
        symbol = self.symbol_at(place)
        if symbol == NO_SYMBOL or self._scopes[symbol] == HOLDER:
            return symbol
        while symbol != NO_SYMBOL and not (self._lasts[symbol] > place and self._scopes[symbol] in FUNCTIONS):
            outward = self._outward[symbol]
            symbol = symbol - outward if outward else NO_SYMBOL
        return symbol

    def _count_rows(self) -> Numbers:
        """Return the rows of all places, counted from 0."""
        rows: Numbers = _numbers(self._steps).cumsum(dtype=np.int64)
        self._rows = rows
        return rows


@lru_cache(10_000)
def value_distances(after: bytes, before: bytes) -> tuple[int, ...]:
    """Return how far from a variable the names are that say what it holds, by the roles of the names near it."""
    found: list[int] = []
    for distance, recorded in enumerate(after, 1):
        mark = recorded & MARK_BITS
        if mark == IS_VALUE:
            found.append(distance)
        elif mark == IS_RETURNED or recorded & ROLE_BITS in STARTS_OTHER:
            break
    return tuple(found) or _entered(before)


def _entered(before: bytes) -> tuple[int, ...]:
    found: list[int] = []
    for distance, recorded in enumerate(reversed(before), 1):
        if recorded & MARK_BITS == IS_ENTERED:
            found.append(-distance)
        if recorded & ROLE_BITS in STARTS_OTHER:
            break
    return tuple(found)


def _wide_columns(codes: bytes, record: bytes, start: int, lengths: Iterable[int]) -> list[Column]:
    """Return columns of which some have numbers of several bytes."""
    names, steps, spans, outward = map(chr, codes)
    whole = memoryview(record)
    columns: list[Column] = []
    for code, length in zip((names, names, steps, spans, spans, outward), lengths, strict=True):
        if code == "B":
            end = start + length
            columns.append(record[start:end])
        else:
            end = start + length * _SIZES[code]
            columns.append(whole[start:end].cast("H" if code == "H" else "I"))
        start = end
    return columns


def _numbers(column: Column) -> NDArray[Any]:
    return np.frombuffer(column, np.uint8) if isinstance(column, bytes) else np.asarray(column)


def _places_of(column: Column, number: int) -> list[int]:
    """Return where a number is in a column."""
    if not isinstance(column, bytes):
        return _indices(_numbers(column) == number)
    # As in most files; a name has few places in these, so this takes a third of the time.
    places = []
    place = column.find(number)
    while place >= 0:
        places.append(place)
        place = column.find(number, place + 1)
    return places


def _indices(chosen: NDArray[np.bool_]) -> list[int]:
    indices: list[int] = chosen.nonzero()[0].tolist()
    return indices
