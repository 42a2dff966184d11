"""Resolving imports of JavaScript and TypeScript: by relative path, by an alias of the project, or by package."""

import json
from collections.abc import Iterator, Mapping

from keyhole.core.links.link_types import Declared, Origin, Reason, Resolution, external, internal, unresolved
from keyhole.core.links.paths import Paths, basename, join, parents

_TYPED = (".ts", ".tsx", ".d.ts", ".mts", ".cts")
_PLAIN = (".js", ".jsx", ".mjs", ".cjs")
_OTHERS = (".json", ".vue", ".svelte", ".astro")
# TypeScript files are imported by the name of the compiled file.
_COMPILED = {".js": (".ts", ".tsx", ".d.ts"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_CONFIGURATIONS = ("tsconfig.json", "jsconfig.json")
_MOST_EXTENDS = 8
# The conditions of a package's exports; those that point to source come first.
_CONDITIONS = ("source", "import", "node", "module", "default", "require", "types", "browser")


class JavaScriptImports:
    """Resolves imports against files, the aliases of tsconfig.json and the packages of a workspace."""

    def __init__(self, paths: Paths, declared: list[tuple[str, Declared]]) -> None:
        self._paths = paths
        self._configurations = {path: json.loads(fact.value) for path, fact in declared if fact.kind == "tsconfig"}
        self._manifests = {
            path.rpartition("/")[0]: json.loads(fact.value) for path, fact in declared if fact.kind == "npm"
        }
        self._packages: dict[str, list[str]] = {}
        for path, fact in declared:
            if fact.kind == "npm" and fact.name:
                self._packages.setdefault(fact.name, []).append(path.rpartition("/")[0])

    def resolve(self, origin: Origin, target: str, _: str) -> Resolution:
        """Resolve the text between the quotes."""
        if target.startswith("."):
            return self._relative(origin, target)
        if target.startswith("/"):
            return self._file(origin, target[1:]) or unresolved(Reason.MISSING_MODULE)
        by_alias, is_alias = self._by_alias(origin, target)
        if by_alias:
            return by_alias
        if target.startswith("#"):
            return self._own_import(origin, target)
        return self._by_package(origin, target, is_alias=is_alias)

    def _relative(self, origin: Origin, target: str) -> Resolution:
        path = join(origin.folder, target)
        if path is None:
            return unresolved(Reason.OUTSIDE)
        return self._file(origin, path) or unresolved(Reason.MISSING_MODULE)

    def _file(self, origin: Origin, path: str) -> Resolution | None:
        """Return the file for a path, which may have no extension or that of the compiled file."""
        if found := self._paths.first(self._spellings(origin, path)):
            return internal(found)
        if self._paths.is_folder(path) and (main := self._entry(path)):
            return internal(main)
        place = self._paths.place(path)
        # A folder without an index file cannot be imported.
        return None if place and self._paths.is_folder(path) else place

    def _spellings(self, origin: Origin, path: str) -> Iterator[str]:
        endings = (*_PLAIN, *_TYPED, *_OTHERS) if origin.language == "javascript" else (*_TYPED, *_PLAIN, *_OTHERS)
        if path and basename(path) not in ("", ".."):
            yield path
            stem, dot, ending = path.rpartition(".")
            yield from (stem + other for other in _COMPILED.get(dot + ending, ()))
            yield from (path + ending for ending in endings)
        yield from (f"{path}/index{ending}" if path else f"index{ending}" for ending in endings)

    def _entry(self, folder: str) -> str | None:
        """Return the entry file of a package, if it is indexed."""
        facts = self._manifests.get(folder, {})
        exported = facts.get("exports")
        root = exported.get(".", exported) if isinstance(exported, dict) else exported
        named = [facts.get("source"), *_targets(root), *(facts.get(key) for key in ("module", "main", "types"))]
        for name in named:
            path = join(folder, name) if isinstance(name, str) else None
            if path and (found := self._paths.first(self._spellings(Origin("", "javascript"), path))):
                return found
        return self._paths.first(f"{folder}/index{ending}".lstrip("/") for ending in (*_TYPED, *_PLAIN))

    def _own_import(self, origin: Origin, target: str) -> Resolution:
        """Resolve `#name` with the `imports` of the nearest package."""
        for folder in parents(origin.path):
            if folder in self._manifests:
                for name in _matching(self._manifests[folder].get("imports"), target):
                    path = join(folder, name) if name.startswith(".") else None
                    if path and (found := self._file(origin, path)):
                        return found
                break
        return unresolved(Reason.MISSING_MODULE)

    def _by_alias(self, origin: Origin, target: str) -> tuple[Resolution | None, bool]:
        """Resolve with the nearest configuration; also return whether an alias other than `*` matches the target."""
        for folder in parents(origin.path):
            for name in _CONFIGURATIONS:
                path = f"{folder}/{name}" if folder else name
                if path in self._configurations:
                    base, aliases, alias_base = self._options(path)
                    names = list(_matching(aliases, target))
                    places = [place for alias in names if (place := join(alias_base, alias)) is not None]
                    if not names and base is not None:
                        places = [place for place in [join(base, target)] if place is not None]
                    found = next((f for place in places if (f := self._file(origin, place))), None)
                    return found, bool(names) and not _is_catch_all(aliases, target)
        return None, False

    def _options(self, path: str) -> tuple[str | None, Mapping[str, object], str]:
        """Return the base folder, the aliases and the folder they are relative to, following `extends`."""
        base: str | None = None
        aliases: Mapping[str, object] | None = None
        alias_base = path.rpartition("/")[0]
        for _ in range(_MOST_EXTENDS):
            facts, folder = self._configurations.get(path, {}), path.rpartition("/")[0]
            if base is None and isinstance(facts.get("baseUrl"), str):
                base = join(folder, facts["baseUrl"])
            if aliases is None and isinstance(facts.get("paths"), dict):
                aliases, alias_base = facts["paths"], folder
                if base is not None:
                    alias_base = base
            above = facts.get("extends")
            above = above[-1] if isinstance(above, list) and above else above
            if not (isinstance(above, str) and above.startswith(".")):
                break
            path = join(folder, above) or ""
            path = path if path.endswith(".json") else f"{path}.json"
        return base, aliases or {}, alias_base

    def _by_package(self, origin: Origin, target: str, *, is_alias: bool) -> Resolution:
        parts = target.split("/")
        name = "/".join(parts[:2]) if target.startswith("@") else parts[0]
        folders = self._packages.get(name, [])
        if len(folders) > 1:
            return unresolved(Reason.AMBIGUOUS)
        if not folders:
            return unresolved(Reason.MISSING_MODULE) if is_alias else external(name.removeprefix("node:"))
        (folder,) = folders
        rest = target[len(name) :].strip("/")
        if rest:
            path = join(folder, rest)
            return (self._file(origin, path) if path else None) or self._exported(folder, rest) or internal(folder)
        entry = self._entry(folder)
        return internal(entry or folder)

    def _exported(self, folder: str, rest: str) -> Resolution | None:
        for name in _matching(self._manifests.get(folder, {}).get("exports"), f"./{rest}"):
            path = join(folder, name)
            if path and path in self._paths:
                return internal(path)
        return None


def _matching(aliases: object, target: str) -> Iterator[str]:
    """Yield the paths that the longest matching alias gives for a target."""
    if not isinstance(aliases, dict):
        return
    for pattern in sorted((key for key in aliases if isinstance(key, str)), key=lambda key: (-len(key), key)):
        start, star, end = pattern.partition("*")
        if star and target.startswith(start) and target.endswith(end) and len(target) >= len(start) + len(end):
            middle = target[len(start) : len(target) - len(end)]
            yield from (name.replace("*", middle, 1) for name in _targets(aliases[pattern]))
            return
        if not star and pattern == target:
            yield from _targets(aliases[pattern])
            return


def _targets(value: object, depth: int = 4) -> Iterator[str]:
    """Yield the paths in a value, which is a path, a list of paths, or a table of paths by condition."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth:
        for one in value:
            yield from _targets(one, depth - 1)
    elif isinstance(value, dict) and depth:
        for condition in _CONDITIONS:
            yield from _targets(value.get(condition), depth - 1)


def _is_catch_all(aliases: Mapping[str, object], target: str) -> bool:
    """Return whether only the alias `*`, which matches everything, matches a target."""
    return "*" in aliases and not any(_matching({key: "x" for key in aliases if key != "*"}, target))
