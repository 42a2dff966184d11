"""What an imported name stands for: a module, or a name of another file."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from keyhole.core.index.rows import ImportRow, NamedImport
from keyhole.core.references.known_names import KnownNames, last_part
from keyhole.core.references.names_in_file import NO_SYMBOL, NamesInFile
from keyhole.core.syntax.occurrences import HAS_RECEIVER, ROLE_BITS, OccurrenceRole

STAR = "*"


class Binding(NamedTuple):
    """Where an imported name comes from: a path of the workspace, or none if it comes from outside.

    `name` is what it is called there; it is empty if the name stands for the whole module.
    """

    path: str
    name: str


class FileBindings:
    """The imported names of one file."""

    def __init__(self, known: KnownNames, path: str, names: NamesInFile) -> None:
        self._store = known
        self._path = path
        self._names = names
        self._known: dict[str, tuple[Binding, ...]] = {}
        self._known_at: dict[tuple[int, str], tuple[Binding, ...]] = {}

    @cached_property
    def _imports(self) -> list[ImportRow]:
        """The imports of the file, by line."""
        return self._store.imports(self._path)

    @cached_property
    def _lines(self) -> list[int]:
        return [row.line for row in self._imports]

    def of(self, name: str) -> tuple[Binding, ...]:
        """Return what a name is bound to by the imports of the file; empty if it is not imported."""
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = tuple(self._find(name))
        return known

    def at(self, line: int, name: str) -> tuple[Binding, ...]:
        """Return where the name in an import on this line comes from, whatever it is called in this file."""
        known = self._known_at.get((line, name))
        if known is None:
            known = self._known_at[line, name] = tuple(self._on_line(line, name) or self._from(line, name))
        return known

    def _on_line(self, line: int, name: str) -> list[Binding]:
        """Return where the name comes from if the statement starts on this line: then no other import counts."""
        rows = [row for row in self._store.imports_of(self._path, name) if row.line == line]
        return _exact(rows, name)

    def modules(self, dotted: str) -> list[str]:
        """Return the modules that are imported by this whole name, as in `import a.b`."""
        return [row.path for row in self._imports if not row.part and row.target == dotted]

    def packages(self, name: str) -> list[str]:
        """Return the imported paths whose last part is this name, as in `import "example.org/name"`."""
        return [row.path for row in self._imports if not row.part and last_part(row.target) == name]

    @cached_property
    def stars(self) -> list[str]:
        """The paths from which everything is imported or exported again, in order."""
        return sorted(set(self._find_stars()))

    def _find_stars(self) -> Iterator[str]:
        for number, row in enumerate(self._imports):
            if row.path and (row.part == STAR or row.target.endswith(STAR) or self._names_nothing(number)):
                yield row.path
        # `use shapes::*`; what `use Unit::*` brings are no definitions.
        for place in self._names.places(STAR):
            receiver = self._names.receiver_at(place)
            if not receiver[:1].isupper():
                rows = self._rows_at(self._names.line_at(place))
                yield from (row.path for row in rows if row.path and row.part == receiver)

    def _find(self, name: str) -> Iterator[Binding]:
        names, taken = self._names, []
        for place in names.places(name):
            recorded = names.roles[place]
            role = recorded & ROLE_BITS
            if role == OccurrenceRole.IMPORT:
                if names.is_renamed(place):
                    continue
                if recorded >= HAS_RECEIVER:
                    taken.append(place)
                else:
                    yield from self.at(names.line_at(place), name)
            elif recorded >= HAS_RECEIVER:
                continue
            elif role == OccurrenceRole.ALIAS:
                yield from self._renamed(place)
            elif role == OccurrenceRole.LOCAL and names.symbol_at(place) == NO_SYMBOL:
                # const parse = require("./parse")
                line = names.line_at(place)
                yield from (Binding(row.path, name) for row in self._rows_at(line) if row.line == line)
        for place in taken:
            # `use shapes::Circle`
            line = names.line_at(place)
            if any(row.part == name for row in self._rows_at(line)):
                yield from self.at(line, name)

    def _renamed(self, place: int) -> Iterator[Binding]:
        """Yield what a new name in an import stands for: the name before it, or the whole module."""
        names = self._names
        if place and names.is_renamed(place - 1):
            yield from self.at(names.line_at(place - 1), names.name_at(place - 1))
        else:
            yield from (Binding(row.path, "") for row in self._rows_at(names.line_at(place)))

    def _from(self, line: int, name: str) -> list[Binding]:
        rows = self._rows_at(line)
        if exact := _exact(rows, name):
            return exact
        # An import of several names that are not listed in the row, or of a package by its first part.
        return [] if any(row.part for row in rows) else [Binding(row.path, name) for row in rows]

    def _rows_at(self, line: int) -> list[ImportRow]:
        """Return the imports of the statement that a line belongs to: it starts on this line or above."""
        end = bisect_right(self._lines, line)
        return self._imports[bisect_left(self._lines, self._lines[end - 1]) : end] if end else []

    def _names_nothing(self, number: int) -> bool:
        """Return whether an import lists no names, as `export * from "./x"` or `#include "x.h"`."""
        row = self._imports[number]
        if row.part:
            return False
        following = [other.line for other in self._imports[number + 1 :] if other.line > row.line]
        return not self._names.has_imports_between(row.line, following[0] if following else row.line + 1)


def _exact(rows: Iterable[ImportRow | NamedImport], name: str) -> list[Binding]:
    """Return where a name comes from that imports of one statement bring by this name."""
    exact = [row for row in rows if row.part == name or (not row.part and last_part(row.target) == name)]
    return [Binding(row.path, "" if _is_module(row, name) else name) for row in exact]


def _is_module(row: ImportRow | NamedImport, name: str) -> bool:
    """Return whether a name stands for the module itself, and not for something in it."""
    folder, _, file = row.path.rpartition("/")
    if file in ("__init__.py", "mod.rs"):
        folder, _, file = folder.rpartition("/")
    if not row.part:
        return True
    stem = file.partition(".")[0]
    return stem == name and (last_part(row.target) in ("", folder.rpartition("/")[2]) or last_part(row.target) != stem)


def existing(bindings: Iterable[Binding]) -> list[Binding]:
    """Return the bindings to something in the workspace."""
    return [binding for binding in bindings if binding.path]
