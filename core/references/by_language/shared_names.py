"""Languages in which most places of a name mean what an import leads to, so that files share what they find out.

Most files that use a name neither define it nor have a variable of that name: `parse(text)` means what the import of
`parse` leads to, and `value.parse()` may mean any method `parse` if nothing tells what `value` is. A question about a
name with a thousand places looks at each place, but finds out only once what such places mean.
"""

from collections.abc import Sequence
from functools import lru_cache

from keyhole.core.references.bindings import Binding
from keyhole.core.references.file_names import FileNames
from keyhole.core.references.language_rules import rules_of
from keyhole.core.references.name_meaning import NameMeaning
from keyhole.core.references.name_resolver import NameResolver
from keyhole.core.references.names_in_file import NamesInFile, role_set
from keyhole.core.syntax.occurrences import HAS_RECEIVER, ROLE_BITS, UNNAMED, OccurrenceRole

# A name that has one of these roles anywhere in a file may be the file's own.
OWN = role_set(
    OccurrenceRole.DEFINITION,
    OccurrenceRole.LOCAL,
    OccurrenceRole.OUTER,
    OccurrenceRole.TYPE_PARAMETER,
    OccurrenceRole.ASSIGNMENT,
)
# All that the meaning of a place depends on: what is written there, and where an import leads.
SharedUse = tuple[object, ...]


class SharedNames(FileNames):
    """Names of a file whose places may mean the same as those of other files."""

    def __init__(self, resolver: NameResolver, path: str, names: NamesInFile) -> None:
        super().__init__(resolver, path, names)
        self._shared = resolver.shared_meanings
        self._imported_names: dict[str, tuple[Binding, ...]] = {}

    def meanings(self, name: str, places: Sequence[int]) -> list[NameMeaning]:
        """Return what a name may mean at each of its places, from another file if that has such a place too."""
        # This runs for every file that has the name, so it calls little.
        shared, found = self._shared, list[NameMeaning]()
        for place in places:
            use = self._shared_use(name, place)
            known = shared.get(use) if use else None
            if known is None:
                known = self.meaning(place)
                if use:
                    shared[use] = known
            found.append(known)
        return found

    def _shared_use(self, name: str, place: int) -> SharedUse | None:
        """Return what decides the meaning of a place; None if other things of the file do."""
        names, language = self._names, self._language
        recorded = names.roles[place]
        role = recorded & ROLE_BITS
        if role == OccurrenceRole.IMPORT:
            imported = self._imported_at(name, place)
            return (language, role, name, imported) if imported else None
        if recorded < HAS_RECEIVER:
            imported = self._imported_name(name)
            return (language, role, name, imported) if imported else None
        # Code does not reach the members of tests.
        written = language, self._is_test, role, name
        receiver = names.receiver_number(place)
        if receiver == UNNAMED:
            return written
        before = place - 1
        if before < 0 or names.number_at(before) != receiver - 1 or names.roles[before] >= HAS_RECEIVER:
            return None
        word = names.name_numbered(receiver)
        names.places(word, receiver - 1)
        if imported := self._imported_name(word):
            return (*written, names.roles[before] & ROLE_BITS, word, imported)
        return written if is_of_unknown_type(names, language, word, before) else None

    def _imported_at(self, name: str, place: int) -> tuple[Binding, ...]:
        """Return where the import at a place leads; nothing if the name is that of no definition."""
        bindings = self._resolver.bindings(self._path)
        is_known = bindings is not None and self._resolver.defining(name, self._family)
        return bindings.at(self._names.line_at(place), name) if is_known and bindings else ()

    def _imported_name(self, name: str) -> tuple[Binding, ...]:
        """Return where the imports of a name lead; nothing if it is not imported, or may be the file's own."""
        known = self._imported_names.get(name)
        if known is None:
            known = self._imported_names[name] = self._find_imported_name(name)
        return known

    def _find_imported_name(self, name: str) -> tuple[Binding, ...]:
        roles = self._names.roles
        for place in self._names.places(name):
            if OWN[roles[place]]:
                return ()
        resolver, family = self._resolver, self._family
        # In the body of a class, its members so far are ordinary names.
        if is_word_for_object(name, self._language) or resolver.has_member(name, family):
            return ()
        bindings = resolver.bindings(self._path) if self._path not in resolver.defining(name, family) else None
        return bindings.of(name) if bindings else ()


def is_of_unknown_type(names: NamesInFile, language: str, name: str, place: int) -> bool:
    """Return whether a name that something is taken from is a variable that may hold anything."""
    starts = None if is_word_for_object(name, language) else names.variable_at(name, place)
    return starts is not None and not any(map(names.values_of, starts))


@lru_cache(1_000)
def is_word_for_object(name: str, language: str) -> bool:
    """Return whether a name is one for the object around it, or for what its class inherits from."""
    rules = rules_of(language)
    return name in rules.self_words or name in rules.super_words
