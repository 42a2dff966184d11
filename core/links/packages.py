"""The packages of a workspace by the name that imports use: npm packages, Go packages, crates, Python and Java."""

from collections.abc import Iterable, Iterator

from keyhole.core.links.link_types import ROOT, Declared
from keyhole.core.links.paths import Paths, join
from keyhole.core.links.python import PythonImports


class Packages:
    """Finds the folder of a package of the workspace."""

    def __init__(self, paths: Paths, declared: Iterable[tuple[str, Declared]]) -> None:
        self._paths = paths
        self._declared = list(declared)

    def folders_of(self, name: str) -> list[str]:
        """Return the folders of the packages with a name, which may also name something inside the package."""
        found = [*self._npm(name), *self._go(name), *self._crates(name), *self._java(name), *self._python(name)]
        return [folder or ROOT for folder in dict.fromkeys(found)]

    def _of_kind(self, kind: str) -> Iterator[tuple[str, Declared]]:
        """Yield the declarations of a kind, each with the folder of its file."""
        return ((path.rpartition("/")[0], fact) for path, fact in self._declared if fact.kind == kind)

    def _npm(self, name: str) -> Iterator[str]:
        return (folder for folder, fact in self._of_kind("npm") if fact.name and _is_in(name, fact.name))

    def _go(self, name: str) -> Iterator[str]:
        for folder, fact in self._of_kind("go"):
            root = join(folder, fact.value) if _is_in(name, fact.name) else None
            inside = join(root, name[len(fact.name) :].strip("/")) if root is not None else None
            if inside is not None and self._paths.is_folder(inside):
                yield inside

    def _crates(self, name: str) -> Iterator[str]:
        wanted = name.partition("::")[0].replace("-", "_")
        return (folder for folder, fact in self._of_kind("crate") if fact.name == wanted)

    def _java(self, name: str) -> Iterator[str]:
        return (folder for folder, fact in self._of_kind("java") if fact.name == name)

    def _python(self, name: str) -> Iterator[str]:
        declared = [(path, fact) for path, fact in self._declared if fact.kind == "python"]
        return PythonImports(self._paths, declared).packages_named(name.partition(".")[0])


def _is_in(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}/")
