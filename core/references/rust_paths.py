"""Paths of Rust, such as `crate::shapes::area`: the files of their modules, and imports in the form of Python's."""

from collections.abc import Callable, Iterator
from typing import Protocol

from keyhole.core.index.rows import DefinitionRow, ImportRow
from keyhole.core.links.link_types import LinkState
from keyhole.core.references.bindings import FileBindings
from keyhole.core.references.names_in_file import NamesInFile

_ROOTS = ("lib.rs", "main.rs")
_STANDARD = frozenset(["alloc", "core", "std"])


class KnownFiles(Protocol):
    """The part of `KnownNames` that paths need."""

    def names(self, path: str) -> NamesInFile | None:
        """Return the names of a file; None if they are not recorded."""

    def definitions_in(self, path: str) -> list[DefinitionRow]:
        """Return the symbols of a file, in order."""


def is_module_called(path: str, name: str) -> bool:
    """Return whether a file is a module or a crate of this name, or a part of it."""
    parts = path.removesuffix(".rs").replace("-", "_").split("/")
    return name in parts


def split_imports(rows: list[ImportRow]) -> list[ImportRow]:
    """Return the imports of a Rust file with the last name apart, as Python's have it."""
    return [part for row in rows for part in _split(row)]


def _split(row: ImportRow) -> Iterator[ImportRow]:
    # The links have no path where an import stays in its file, such as `use super::*` in a module for tests.
    path = row.path or (row.origin if row.state == LinkState.REPEATED else "")
    *before, last = row.target.removeprefix("mod ").split("::")
    # `use shapes::Unit::Metre` names the type too.
    types = [number for number, name in enumerate(before) if name[:1].isupper()]
    for number in types[:1]:
        yield row._replace(target="::".join(before[:number]), part=before[number], path=path)
    yield row._replace(target="::".join(before), part=last, path=path)


class RustPaths:
    """Finds the files of the modules in the paths of one file."""

    def __init__(self, known: KnownFiles, bindings: Callable[[str], FileBindings | None], path: str) -> None:
        self._known = known
        self._bindings = bindings
        self._path = path

    def files(self, names: NamesInFile, place: int) -> list[str] | None:
        """Return the files of the module that a path names up to a place; None if it does not name a module.

        The list is empty if the module is outside the workspace.
        """
        name = names.name_at(place)
        receiver = names.receiver_at(place)
        if not receiver:
            return self._first(name, names.line_at(place))
        if not place or names.name_at(place - 1) != receiver:
            return None
        outer = self.files(names, place - 1)
        if not outer:
            return outer
        if name == "super":
            return [file for one in outer for file in self._parents(one)]
        found = [file for one in outer for file in self._inside(one, name)]
        return found or None

    def _first(self, name: str, line: int) -> list[str] | None:
        if name == "crate":
            return self._roots(self._path)
        if name == "self" or (name == "super" and self._is_in_module(line)):
            return [self._path]
        if name == "super":
            return self._parents(self._path)
        bindings = self._bindings(self._path)
        bound = bindings.of(name) if bindings else []
        if not bound and name in _STANDARD:
            return []
        if bound and not any(binding.path for binding in bound):
            return []
        return list(self._inside(self._path, name)) or None

    def _inside(self, path: str, name: str) -> Iterator[str]:
        """Yield the file of a module that a file declares, imports or contains."""
        bindings = self._bindings(path)
        for binding in bindings.of(name) if bindings else ():
            if binding.path and not binding.name:
                yield binding.path
        if any(row.kind == "module" and row.name == name for row in self._known.definitions_in(path)):
            yield path

    def _is_in_module(self, line: int) -> bool:
        rows = self._known.definitions_in(self._path)
        return any(row.kind == "module" and row.start_line <= line <= row.end_line for row in rows)

    def _parents(self, path: str) -> list[str]:
        """Return the file of the module around that of a file; a program and a library may share a folder."""
        folder, _, name = path.rpartition("/")
        if name == "mod.rs":
            folder, _, name = folder.rpartition("/")
        above, _, module = folder.rpartition("/")
        files = [f"{folder}/mod.rs", f"{above}/{module}.rs", *(f"{folder}/{root}" for root in _ROOTS)]
        files = [file.lstrip("/") for file in files]
        return [file for file in files if file != path and self._known.names(file) is not None]

    def _roots(self, path: str) -> list[str]:
        folder, _, name = path.rpartition("/")
        if name in _ROOTS:
            return [path]
        while True:
            roots = [f"{folder}/{root}".lstrip("/") for root in _ROOTS]
            if found := [root for root in roots if self._known.names(root) is not None]:
                return found
            if not folder:
                return []
            folder = folder.rpartition("/")[0]
