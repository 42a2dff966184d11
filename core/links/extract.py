"""Extracting the links of one file: the imports that parsing found, or the links of its Markdown."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from keyhole.core.links.link_types import LinkKind, RawLink
from keyhole.core.links.markdown import domain_of, markdown_links
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.syntax import Import, Outline

# A generated file may contain any number of imports; nobody follows more links than this.
MOST_LINKS = 5_000
_MOST_MODULES = 1_000
_LONGEST_TARGET = 1_000
_LONGEST_STATEMENT = 20_000

_LINE_END = re.compile(r"\n")
_FROM = re.compile(r"from\s*[.\w\s]+?\bimport\s*(\(?)", re.ASCII)
_NAMES_IN_BRACKETS = re.compile(r"\bfrom\s[^()#]*\(([^()]*)\)")
_COMMENT = re.compile(r"#[^\n]*")
_RUST_MODULE = re.compile(r"(?:^|\s)mod\s+(?:r#)?(\w+)$")
_RUST_PATH = re.compile(r"#\[path\s*=\s*\"([^\"]+)\"\]")
_RUST_USE = re.compile(r"^.*?\buse\s+")
_RUST_TOKEN = re.compile(r"::|[{},*]|[^\s{},:*]+")
# Statements inside a macro. If the macro contains modules or functions, it is ignored: relative paths would be unclear.
_RUST_STATEMENT = re.compile(r"(?<=[;{}\]])\s*((?:pub(?:\([^()\n]*\))?\s+)?(?:mod\s+\w+|use\s[^;]{1,2000}))(?=;)")
_RUST_SCOPE = re.compile(r"\b(?:mod\s+\w+\s*\{|fn\s+\w)")
_RUST_NOISE = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:[^\"\\]|\\.)*(?:\"|\Z)", re.DOTALL)
_JAVA_IMPORT = re.compile(r"^import\s+(?:static\s+)?([\w.\s]+\*?)")
# The modules that a bundle requires are inside the bundle, so they are not links.
_BUNDLED = re.compile(r"function\s*\(\s*\w+\s*,\s*module\s*,\s*exports\s*\)")
_INCLUDE = re.compile(r"(\"[^\"]+\"|<[^<>]+>)")


def links_of(source: SourceFile, outline: Outline) -> tuple[RawLink, ...]:
    """Return the links of a file, without duplicates."""
    if outline.language == "markdown":
        found: Iterable[RawLink] = markdown_links(source.text)
    else:
        read = _IMPORTS.get(outline.language)
        found = read(source, outline) if read and (outline.imports or outline.references) else ()
    kept = (link for link in found if len(link.target) <= _LONGEST_TARGET and "\n" not in link.target)
    return tuple(link for link, _ in zip(dict.fromkeys(kept), range(MOST_LINKS), strict=False))


def _python(source: SourceFile, outline: Outline) -> Iterator[RawLink]:
    # Most files do not need the line starts, and computing them takes longer than everything else here.
    line_starts = cache(lambda: [0, *(match.end() for match in _LINE_END.finditer(source.text))])
    for item in outline.imports:
        top = item.target.partition(".")[0]
        if top in sys.stdlib_module_names:
            yield RawLink(item.line, LinkKind.IMPORT, item.target, site=top)
            continue
        names = [""]
        if item.text.startswith("from"):
            names = _python_names(item, source.text, line_starts)
        yield from (RawLink(item.line, LinkKind.IMPORT, item.target.replace(" ", ""), name) for name in names)


def _python_names(item: Import, text: str, line_starts: Callable[[], list[int]]) -> list[str]:
    """Return the names that `from module import …` imports; each may be a submodule."""
    start = _FROM.match(item.text)
    listed = item.text[start.end() :] if start else ""
    if start and start.group(1):
        # The text of the import is on one line, where comments cannot be told from names, so read the source.
        position = line_starts()[item.line - 1]
        written = _NAMES_IN_BRACKETS.search(text, position, position + _LONGEST_STATEMENT)
        listed = _COMMENT.sub("", written.group(1)) if written else ""
    names = [part.strip(" \\\t\r\n()").partition(" ")[0] for part in listed.split(",")]
    return [name for name in names if name] or [""]


def _javascript(source: SourceFile, outline: Outline) -> Iterator[RawLink]:
    if _BUNDLED.search(source.text):
        return
    for item in sorted((*outline.imports, *outline.references), key=lambda item: item.line):
        target = item.target.rpartition("!")[2].partition("?")[0]
        site = domain_of(target) if "://" in target else ""
        if target:
            yield RawLink(item.line, LinkKind.IMPORT, target, site=site)


def _as_written(_: SourceFile, outline: Outline) -> Iterator[RawLink]:
    yield from (RawLink(item.line, LinkKind.IMPORT, item.target) for item in outline.imports)


def _java(_: SourceFile, outline: Outline) -> Iterator[RawLink]:
    for item in outline.imports:
        if found := _JAVA_IMPORT.match(item.text):
            yield RawLink(item.line, LinkKind.IMPORT, "".join(found.group(1).split()))


def _include(_: SourceFile, outline: Outline) -> Iterator[RawLink]:
    for item in outline.imports:
        if found := _INCLUDE.search(item.text):
            yield RawLink(item.line, LinkKind.IMPORT, found.group(1))


def _rust(source: SourceFile, outline: Outline) -> Iterator[RawLink]:
    lines = source.text.split("\n")
    modules = [symbol for symbol in outline.walk() if symbol.kind == "module"][:_MOST_MODULES]
    for item in (*outline.imports[:MOST_LINKS], *_rust_in_macros(outline.references)):
        inside = "::".join(m.name for m in modules if m.start_line <= item.line <= m.end_line)
        if module := _RUST_MODULE.search(item.text):
            above = _RUST_PATH.search("\n".join(lines[max(0, item.line - 4) : item.line]))
            yield RawLink(item.line, LinkKind.IMPORT, f"mod {module.group(1)}", f"@{above[1]}" if above else inside)
        elif _RUST_USE.match(item.text):
            for path in _rust_paths(_RUST_USE.sub("", item.text[:_LONGEST_STATEMENT], count=1)):
                yield RawLink(item.line, LinkKind.IMPORT, path, inside)
        else:
            yield RawLink(item.line, LinkKind.IMPORT, item.target, inside)


def _rust_in_macros(macros: tuple[Import, ...]) -> Iterator[Import]:
    for macro in macros:
        text = _RUST_NOISE.sub(lambda match: "\n" * match.group().count("\n"), macro.target)
        if not _RUST_SCOPE.search(text):
            for match in _RUST_STATEMENT.finditer(text):
                yield Import("", match.group(1), macro.line + text.count("\n", 0, match.start(1)))


def _rust_paths(tree: str) -> list[str]:
    """Expand `a::{b, c::{self, d}}` to `a::b`, `a::c`, `a::c::d`."""
    prefixes, path, paths = [list[str]()], list[str](), list[str]()
    is_leaf = is_alias = False
    for word in [*_RUST_TOKEN.findall(tree), ","]:
        if word == "{":
            prefixes.append(path)
            is_leaf = False
        elif word in (",", "}"):
            if is_leaf:
                paths.append("::".join(path))
            if word == "}" and len(prefixes) > 1:
                prefixes.pop()
            path, is_leaf, is_alias = prefixes[-1], False, False
        elif word == "as":
            is_alias = True
        elif word != "::" and not is_alias:
            is_leaf = True
            if not path or word not in ("*", "self"):
                path = [*path, word.removeprefix("r#")]
    return paths


_IMPORTS: dict[str, Callable[[SourceFile, Outline], Iterator[RawLink]]] = {
    "python": _python,
    "javascript": _javascript,
    "typescript": _javascript,
    "tsx": _javascript,
    "go": _as_written,
    "rust": _rust,
    "java": _java,
    "c": _include,
    "cpp": _include,
}
