"""Resolving imports of Java, using the package declarations of files."""

from collections import defaultdict

from keyhole.core.links.link_types import Declared, Origin, Reason, Resolution, external, internal, unresolved
from keyhole.core.links.paths import basename

_TEST_FOLDERS = ("/test/", "/tests/", "/androidTest/", "/it/")


class JavaImports:
    """Resolves imports against the packages of a workspace."""

    def __init__(self, declared: list[tuple[str, Declared]]) -> None:
        self._types: dict[str, list[str]] = defaultdict(list)
        self._folders: dict[str, set[str]] = defaultdict(set)
        for path, fact in declared:
            folder, _, name = path.rpartition("/")
            self._types[f"{fact.name}.{name.removesuffix('.java')}"].append(path)
            self._folders[fact.name].add(folder)

    def resolve(self, origin: Origin, target: str, _: str) -> Resolution:
        """Resolve the import of a type, a member of a type, or a whole package."""
        if target.endswith(".*") and target[:-2] in self._folders:
            return _one_of(origin, self._folders[target[:-2]])
        name = target.removesuffix(".*")
        while name:
            if found := self._types.get(name):
                return _one_of(origin, found)
            name = name.rpartition(".")[0]
        package = target.removesuffix(".*")
        while package:
            # The package is in the workspace, but the type is missing: it may be generated or deleted.
            if package in self._folders and _is_type(target[len(package) + 1 :]):
                return unresolved(Reason.MISSING_MODULE)
            package = package.rpartition(".")[0]
        return external(_package_of(target))


def _one_of(origin: Origin, places: "set[str] | list[str]") -> Resolution:
    """Return the only place, the only one in the same source tree, or the only one that is not a test."""
    for narrowed in (
        list(places),
        [place for place in places if _tree(place) == _tree(origin.path)],
        [place for place in places if not any(folder in f"/{place}/" for folder in _TEST_FOLDERS)],
    ):
        if len(narrowed) == 1:
            return internal(narrowed[0])
    return unresolved(Reason.AMBIGUOUS)


def _tree(path: str) -> str:
    """Return the source tree of a path: the part before the folder `java`."""
    return path.partition("/java/")[0]


def _is_type(rest: str) -> bool:
    return basename(rest.partition(".")[0])[:1].isupper()


def _package_of(target: str) -> str:
    names = target.removesuffix(".*").split(".")
    return ".".join(name for name in names if name[:1].islower()) or target
