"""C and C++: headers bring every name, prototypes belong to their functions, and macros may change what is read."""

from functools import cached_property

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.file_names import FileNames
from keyhole.core.references.name_meaning import (
    NOTHING,
    NameMeaning,
    by_name,
    by_number,
    certain,
    count_things,
    is_static,
    same_thing,
)
from keyhole.core.references.names_in_file import role_set
from keyhole.core.syntax.occurrences import OccurrenceRole

_ALIAS = role_set(OccurrenceRole.ALIAS)


class CNames(FileNames):
    """Names in C and C++."""

    def meaning(self, place: int) -> NameMeaning:
        """Return what the name at a place may mean."""
        found = super().meaning(place)
        return by_name(found.definitions) if found.definitions and self._is_up_to_macros(place, found) else found

    def _candidates(self, place: int) -> list[DefinitionRow]:
        rows = super()._candidates(place)
        if not self._names.name_at(place).isupper():
            return rows
        # Where a macro stands before a block, the grammar takes it for a function.
        return [row for row in rows if row.kind == "macro"] or rows

    def _imported(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning:
        top = [row for row in candidates if not self._resolver.is_member(row)]
        named = [row for row in top if _is_named(row, self._names.dotted(place))]
        return certain(named) if named else by_number(top)

    def _in_file(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning | None:
        found = super()._in_file(place, candidates)
        if found is None:
            return None
        # A prototype in this file is that of the function itself.
        things = set(map(same_thing, found.definitions))
        others = [row for row in candidates if row.path != self._path and same_thing(row) in things]
        rows = (*found.definitions, *others)
        return certain(rows) if len(things) == 1 else by_name(rows)

    def _elsewhere(self, _: int, candidates: list[DefinitionRow]) -> NameMeaning | None:
        """Return what the headers that the file includes declare."""
        rows = [row for row in candidates if not is_static(row) and not self._resolver.is_member(row)]
        things = {same_thing(row) for row in rows if self._resolver.reaches(self._path, [row.path])}
        return certain(row for row in rows if same_thing(row) in things) if len(things) == 1 else None

    def _unreached(self, _: int, candidates: list[DefinitionRow]) -> NameMeaning:
        rows = [row for row in candidates if not self._resolver.is_member(row)]
        return by_number([row for row in rows if row.path == self._path or not is_static(row)])

    def _of_space(self, place: int, receiver: str) -> NameMeaning | None:
        return self._of_alias(place, receiver) or super()._of_space(place, receiver)

    def _in_space(self, place: int, receiver: str, before: NameMeaning) -> NameMeaning | None:
        rows = self._resolver.known.definitions(self._names.name_at(place), self._family)
        rows = [row for row in rows if row.parent.rpartition(".")[2] == receiver]
        if rows and not any(map(self._resolver.is_member, rows)):
            rows = [row for row in rows if _is_named(row, self._names.dotted(place))] or rows
            rows = [row for row in rows if self._resolver.reaches(self._path, [row.path])] or rows
            return certain(rows) if count_things(rows) == 1 else by_name(rows)
        # What else is in a namespace are no symbols, such as the values of an enum.
        is_space = receiver == "std" or any(row.kind == "namespace" for row in before.definitions)
        return NOTHING if is_space else None

    def holders(self, place: int) -> list[DefinitionRow]:
        """Return the classes around the place, the innermost first."""
        return super().holders(place) or self._fixture(place)

    def _fixture(self, place: int) -> list[DefinitionRow]:
        """Return the class of a test that is written as a macro: `TEST_F(ItemTest, IsEmpty) { … }`."""
        names = self._names
        for symbol in names.functions_around(place):
            first = names.inside(symbol).start
            if names.name_at(first) in self._rules.fixture_macros and first + 1 < names.count:
                return [row for row in self._type_of(names.name_at(first + 1)) if row.path == self._path]
        return []

    def _of_alias(self, place: int, receiver: str) -> NameMeaning | None:
        """Return what a name means after another name for its namespace: `namespace words = draw::text`."""
        aliases = self._names.places_in_roles(receiver, _ALIAS)
        for alias in aliases:
            last = alias + 1
            while self._names.is_continued(last):
                last += 1
            whole = f"{self._names.dotted(last)}.{self._names.name_at(place)}"
            rows = self._resolver.known.definitions(self._names.name_at(place), self._family)
            if found := [row for row in rows if _is_named(row, whole)]:
                return certain(found)
        return None

    def _is_up_to_macros(self, place: int, found: NameMeaning) -> bool:
        """Return whether macros decide what a name means: where one is used, or which of two definitions is read."""
        kinds = {row.kind for row in found.definitions}
        return ("macro" in kinds and len(kinds) > 1) or self._names.line_at(place) in self._macro_lines

    @cached_property
    def _macro_lines(self) -> frozenset[int]:
        """The lines of the macros that the file defines."""
        rows = [row for row in self._resolver.known.definitions_in(self._path) if row.kind == "macro"]
        return frozenset(line for row in rows for line in range(row.start_line, row.end_line + 1))


def _is_named(row: DefinitionRow, dotted: str) -> bool:
    """Return whether a name that starts from some namespace is that of a definition: `draw::Circle`."""
    return f".{row.qualified_name}".endswith(f".{dotted}")
