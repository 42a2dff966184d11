"""Packages of Java, Kotlin and Scala: files say which one they belong to, and imports give whole names.

So an imported name is found by its whole name, wherever the file is: `import org.acme.draw.Shape`.
"""

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.known_names import KnownNames
from keyhole.core.references.names_in_file import NamesInFile
from keyhole.core.syntax.occurrences import OccurrenceRole

# The package is among the first names of a file; only comments and annotations of the file come before it.
_MOST_BEFORE_PACKAGE = 100
_AFTER_PACKAGE = frozenset([OccurrenceRole.IMPORT, OccurrenceRole.DEFINITION])
_STARS = frozenset(["*", "_"])
# A member of a companion object is used as if it were one of the class.
_COMPANION = frozenset(["companion", "Companion"])


class ImportedNames:
    """The whole names that the imports of a file give, by what they are called in the file."""

    def __init__(self, names: NamesInFile) -> None:
        self.by_name: dict[str, list[str]] = {}
        # The whole names of what all members are imported from: `org.acme.draw` for `import org.acme.draw.*`.
        self.stars: set[str] = set()
        for place in names.places_in_role(OccurrenceRole.IMPORT):
            if not names.is_continued(place):
                whole = whole_name(names, place)
                new_name = names.name_at(place + 1 if names.is_renamed(place) else place)
                if new_name in _STARS:
                    self.stars.add(whole.rpartition(".")[0])
                else:
                    self.by_name.setdefault(new_name, []).append(whole)


class JvmPackages:
    """The packages and imports of files, each read once."""

    def __init__(self, known: KnownNames) -> None:
        self._known = known
        self._packages: dict[str, list[str]] = {}
        self._imports: dict[str, ImportedNames] = {}

    def package(self, path: str) -> str:
        """Return the package of a file; empty if it says none."""
        return self.seen_from(path)[-1]

    def seen_from(self, path: str) -> list[str]:
        """Return the packages whose definitions a file sees: its own, and those that it names on the way to it."""
        if path not in self._packages:
            names = self._known.names(path)
            self._packages[path] = (_packages(names) if names else []) or [""]
        return self._packages[path]

    def imports(self, path: str, names: NamesInFile) -> ImportedNames:
        """Return what the imports of a file give."""
        if path not in self._imports:
            self._imports[path] = ImportedNames(names)
        return self._imports[path]

    def owner(self, row: DefinitionRow) -> str:
        """Return the whole name of the class, object or package that a definition is in."""
        parts = [self.package(row.path), *(part for part in row.parent.split(".") if part not in _COMPANION)]
        return ".".join(filter(None, parts))

    def has_name(self, row: DefinitionRow, whole: str) -> bool:
        """Return whether a whole name is that of a definition."""
        outer, _, last = whole.rpartition(".")
        outer = ".".join(part for part in outer.split(".") if part not in _COMPANION)
        if last != row.name:
            return False
        # A function that extends a class belongs to the package all the same.
        return outer == self.owner(row) or (outer == self.package(row.path) and self._is_extension(row))

    def _is_extension(self, row: DefinitionRow) -> bool:
        around = [one for one in self._known.holders(row.path) if one.start_line <= row.start_line <= one.end_line]
        return all(one.kind == "extension" or one.id == row.id for one in around)

    def ends_with(self, row: DefinitionRow, whole: str) -> bool:
        """Return whether a name that is given from some package on is that of a definition."""
        return f".{self.owner(row)}.{row.name}".endswith(f".{whole}")


def whole_name(names: NamesInFile, place: int) -> str:
    """Return the name at a place with everything before it; in an import with braces, also what is before those."""
    before = names.name_before_braces(place)
    return names.dotted(place) if before is None else f"{names.dotted(before)}.{names.name_at(place)}"


def _packages(names: NamesInFile) -> list[str]:
    """Return the packages that a file names before its imports and definitions, each inside the one before."""
    found: list[str] = []
    place = 0
    while place < min(names.count, _MOST_BEFORE_PACKAGE) and names.role_at(place) not in _AFTER_PACKAGE:
        if names.role_at(place) is OccurrenceRole.ARGUMENT:
            while names.is_continued(place):
                place += 1
            if names.role_at(place) is not OccurrenceRole.ARGUMENT:
                break  # the first parts of an import
            found.append(".".join([*found[-1:], names.dotted(place)]))
        place += 1
    return found
