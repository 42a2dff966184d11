"""Resolving imports of Go to the folders of packages, using the module paths in go.mod files."""

from functools import cached_property

from keyhole.core.links.link_types import Declared, Origin, Reason, Resolution, external, internal, unresolved
from keyhole.core.links.paths import Paths, join, parents

# The parts of an import path that name a project: host, owner and repository.
_PROJECT_PARTS = 3


class GoImports:
    """Resolves imports against the modules of a workspace."""

    def __init__(self, paths: Paths, declared: list[tuple[str, Declared]]) -> None:
        self._paths = paths
        self._modules = [
            (fact.name, root)
            for path, fact in declared
            if (root := join(path.rpartition("/")[0], fact.value)) is not None
        ]

    def resolve(self, origin: Origin, target: str, _: str) -> Resolution:
        """Resolve an import path."""
        for above in parents(origin.path):
            vendored = join(above, "vendor", target)
            if vendored in self._packages:
                return internal(vendored or "")
        inside = [module for module in self._modules if target == module[0] or target.startswith(f"{module[0]}/")]
        if not inside:
            return self._relative(origin, target) if target.startswith(".") else external(_project(target))
        longest = max(len(name) for name, _ in inside)
        roots = [root for name, root in inside if len(name) == longest]
        own = [root for root in roots if not root or origin.path.startswith(f"{root}/")]
        folders = {join(root, target[longest:].strip("/")) for root in own or roots}
        found = sorted(folder for folder in folders if folder is not None and folder in self._packages)
        if len(found) == 1:
            return internal(found[0])
        return unresolved(Reason.AMBIGUOUS if found else Reason.MISSING_MODULE)

    def _relative(self, origin: Origin, target: str) -> Resolution:
        folder = join(origin.folder, target)
        if folder is None:
            return unresolved(Reason.OUTSIDE)
        return internal(folder) if folder in self._packages else unresolved(Reason.MISSING_MODULE)

    @cached_property
    def _packages(self) -> frozenset[str | None]:
        """The folders that contain Go files."""
        return frozenset(path.rpartition("/")[0] for path in self._paths.files if path.endswith(".go"))


def _project(target: str) -> str:
    parts = target.split("/")
    return "/".join(parts[:_PROJECT_PARTS]) if "." in parts[0] else target
