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
        imported = _imported(names, parts[0])
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


def _imported(names: NamesInFile, name: str) -> str | None:
    """Return the full name of what a file imports by a name; None if it does not."""
    for place in names.places(name):
        role = names.role_at(place)
        if role is OccurrenceRole.ALIAS and place:
            return _imported_name(names, place - 1)
        if role is OccurrenceRole.IMPORT and not names.is_renamed(place) and not is_prefix(names, place):
            return _imported_name(names, place)
    return None


def is_prefix(names: NamesInFile, place: int) -> bool:
    """Return whether an imported name is taken from the one at a place."""
    return names.is_continued(place) and names.role_at(place + 1) is OccurrenceRole.IMPORT


def _imported_name(names: NamesInFile, place: int) -> str:
    """Return the full name of a name in an import; what it is taken from may stand before a brace."""
    parts = [names.name_at(place)]
    while wanted := names.receiver_at(place):
        place -= 1
        # In braces, others may come between: in `use Shop\{Shop, Item}`, both are taken from the first `Shop`.
        while place >= 0 and (names.name_at(place) != wanted or names.receiver_at(place) == wanted):
            place -= 1
        if place < 0:
            break
        parts.append(wanted)
    return SEPARATOR.join(reversed(parts))


def _join(*parts: str) -> str:
    return SEPARATOR.join(part for part in parts if part)
