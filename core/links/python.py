"""Resolving imports of Python, only against folders that the file can import from."""

from collections.abc import Iterator
from functools import cached_property

from keyhole.core.links.link_types import Declared, Origin, Reason, Resolution, external, internal, unresolved
from keyhole.core.links.paths import Paths, join, parents

_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
# Folders of a project that usually contain its packages.
_SOURCE_FOLDERS = ("src", "lib", "python")
_ENDINGS = ("/__init__.py", ".py", "/__init__.pyi", ".pyi", ".pyx")


class PythonImports:
    """Resolves imports against the packages of a workspace."""

    def __init__(self, paths: Paths, declared: list[tuple[str, Declared]]) -> None:
        self._paths = paths
        self._mapped = [
            (folder, fact.name.strip("/"), root)
            for path, fact in declared
            if (root := join(folder := path.rpartition("/")[0], fact.value)) is not None
        ]
        # Most folders of a project import from the same roots, so their imports are resolved once.
        self._known_roots: dict[str, tuple[str, ...]] = {}
        self._known_modules: dict[tuple[tuple[str, ...], str, str], Resolution] = {}

    def resolve(self, origin: Origin, target: str, part: str) -> Resolution:
        """Resolve `import target`, or `from target import part`."""
        names = target.lstrip(".")
        dots, modules = len(target) - len(names), [module for module in names.split(".") if module]
        if dots:
            base = join(origin.folder, *[".."] * (dots - 1))
            if base is None:
                return unresolved(Reason.OUTSIDE)
            found = self._module(base, modules, part)
            return internal(found) if found else self._missing(join(base, *modules) or "")
        return self._absolute_from(origin.folder, names, modules, part) if modules else external(target)

    def packages_named(self, name: str) -> Iterator[str]:
        """Yield the folders that imports of a name may mean: its packages, with or without an `__init__.py`."""
        mapped = {root for _, package, root in self._mapped if package == name}
        roots = {*self._roots, *(root for _, package, root in self._mapped if not package)}
        folders = {folder for root in roots if (folder := join(root, name))}
        yield from sorted(folder for folder in {*mapped, *folders} if folder in self._module_folders)

    def _missing(self, path: str) -> Resolution:
        """Return why a module is not found: it is missing, or its folder is skipped."""
        place = self._paths.place(path)
        return place if place and place.reason else unresolved(Reason.MISSING_MODULE)

    def _absolute_from(self, folder: str, target: str, parts: list[str], name: str) -> Resolution:
        if folder not in self._known_roots:
            self._known_roots[folder] = tuple(self._own_roots(folder))
        roots = self._known_roots[folder]
        key = (roots, target, name)
        if key not in self._known_modules:
            self._known_modules[key] = self._absolute(roots, parts, name)
        return self._known_modules[key]

    def _absolute(self, own_roots: tuple[str, ...], parts: list[str], name: str) -> Resolution:
        looks_internal = False
        for root in own_roots:
            if found := self._module(root, parts, name):
                return internal(found)
            looks_internal |= self._has_package(root, parts[0])
        elsewhere = {found for root in self._roots if (found := self._module(root, parts, name))}
        elsewhere |= set(self._by_mapping(parts, name))
        if len(elsewhere) == 1:
            return internal(elsewhere.pop())
        if elsewhere:
            return unresolved(Reason.AMBIGUOUS)
        if looks_internal or any(self._has_package(root, parts[0]) for root in self._roots):
            return unresolved(Reason.MISSING_MODULE)
        return external(parts[0])

    def _own_roots(self, folder: str) -> Iterator[str]:
        """Yield the folders that a file can certainly import from, the nearest first."""
        top = folder
        while top and f"{top}/__init__.py" in self._paths:
            top = top.rpartition("/")[0]
        yield top
        for above in (folder, *parents(folder)):
            if above in self._projects:
                yield from self._roots_of(above)

    def _module(self, root: str, parts: list[str], name: str) -> str | None:
        """Return the file of a module in a folder; the imported name may be a submodule."""
        base = "/".join([root, *parts] if root else parts)
        if name and name != "*" and (inside := self._file(f"{base}/{name}" if base else name)):
            return inside
        return self._file(base) if base else self._paths.first(["__init__.py"])

    def _file(self, base: str) -> str | None:
        return self._paths.first(base + ending for ending in _ENDINGS)

    def _has_package(self, root: str, name: str) -> bool:
        base = f"{root}/{name}" if root else name
        return any(base + ending in self._paths for ending in _ENDINGS)

    def _by_mapping(self, parts: list[str], name: str) -> Iterator[str]:
        """Yield modules of packages whose folder is declared in a project file."""
        dotted = "/".join(parts)
        for _, package, root in self._mapped:
            if not package or dotted == package or dotted.startswith(f"{package}/"):
                rest = dotted[len(package) :].strip("/")
                if found := self._module(root, [part for part in rest.split("/") if part], name):
                    yield found

    def _roots_of(self, project: str) -> Iterator[str]:
        yield from (folder for name in _SOURCE_FOLDERS if (folder := join(project, name)) is not None)
        yield project

    @cached_property
    def _projects(self) -> frozenset[str]:
        """The folders that are projects; the root of the workspace always is one."""
        named = {path.rpartition("/") for path in self._paths.files if path.endswith(_PROJECT_FILES)}
        return frozenset(["", *(folder for folder, _, name in named if name in _PROJECT_FILES)])

    @cached_property
    def _module_folders(self) -> frozenset[str]:
        """The folders that contain modules."""
        return frozenset(path.rpartition("/")[0] for path in self._paths.files if path.endswith((".py", ".pyi")))

    @cached_property
    def _roots(self) -> tuple[str, ...]:
        return tuple(root for project in sorted(self._projects) for root in self._roots_of(project))
