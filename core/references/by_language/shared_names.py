"""Languages in which most places of a name mean what an import leads to, so that files share what they find out.

Most files that use a name neither define it nor have a variable of that name: `parse(text)` means what the import of
`parse` leads to, and `value.parse()` may mean any method `parse` if nothing tells what `value` is. A question about a
name with a thousand places looks at each place, but finds out only once what such places mean.
"""

from keyhole.core.references.bindings import Binding
from keyhole.core.references.file_names import FileNames
from keyhole.core.references.name_meaning import NameMeaning
from keyhole.core.references.name_resolver import NameResolver
from keyhole.core.references.names_in_file import NamesInFile, role_set
from keyhole.core.syntax.occurrences import UNNAMED, OccurrenceRole

# A name that has one of these roles anywhere in a file may be the file's own.
_OWN = role_set(
    OccurrenceRole.DEFINITION,
    OccurrenceRole.LOCAL,
    OccurrenceRole.OUTER,
    OccurrenceRole.TYPE_PARAMETER,
    OccurrenceRole.ASSIGNMENT,
)
_VARIABLE = role_set(OccurrenceRole.LOCAL)
# All that the meaning of a place depends on: what is written there, and where an import leads.
SharedUse = tuple[object, ...]


class SharedNames(FileNames):
    """Names of a file whose places may mean the same as those of other files."""

    def __init__(self, resolver: NameResolver, path: str, names: NamesInFile) -> None:
        super().__init__(resolver, path, names)
        self._shared = resolver.shared_meanings
        self._imported_names: dict[int, tuple[Binding, ...]] = {}

    def meaning_of_use(self, place: int) -> NameMeaning:
        """Return what the name at a place may mean, from another file if that has such a place too."""
        use = self._shared_use(place)
        if use is None:
            return self.meaning(place)
        known = self._shared.get(use)
        if known is None:
            known = self._shared[use] = self.meaning(place)
        return known

    def _shared_use(self, place: int) -> SharedUse | None:
        """Return what decides the meaning of a place; None if other things of the file do."""
        names = self._names
        role, number = names.role_at(place), names.number_at(place)
        if role is OccurrenceRole.IMPORT:
            name, bindings = names.name_at(place), self._resolver.bindings(self._path)
            imported = bindings.at(names.line_at(place), name) if bindings and self._candidates(place) else ()
            return (self._language, role, name, imported) if imported else None
        receiver = names.receiver_number_at(place)
        if receiver is None:
            imported = self._imported_name(number)
            return (self._language, role, names.name_at(place), imported) if imported else None
        # Code does not reach the members of tests.
        written = self._language, self._resolver.known.is_test(self._path), role, names.name_at(place)
        if receiver == UNNAMED:
            return written
        if not place or names.number_at(place - 1) != receiver - 1 or names.receiver_number_at(place - 1) is not None:
            return None
        if imported := self._imported_name(receiver - 1):
            return (*written, names.role_at(place - 1), names.name_numbered(receiver), imported)
        return written if self._is_of_unknown_type(place, receiver) else None

    def _imported_name(self, number: int) -> tuple[Binding, ...]:
        """Return where the imports of a name lead; nothing if it is not imported, or may be the file's own."""
        known = self._imported_names.get(number)
        if known is None:
            known = self._imported_names[number] = self._find_imported_name(number)
        return known

    def _find_imported_name(self, number: int) -> tuple[Binding, ...]:
        if self._names.has_roles(number, _OWN):
            return ()
        name, rules = self._names.name_numbered(number + 1), self._rules
        if name in rules.self_words or name in rules.super_words:
            return ()
        # In the body of a class, its members so far are ordinary names.
        if self._resolver.has_member(name, self._family) or self._path in self._resolver.defining(name, self._family):
            return ()
        bindings = self._resolver.bindings(self._path)
        return bindings.of(name) if bindings else ()

    def _is_of_unknown_type(self, place: int, receiver: int) -> bool:
        """Return whether a name is taken from a variable that may hold anything."""
        name, rules = self._names.name_numbered(receiver), self._rules
        if name in rules.self_words or name in rules.super_words or not self._names.has_roles(receiver - 1, _VARIABLE):
            return False
        if self._is_known(place, name):
            return False
        types = self._resolver.types.at(self._path, place - 1)
        return not types.holders and (types.is_unknown or not types.is_outside)
