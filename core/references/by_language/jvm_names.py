"""Java, Kotlin and Scala: names have whole names, made of packages and classes."""

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.file_names import FileNames, is_type_name
from keyhole.core.references.jvm_packages import whole_name
from keyhole.core.references.name_meaning import NOTHING, PARTS, NameMeaning, by_name, by_number, certain, same_thing
from keyhole.core.syntax.occurrences import OccurrenceRole


class JvmNames(FileNames):
    """Names in Java, Kotlin and Scala."""

    # The parts of a package are taken from each other, but mean nothing either.
    _never_uses = frozenset([OccurrenceRole.DEFINITION, OccurrenceRole.ARGUMENT])

    def _has_new_name(self, name: str) -> bool:
        return name in self._resolver.packages.imports(self._path, self._names).by_name

    def _imported(self, place: int, _: list[DefinitionRow]) -> NameMeaning:
        whole = whole_name(self._names, place)
        # Scala imports the members of values too.
        is_of_value = self._rules.has_relative_imports and self._since(place, whole.partition(".")[0])
        return NOTHING if is_of_value else self._with_whole_name(whole)

    def _elsewhere(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning | None:
        found = self._in_packages(place, candidates)
        return super()._elsewhere(place, candidates) if found is None else found

    def _unreached(self, _: int, candidates: list[DefinitionRow]) -> NameMeaning:
        # A member of what a block of code is run for, as in `with(plant) { grow() }`, or of an imported value.
        return NOTHING if self._rules.needs_import else by_name(candidates)

    def _of_space(self, place: int, receiver: str) -> NameMeaning | None:
        return self._of_package(place) or super()._of_space(place, receiver)

    def _is_class_from_outside(self, place: int) -> bool:
        return is_type_name(self._names, place)

    def _in_packages(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning | None:
        """Return what the file imports by this name, what its package has, or what a star import brings."""
        packages = self._resolver.packages
        imports = packages.imports(self._path, self._names)
        if imported := imports.by_name.get(self._names.name_at(place)):
            found = [self._with_whole_name(name) for name in imported]
            rows = tuple(row for meaning in found for row in meaning.definitions)
            return NameMeaning(max((meaning.certainty for meaning in found), key=list(Certainty).index), rows)
        for package in reversed(packages.seen_from(self._path)):
            if own := [row for row in candidates if packages.owner(row) == package]:
                return self._nearest(own)
        stars = {name for star in imports.stars for name in self._whole_names(star)}
        if starred := [row for row in candidates if packages.owner(row) in stars]:
            return self._nearest(starred)
        if self._rules.has_relative_imports:
            ends = tuple(f".{star}" for star in imports.stars)
            starred = [row for row in candidates if packages.owner(row).endswith(ends)]
        return by_number(starred) if starred else None

    def _with_whole_name(self, given: str) -> NameMeaning:
        """Return what has a name that an import gives."""
        packages = self._resolver.packages
        rows = self._resolver.known.definitions(given.rpartition(".")[2], self._family)
        rows = [row for row in rows if row.kind not in PARTS]
        for whole in self._whole_names(given):
            if exact := [row for row in rows if packages.has_name(row, whole)]:
                return self._nearest(exact)
        if not self._rules.has_relative_imports:
            return NOTHING
        return by_number([row for row in rows if packages.ends_with(row, given)])

    def _whole_names(self, given: str) -> list[str]:
        """Return the whole names that a name in an import may stand for."""
        if not self._rules.has_relative_imports:
            return [given]
        return [*(f"{package}.{given}" for package in reversed(self._resolver.packages.seen_from(self._path))), given]

    def _nearest(self, rows: list[DefinitionRow]) -> NameMeaning:
        """Return definitions with one whole name; if several projects have one, that of the same project."""
        project = self._path.rpartition("/src/")[0]
        near = [row for row in rows if row.path.rpartition("/src/")[0] == project]
        is_clear = bool(near) or len({same_thing(row) for row in rows}) <= 1
        return certain(near or rows) if is_clear else by_name(rows)

    def _of_package(self, place: int) -> NameMeaning | None:
        """Return what the name means if everything before it is its package or class, written out."""
        whole = self._names.dotted(place)
        first, _, _ = whole.partition(".")
        if self._since(place - whole.count("."), first):
            return None
        rows = self._resolver.known.definitions(self._names.name_at(place), self._family)
        exact = [row for row in rows if self._resolver.packages.has_name(row, whole)]
        return self._nearest(exact) if exact else None
