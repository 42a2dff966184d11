"""C#: names are in namespaces, and `using` brings those of others."""

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.file_names import FileNames
from keyhole.core.references.language_rules import ATTRIBUTE
from keyhole.core.references.name_meaning import CALLED, NameMeaning, by_name, certain
from keyhole.core.syntax.occurrences import OccurrenceRole
from keyhole.core.types.syntax import HOLDS_METHODS


class CsharpNames(FileNames):
    """Names in C#."""

    def _candidates(self, place: int) -> list[DefinitionRow]:
        rows = super()._candidates(place)
        if self._names.role_at(place) is OccurrenceRole.DECORATOR:
            rows = [*rows, *self._resolver.known.definitions(f"{self._names.name_at(place)}{ATTRIBUTE}", self._family)]
        return rows

    def _has_new_name(self, name: str) -> bool:
        return name in self._resolver.csharp.usings(self._path, self._names).aliases

    def _imported(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning:
        spaces, whole = self._resolver.csharp, self._names.dotted(place)
        return self._clear([row for row in candidates if spaces.has_name(row, whole)])

    def _elsewhere(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning | None:
        found = self._in_namespaces(place, candidates)
        return super()._elsewhere(place, candidates) if found is None else found

    def _of_space(self, place: int, receiver: str) -> NameMeaning | None:
        return self._of_namespace(place) or super()._of_space(place, receiver)

    def _of_member(
        self, place: int, members: tuple[DefinitionRow, ...], candidates: list[DefinitionRow]
    ) -> NameMeaning:
        """Return a member; in `Unit.Metre` and `new Unit()` of C#, the name may also be that of its type."""
        is_call = self._names.role_at(place) is OccurrenceRole.CALL
        if not (is_call or self._names.is_continued(place)):
            return certain(members)
        types = [row for row in candidates if row.kind in HOLDS_METHODS and row not in members]
        meaning = self._in_namespaces(place, types)
        if meaning is None or not meaning.definitions:
            return certain(members)
        if is_call and all(row.kind not in CALLED for row in members):
            return meaning
        return NameMeaning(Certainty.BY_NAME, (*members, *meaning.definitions))

    def _in_namespaces(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning | None:
        """Return what the namespaces around the place have, then what `using` brings."""
        spaces = self._resolver.csharp
        usings = spaces.usings(self._path, self._names)
        if whole := usings.aliases.get(self._names.name_at(place)):
            rows = self._resolver.known.definitions(whole.rpartition(".")[2], self._family)
            return self._clear([row for row in rows if spaces.has_name(row, whole)])
        for space in spaces.around(self._path, self._names.line_at(place)):
            if rows := [row for row in candidates if spaces.owner(row) == space]:
                return self._clear(rows)
        if rows := [row for row in candidates if spaces.owner(row) in usings.spaces]:
            return self._clear(rows)
        rows = [row for row in candidates if not spaces.owner(row)]
        return self._clear(rows) if rows else None

    def _of_namespace(self, place: int) -> NameMeaning | None:
        """Return what a name means if everything before it is its namespace or class, from one that is seen here."""
        names, spaces = self._names, self._resolver.csharp
        whole = names.dotted(place).removeprefix("global.")
        first, _, rest = whole.partition(".")
        start = place - names.dotted(place).count(".")
        usings = spaces.usings(self._path, names)
        candidates = self._resolver.known.definitions(first, self._family)
        if names.receiver_at(start) or self._since(start, first) or self._in_class(start, candidates):
            return None
        seen = ["", *spaces.around(self._path, names.line_at(place)), *usings.spaces]
        wanted = {f"{space}.{whole}".lstrip(".") for space in seen}
        if first in usings.aliases:
            wanted = {f"{usings.aliases[first]}.{rest}"}
        rows = self._resolver.known.definitions(names.name_at(place), self._family)
        found = [row for row in rows if spaces.whole_name(row.path, row.qualified_name) in wanted]
        return self._clear(found) if found else None

    def _clear(self, rows: list[DefinitionRow]) -> NameMeaning:
        """Return definitions with one whole name as certain; several files can only define parts of one class."""
        namespaces = self._resolver.csharp
        wholes = {namespaces.whole_name(row.path, row.qualified_name) for row in rows}
        files = {row.path for row in rows if "partial" not in row.modifiers.split()}
        is_clear = len(wholes) <= 1 and (len(files) <= 1 or all(map(self._resolver.is_member, rows)))
        return certain(rows) if is_clear else by_name(rows)
