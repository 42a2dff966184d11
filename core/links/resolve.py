"""Resolving links, given all paths and declarations of a workspace."""

from typing import Protocol

from keyhole.core.links.c import Includes
from keyhole.core.links.go import GoImports
from keyhole.core.links.java import JavaImports
from keyhole.core.links.javascript import JavaScriptImports
from keyhole.core.links.link_types import Declared, LinkKind, Origin, Resolution
from keyhole.core.links.paths import Paths
from keyhole.core.links.prose import Anchors, ProseLinks
from keyhole.core.links.python import PythonImports
from keyhole.core.links.rust import RustImports


class ImportResolver(Protocol):
    """Resolves the imports of one language."""

    def resolve(self, origin: Origin, target: str, part: str) -> Resolution:
        """Resolve an import."""
        ...


class Resolver:
    """Resolves every kind of link, without guessing."""

    def __init__(self, paths: Paths, declared: list[tuple[str, Declared]], anchors: Anchors) -> None:
        def facts(*kinds: str) -> list[tuple[str, Declared]]:
            return [pair for pair in declared if pair[1].kind in kinds]

        javascript, includes = JavaScriptImports(paths, facts("npm", "tsconfig")), Includes(paths)
        self._prose = ProseLinks(paths, anchors)
        self._imports: dict[str, ImportResolver] = {
            "python": PythonImports(paths, facts("python")),
            "javascript": javascript,
            "typescript": javascript,
            "tsx": javascript,
            "go": GoImports(paths, facts("go")),
            "rust": RustImports(paths, facts("crate")),
            "java": JavaImports(facts("java")),
            "c": includes,
            "cpp": includes,
        }
        self._resolved: dict[tuple[str, str, str, str], Resolution] = {}

    def resolve(self, origin: Origin, kind: str, target: str, part: str) -> Resolution:
        """Resolve a link."""
        if kind == LinkKind.WIKILINK:
            return self._prose.wikilink(origin, target, part)
        if kind == LinkKind.LINK:
            return self._prose.link(origin, target, part)
        # Cache by folder, because its files share many imports. In Rust the result depends on the file itself.
        key = (origin.path if origin.language == "rust" else origin.folder, origin.language, target, part)
        if key not in self._resolved:
            self._resolved[key] = self._imports[origin.language].resolve(origin, target, part)
        return self._resolved[key]
