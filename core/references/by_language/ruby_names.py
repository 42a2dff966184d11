"""Ruby: constants are looked for in the modules around them, and calls need no brackets."""

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.file_names import FileNames
from keyhole.core.references.name_meaning import CALLED, NOTHING, NameMeaning, by_name, by_number, certain
from keyhole.core.references.ruby_constants import full_name_as_written, full_names
from keyhole.core.syntax.occurrences import OccurrenceRole


class RubyNames(FileNames):
    """Names in Ruby."""

    def _in_code(self, place: int, receiver: str, candidates: list[DefinitionRow]) -> NameMeaning:
        if _is_constant(self._names.name_at(place)):
            return self._constant(place, candidates)
        is_variable = self._names.role_at(place) is OccurrenceRole.MENTION
        return NOTHING if is_variable else super()._in_code(place, receiver, candidates)

    def _holders_of_self(self, place: int) -> list[DefinitionRow]:
        # The members of outer classes are not those of `self`.
        return super()._holders_of_self(place)[:1]

    def _unreached(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning:
        # Blocks may change `self`, so a call without a receiver can mean any method.
        functions = [row for row in candidates if not self._resolver.is_member(row)]
        return by_number(functions) if functions and not self.holders(place) else by_name(candidates)

    def _is_class_from_outside(self, place: int) -> bool:
        return _is_constant(self._names.name_at(place)) and self._is_outside(place)

    def _constant(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning:
        """Return what a constant of Ruby means: it is looked for in the modules around it, then in the base classes."""
        rows = [row for row in candidates if row.kind not in CALLED]
        if self._names.role_at(place) is OccurrenceRole.BASE:
            line = self._names.line_at(place)
            rows = [row for row in rows if row.path != self._path or row.name_line != line]
        holders = self.holders(place)
        for full_name in full_names(self._names, place, holders):
            if found := [row for row in rows if row.qualified_name == full_name]:
                return _of_one_name(found, self._path)
        if not self._names.receiver_at(place) and holders:
            found = list(self._resolver.members(holders[0], self._names.name_at(place)).definitions)
            return certain(found) if found else by_name(rows)
        is_outside = self._is_outside(place)
        return NOTHING if is_outside else by_name(rows)

    def _is_outside(self, place: int) -> bool:
        """Return whether a constant is taken from one that the workspace does not define."""
        first = full_name_as_written(self._names, place)[0]
        return _is_constant(first) and not self._resolver.known.definitions(first, self._family)


def _of_one_name(rows: list[DefinitionRow], path: str) -> NameMeaning:
    """Return definitions of one full name: parts of one class, or outside modules, maybe those of several programs."""
    is_one = "." in rows[0].qualified_name or all(row.kind == "module" for row in rows)
    if is_one or len({row.path for row in rows}) == 1:
        return certain(rows)
    own = [row for row in rows if row.path == path]
    return certain(own) if own else by_name(rows)


def _is_constant(name: str) -> bool:
    return name[:1].isupper()
