"""Resolving `mod` and `use` of Rust to the file of the deepest module that a path names.

A module is identified by the folder of its children: `src/a.rs` and `src/a/mod.rs` are both `src/a`.
"""

import json
from typing import NamedTuple

from keyhole.core.links.link_types import (
    Declared,
    LinkState,
    Origin,
    Reason,
    Resolution,
    external,
    internal,
    unresolved,
)
from keyhole.core.links.paths import Paths, basename, join, parents

_ROOT_NAMES = ("lib.rs", "main.rs")
# Each file in these folders is a separate crate.
_OWN_CRATES = ("tests", "examples", "benches", "src/bin")
_STANDARD = frozenset(["std", "core", "alloc", "proc_macro", "test"])
_OLD_EDITION = "2015"


class _Crate(NamedTuple):
    """A crate: its root file, and the folder of its top module."""

    root: str
    folder: str
    edition: str


class RustImports:
    """Resolves paths against the modules of a workspace's crates."""

    def __init__(self, paths: Paths, declared: list[tuple[str, Declared]]) -> None:
        self._paths = paths
        self._projects = {path.rpartition("/")[0]: json.loads(fact.value) for path, fact in declared}
        self._named: dict[str, list[str]] = {}
        for path, fact in declared:
            self._named.setdefault(fact.name, []).append(path.rpartition("/")[0])

    def resolve(self, origin: Origin, target: str, part: str) -> Resolution:
        """Resolve `mod name` or a path of `use`, inside the inline modules that `part` names."""
        crate = self._crate_of(origin.path)
        module = _module_folder(origin.path, crate)
        if target.startswith("mod "):
            return self._declared(origin, module, target.removeprefix("mod "), part)
        here = join(module, *part.split("::")) if part else module
        first, *rest = target.split("::")
        start = here or ""
        if first == "crate":
            return self._deepest(crate, crate.folder, rest, origin)
        if first in ("self", "super"):
            steps = [first, *rest]
            while steps and steps[0] in ("self", "super"):
                if steps.pop(0) == "super":
                    start = start.rpartition("/")[0]
            return self._deepest(crate, start, steps, origin)
        return self._by_name(crate, start, [first, *rest], origin)

    def _by_name(self, crate: _Crate, here: str, steps: list[str], origin: Origin) -> Resolution:
        """Resolve a path that starts with a crate, a sibling module, or a name in this file."""
        first = steps[0]
        if first in _STANDARD:
            return external(first)
        if self._file_of(crate, f"{here}/{first}" if here else first):
            return self._deepest(crate, here, steps, origin)
        if crate.edition == _OLD_EDITION and self._file_of(crate, join(crate.folder, first) or ""):
            return self._deepest(crate, crate.folder, steps, origin)
        projects = self._named.get(first, [])
        if len(projects) > 1:
            return unresolved(Reason.AMBIGUOUS)
        if projects:
            return self._library(projects[0], steps[1:], origin)
        # `use Colour::*` imports from a type that this file defines or has already imported.
        return Resolution(LinkState.REPEATED) if first[:1].isupper() else external(first)

    def _library(self, project: str, steps: list[str], origin: Origin) -> Resolution:
        root = join(project, self._projects[project]["lib"])
        if root is None or root not in self._paths:
            return unresolved(Reason.MISSING_MODULE)
        return self._deepest(_Crate(root, root.rpartition("/")[0], ""), root.rpartition("/")[0], steps, origin)

    def _declared(self, origin: Origin, module: str, name: str, part: str) -> Resolution:
        if part.startswith("@"):
            path = join(origin.folder, part[1:])
            return internal(path) if path and path in self._paths else unresolved(Reason.MISSING_MODULE)
        base = join(module, *part.split("::"), name) if part else join(module, name)
        found = self._paths.first([f"{base}.rs", f"{base}/mod.rs"])
        return internal(found) if found else unresolved(Reason.MISSING_MODULE)

    def _deepest(self, crate: _Crate, start: str, steps: list[str], origin: Origin) -> Resolution:
        """Follow a path as far as there are files; the rest of the path is inside the last file."""
        folder = start
        for step in steps:
            below = f"{folder}/{step}" if folder else step
            if not self._file_of(crate, below):
                break
            folder = below
        found = self._file_of(crate, folder)
        # An inline module is in the file of the module around it.
        while not found and len(folder) > len(crate.folder):
            folder = folder.rpartition("/")[0]
            found = self._file_of(crate, folder)
        if not found:
            return unresolved(Reason.MISSING_MODULE)
        return Resolution(LinkState.REPEATED) if found == origin.path else internal(found)

    def _file_of(self, crate: _Crate, folder: str) -> str | None:
        if folder == crate.folder:
            return crate.root if crate.root in self._paths else None
        return self._paths.first([f"{folder}.rs", f"{folder}/mod.rs"])

    def _crate_of(self, path: str) -> _Crate:
        """Return the crate of a file: by the layout of its project, or else by the nearest root file above."""
        project = next((folder for folder in parents(path) if folder in self._projects), None)
        if project is None:
            above = (f"{folder}/{name}".lstrip("/") for folder in parents(path) for name in _ROOT_NAMES)
            root = self._paths.first(above) or path
            return _Crate(root, root.rpartition("/")[0], "")
        facts = self._projects[project]
        inside = path[len(project) :].strip("/")
        own = next((folder for folder in _OWN_CRATES if inside.startswith(f"{folder}/")), None)
        if own or inside == "build.rs":
            return self._own_crate(path, join(project, own or "") or "", facts["edition"])
        library = join(project, facts["lib"]) or ""
        main = join(project, "src/main.rs") or ""
        root = path if path == main else self._paths.first([library, main]) or path
        return _Crate(root, root.rpartition("/")[0], facts["edition"])

    def _own_crate(self, path: str, folder: str, edition: str) -> _Crate:
        """Return the crate of a test, an example or a program: the file itself, or the main.rs of its folder."""
        name = path[len(folder) :].strip("/").partition("/")[0]
        main = f"{folder}/{name}/main.rs"
        root = main if main in self._paths else path
        if root == path and "/" in path[len(folder) + 1 :]:
            return _Crate("", folder, edition)  # a module that several tests share
        return _Crate(root, root.rpartition("/")[0], edition)


def _module_folder(path: str, crate: _Crate) -> str:
    if path == crate.root or basename(path) == "mod.rs":
        return path.rpartition("/")[0]
    return path.removesuffix(".rs")
