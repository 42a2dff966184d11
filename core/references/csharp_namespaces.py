"""Namespaces of C#: which ones a place sees, and the whole names of definitions."""

from collections.abc import Iterator
from typing import NamedTuple

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.known_names import KnownNames
from keyhole.core.references.names_in_file import NamesInFile
from keyhole.core.syntax.occurrences import OccurrenceRole


class Usings(NamedTuple):
    """What the `using` directives of a file bring: namespaces and classes, and other names for whole names."""

    spaces: frozenset[str]
    aliases: dict[str, str]

    def new_names(self, name: str) -> set[str]:
        """Return the other names that a file gives to what may have this name."""
        return {alias for alias, whole in self.aliases.items() if whole.rpartition(".")[2] == name}


class CsharpNamespaces:
    """The namespaces of files, each read once."""

    def __init__(self, known: KnownNames) -> None:
        self._known = known
        self._rows: dict[str, list[DefinitionRow]] = {}
        self._usings: dict[str, Usings] = {}

    def whole_name(self, path: str, name: str) -> str:
        """Return a qualified name of a file with the namespace that the file says for all it contains."""
        return ".".join(filter(None, (self._of_file(path), name)))

    def has_name(self, row: DefinitionRow, whole: str) -> bool:
        """Return whether a whole name is that of a definition."""
        return self.whole_name(row.path, row.qualified_name) == whole

    def owner(self, row: DefinitionRow) -> str:
        """Return the whole name of the namespace or class that a definition is in."""
        return self.whole_name(row.path, row.parent)

    def around(self, path: str, line: int) -> Iterator[str]:
        """Yield the namespaces around a line, the innermost first: `A.B`, then `A`."""
        inside = [row for row in self._spaces(path) if row.start_line <= line <= row.end_line]
        space = inside[-1].qualified_name if inside else self._of_file(path)
        while space:
            yield space
            space = space.rpartition(".")[0]

    def usings(self, path: str, names: NamesInFile) -> Usings:
        """Return what the directives of a file bring."""
        if path not in self._usings:
            self._usings[path] = _usings(names)
        return self._usings[path]

    def _of_file(self, path: str) -> str:
        """Return the namespace of `namespace A.B;`, which contains the rest of its file."""
        for row in self._spaces(path):
            # The others have an end, and are parents of what they contain.
            if row.start_line == row.end_line and "{" not in row.signature:
                return row.qualified_name
        return ""

    def _spaces(self, path: str) -> list[DefinitionRow]:
        if path not in self._rows:
            self._rows[path] = [row for row in self._known.definitions_in(path) if row.kind == "namespace"]
        return self._rows[path]


def _usings(names: NamesInFile) -> Usings:
    aliases: dict[str, str] = {}
    aliased: set[int] = set()
    for place in names.places_in_role(OccurrenceRole.ALIAS):
        last = place + 1
        while last < names.count and names.is_continued(last):
            last += 1
        if last < names.count:
            aliases[names.name_at(place)] = names.dotted(last)
            aliased.add(last)
    imported = [place for place in names.places_in_role(OccurrenceRole.IMPORT) if place not in aliased]
    return Usings(frozenset(names.dotted(place) for place in imported if not names.is_continued(place)), aliases)
