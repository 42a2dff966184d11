"""Swift: the files of a module see each other, and imports bring whole modules."""

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.file_names import FileNames
from keyhole.core.references.name_meaning import NameMeaning, by_name, certain, same_thing
from keyhole.core.references.swift_modules import is_seen, module_name, module_of
from keyhole.core.syntax.occurrences import OccurrenceRole


class SwiftNames(FileNames):
    """Names in Swift."""

    def _elsewhere(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning | None:
        found = self._in_module(candidates)
        return super()._elsewhere(place, candidates) if found is None else found

    def _of_space(self, place: int, receiver: str) -> NameMeaning | None:
        return self._of_named_module(place, receiver) or super()._of_space(place, receiver)

    def _in_module(self, candidates: list[DefinitionRow]) -> NameMeaning | None:
        """Return what the other files of the module have, then what an imported module has."""
        rows = [row for row in candidates if not self._resolver.is_member(row) and is_seen(row, self._path)]
        module, imported = module_of(self._path), self._imported_modules()
        own = [row for row in rows if module_of(row.path) == module]
        found = own or [row for row in rows if module_name(row.path) in imported]
        if not found:
            return None
        is_clear = len({same_thing(row) for row in found}) == 1
        return certain(found) if is_clear else by_name(found)

    def _of_named_module(self, place: int, receiver: str) -> NameMeaning | None:
        """Return what a name means after the name of its module: `Shapes.total`."""
        if receiver not in self._imported_modules():
            return None
        rows = self._resolver.known.definitions(self._names.name_at(place), self._family)
        rows = [row for row in rows if module_name(row.path) == receiver and not self._resolver.is_member(row)]
        return certain(rows) if rows else None

    def _imported_modules(self) -> set[str]:
        return {self._names.name_at(place) for place in self._names.places_in_role(OccurrenceRole.IMPORT)}
