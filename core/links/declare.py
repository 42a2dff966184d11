"""The declarations that links are resolved with: modules of Go, aliases of TypeScript, packages, anchors."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

from keyhole.core.links.link_types import Declared
from keyhole.core.links.markdown import markdown_anchors
from keyhole.core.links.paths import basename
from keyhole.core.syntax.jsonc import parse_jsonc

# These patterns match within one line only, so that even a hostile file takes linear time.
_GO_MODULE = re.compile(r"^module[ \t]+\"?([^\s\"]+)", re.MULTILINE)
_GO_REPLACE = re.compile(
    r"^(?:replace)?[ \t]+([^\s=(]{1,300})(?:[ \t]+v\S{1,100})?[ \t]+=>[ \t]+(\.{1,2}/\S*)", re.MULTILINE
)
_JAVA_PACKAGE = re.compile(r"^[ \t]*package[ \t]+([\w.]+)[ \t]*;", re.MULTILINE)
_TSCONFIG = re.compile(r"(?:ts|js)config(?:\.[\w.-]+)?\.json")
# No configuration written by hand is longer than this.
_LONGEST_VALUE = 50_000
_PACKAGE_FACTS = ("main", "module", "types", "typings", "source", "exports", "imports")


def declarations(path: str, language: str, text: str) -> tuple[Declared, ...]:
    """Return the declarations of a file; none if it cannot be parsed."""
    name = basename(path)
    read = _BY_NAME.get(name) or _BY_LANGUAGE.get(language)
    if _TSCONFIG.fullmatch(name):
        read = _tsconfig
    if read is None:
        return ()
    try:
        return tuple(fact for fact in read(text) if len(fact.value) <= _LONGEST_VALUE)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return ()


def _go_module(text: str) -> Iterator[Declared]:
    if module := _GO_MODULE.search(text):
        yield Declared("go", module.group(1), ".")
    for name, folder in _GO_REPLACE.findall(text):
        yield Declared("go", name, folder)


def _tsconfig(text: str) -> Iterator[Declared]:
    facts = _json(text)
    options = facts.get("compilerOptions") or {}
    known = {"extends": facts.get("extends"), "baseUrl": options.get("baseUrl"), "paths": options.get("paths")}
    yield Declared("tsconfig", "", json.dumps({key: value for key, value in known.items() if value is not None}))


def _npm_package(text: str) -> Iterator[Declared]:
    facts = _json(text)
    known = {key: facts[key] for key in _PACKAGE_FACTS if key in facts}
    name = facts.get("name")
    yield Declared("npm", name if isinstance(name, str) else "", json.dumps(known))


def _crate(text: str) -> Iterator[Declared]:
    facts = tomllib.loads(text)
    package, library = facts.get("package") or {}, facts.get("lib") or {}
    if not package:
        return
    name = library.get("name") or str(package.get("name", "")).replace("-", "_")
    edition = package.get("edition", "2015")
    # An edition inherited from the workspace (not a string) is a recent one: old crates have no workspace.
    known = {"lib": library.get("path", "src/lib.rs"), "edition": edition if isinstance(edition, str) else "2021"}
    yield Declared("crate", str(name), json.dumps(known))


def _python_project(text: str) -> Iterator[Declared]:
    """Yield the packages whose folder differs from their name."""
    tools = tomllib.loads(text).get("tool") or {}
    wheel = (((tools.get("hatch") or {}).get("build") or {}).get("targets") or {}).get("wheel") or {}
    sources = wheel.get("sources") or {}
    setuptools = tools.get("setuptools") or {}
    if isinstance(sources, dict):
        yield from (Declared("python", str(package), str(folder)) for folder, package in sources.items())
    for package, folder in (setuptools.get("package-dir") or {}).items():
        yield Declared("python", package.replace(".", "/"), str(folder))
    finding = setuptools.get("packages") or {}
    for folder in (finding.get("find") or {}).get("where") or []:
        yield Declared("python", "", str(folder))


def _java_package(text: str) -> Iterator[Declared]:
    if package := _JAVA_PACKAGE.search(text):
        yield Declared("java", package.group(1))


def _json(text: str) -> dict[str, Any]:
    facts = parse_jsonc(text)
    return facts if isinstance(facts, dict) else {}


_BY_NAME: dict[str, Callable[[str], Iterator[Declared]]] = {
    "go.mod": _go_module,
    "package.json": _npm_package,
    "Cargo.toml": _crate,
    "pyproject.toml": _python_project,
}
_BY_LANGUAGE: dict[str, Callable[[str], Iterator[Declared]]] = {
    "java": _java_package,
    "markdown": lambda text: iter(markdown_anchors(text)),
}
