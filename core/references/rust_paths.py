"""Paths of Rust, such as `crate::shapes::area`: the files of their modules, and imports in the form of Python's."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

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


def inner_modules(rows: list[DefinitionRow]) -> set[str]:
    """Return the names of the modules among the definitions of a file."""
    return {row.name for row in rows if row.kind == "module"}


def split_imports(rows: list[ImportRow], inner: Callable[[], set[str]]) -> list[ImportRow]:
    """Return the imports of a Rust file with the last name apart, as Python's have it.

    `inner` returns the modules that the file itself contains.
    """
    return [part for row in rows for part in _split(row, inner)]


def _split(row: ImportRow, inner: Callable[[], set[str]]) -> Iterator[ImportRow]:
    # The links have no path where an import stays in its file, such as `use super::*` in a module for tests.
    *before, last = row.target.removeprefix("mod ").split("::")
    path = row.path
    if not path and (row.state == LinkState.REPEATED or (before and before[0] in inner())):
        path = row.origin
    # `use shapes::Unit::Metre` names the type too.
    types = [number for number, name in enumerate(before) if name[:1].isupper()]
    for number in types[:1]:
        yield row._replace(target="::".join(before[:number]), part=before[number], path=path)
    yield row._replace(target="::".join(before), part=last, path=path)


class RustModule(NamedTuple):
    """A module: a file, or one inside a file, with its qualified name there."""

    path: str
    inside: str = ""


class RustPaths:
    """Finds the modules in the paths of one file."""

    def __init__(self, known: KnownFiles, bindings: Callable[[str], FileBindings | None], path: str) -> None:
        self._known = known
        self._bindings = bindings
        self._path = path

    def modules(self, names: NamesInFile, place: int) -> list[RustModule] | None:
        """Return the module that a path names up to a place; None if it does not name one.

        There may be several, because a library and a program may share a folder. The list is empty if the module is
        outside the workspace.
        """
        name = names.name_at(place)
        receiver = names.receiver_at(place)
        if not receiver:
            return self._first(name, names.line_at(place))
        if not place or names.name_at(place - 1) != receiver:
            return None
        outer = self.modules(names, place - 1)
        if not outer:
            return outer
        if name == "super":
            return [module for one in outer for module in self._around(one)]
        return [module for one in outer for module in self._below(one, name)] or None

    def _first(self, name: str, line: int) -> list[RustModule] | None:
        if name == "crate":
            return [RustModule(root) for root in self._roots(self._path)]
        here = RustModule(self._path, self._module_at(line))
        if name == "self":
            return [here]
        if name == "super":
            return self._around(here)
        bindings = self._bindings(self._path)
        bound = bindings.of(name) if bindings else []
        if not bound and name in _STANDARD:
            return []
        if bound and not any(binding.path for binding in bound):
            return []
        return list(self._below(here, name)) or list(self._below(RustModule(self._path), name)) or None

    def _below(self, module: RustModule, name: str) -> Iterator[RustModule]:
        """Yield the module of this name that a module contains, declares or imports."""
        whole = f"{module.inside}.{name}".lstrip(".")
        if any(row.kind == "module" and row.qualified_name == whole for row in self._known.definitions_in(module.path)):
            yield RustModule(module.path, whole)
            return
        bindings = self._bindings(module.path)
        for binding in bindings.of(name) if bindings else ():
            if binding.path and not binding.name:
                yield RustModule(binding.path)

    def _around(self, module: RustModule) -> list[RustModule]:
        if module.inside:
            return [RustModule(module.path, module.inside.rpartition(".")[0])]
        return [RustModule(path) for path in self._parents(module.path)]

    def _module_at(self, line: int) -> str:
        """Return the innermost module inside the file that contains a line."""
        rows = self._known.definitions_in(self._path)
        around = [row for row in rows if row.kind == "module" and row.start_line <= line <= row.end_line]
        return around[-1].qualified_name if around else ""

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
