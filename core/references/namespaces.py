"""Full names in PHP: a name means the one of its namespace, or the one that `use` brings."""

from collections.abc import Iterator

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.known_names import KnownNames
from keyhole.core.references.names_in_file import NOT_A_NAME, NamesInFile
from keyhole.core.references.ruby_names import full_name_as_written
from keyhole.core.syntax.occurrences import OUTERMOST, OccurrenceRole

# `namespace\name` is the one of this namespace, whatever is imported.
_OWN = "namespace"
_VARIABLE = "$"
SEPARATOR = "\\"


class Namespaces:
    """Finds the full names of what names mean, and of definitions."""

    def __init__(self, known: KnownNames) -> None:
        self._known = known
        self._imported: dict[str, dict[str, str]] = {}

    def full_names(self, path: str, names: NamesInFile, place: int) -> Iterator[str]:
        """Yield the full names that a name may have; the first one that is defined counts."""
        parts = full_name_as_written(names, place)
        if names.role_at(place) is OccurrenceRole.IMPORT:
            yield _imported_name(names, place)
        elif parts[0] in OUTERMOST:
            yield SEPARATOR.join(parts[1:])
        elif not parts[0].startswith((NOT_A_NAME, _VARIABLE)):
            yield from self._relative(path, names, names.line_at(place), parts)

    def full_name(self, row: DefinitionRow) -> str:
        """Return the full name of a definition; `define` makes constants outside any namespace."""
        space = "" if row.signature.startswith("define(") else self._namespace(row.path, row.start_line)
        return _join(space, row.name)

    def _relative(self, path: str, names: NamesInFile, line: int, parts: list[str]) -> Iterator[str]:
        space = self._namespace(path, line)
        if parts[0] == _OWN:
            yield _join(space, *parts[1:])
            return
        imported = self._imports(path, names).get(parts[0])
        if imported is not None:
            yield _join(imported, *parts[1:])
            return
        yield _join(space, *parts)
        if space and len(parts) == 1:
            # A function or constant that the namespace does not have is the one outside any.
            yield parts[0]

    def _namespace(self, path: str, line: int) -> str:
        """Return the namespace of a line: the last one that starts there or above."""
        spaces = [row.name for row in self._known.holders(path) if row.kind == "namespace" and row.start_line <= line]
        return spaces[-1] if spaces else ""

    def _imports(self, path: str, names: NamesInFile) -> dict[str, str]:
        """Return the full name of each name that a file imports."""
        if path not in self._imported:
            self._imported[path] = dict(_imports(names))
        return self._imported[path]


def _imports(names: NamesInFile) -> Iterator[tuple[str, str]]:
    for place in range(names.count):
        role = names.role_at(place)
        if role is OccurrenceRole.ALIAS and place:
            yield names.name_at(place), _imported_name(names, place - 1)
        elif role is OccurrenceRole.IMPORT and not names.is_renamed(place) and not is_prefix(names, place):
            yield names.name_at(place), _imported_name(names, place)


def is_prefix(names: NamesInFile, place: int) -> bool:
    """Return whether an imported name is taken from the one at a place."""
    return names.is_continued(place) and names.role_at(place + 1) is OccurrenceRole.IMPORT


def _imported_name(names: NamesInFile, place: int) -> str:
    """Return the full name of a name in an import; what it is taken from may stand before a brace."""
    parts = [names.name_at(place)]
    while wanted := names.receiver_at(place):
        # `use Shop\\{Shop, Item}`: the second `Shop` is taken from the first one, and so is `Item`.
        before = [one for one in names.places(wanted) if one < place and names.receiver_at(one) != wanted]
        if not before:
            break
        place = before[-1]
        parts.append(wanted)
    return SEPARATOR.join(reversed(parts))


def _join(*parts: str) -> str:
    return SEPARATOR.join(part for part in parts if part)
