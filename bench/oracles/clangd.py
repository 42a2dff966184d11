"""clangd as an oracle for C and C++, asked once it has indexed the whole project in the background.

The commands that compile a project are made from the source files and flags of the manifest, so nothing is built. Code
that these flags leave out (`#ifdef _WIN32`) has no references for clangd; `unread_lines` says where that is.
"""

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from oracles.language_server import LanguageServer
from oracles.places import LAST_COLUMN, Asked, Place

HERE = Path(__file__).parent
MANIFEST = HERE.parent / "quality" / "references.toml"
DATA = HERE.parent / ".data" / "references"
HEADERS = (".h", ".hh", ".hpp")
# What clangd calls code that the preprocessor leaves out.
_INACTIVE = "comment"
_DEFINE = re.compile(rb"\s*#\s*define\b")


def references(project: Path, asked: Sequence[Asked]) -> dict[Asked, frozenset[Place]]:
    """Return the references of each definition that clangd knows, without declarations.

    clangd does not record where namespaces are used, so it is not asked about them. Places where the name is not
    written are left out: where a macro is expanded that uses it, or where a constructor makes a variable.
    """
    answers = {}
    with _indexed(project) as server:
        for one in asked:
            if server.line(one.path, one.line).lstrip().startswith(("namespace ", "inline namespace ")):
                continue
            used, found = (server.places(one, with_declarations=is_with) for is_with in (False, True))
            if one[:3] in found - used:
                answers[one] = frozenset(place for place in used if _is_named(server, place, one.name))
    return answers


def _is_named(server: LanguageServer, place: Place, name: str) -> bool:
    line = server.line(place.path, place.line).encode()
    written = re.compile(rb"\w*").match(line, place.column)
    # The name of a destructor is a definition, but clangd takes it for a use of the class.
    is_destructor = line[: place.column].endswith(b"~") and line.startswith(b"(", place.column + len(name.encode()))
    is_it = written is not None and written.group() == name.encode() and not is_destructor
    return place.column == LAST_COLUMN or is_it


def loaded_files(project: Path) -> list[str]:
    """Return the files that clangd reads: those that are compiled, and the headers that they include."""
    known, _ = _entry(project)
    compiled = _compiled(project)
    command = ["cc", *known["flags"], "-MM", *compiled]
    rules = subprocess.run(command, cwd=project, check=True, capture_output=True, text=True).stdout
    included = {(project / word).resolve() for word in rules.split() if word.endswith(HEADERS)}
    root = project.resolve()
    headers = {path.relative_to(root).as_posix() for path in included if path.is_relative_to(root)}
    return sorted(headers | set(compiled))


def unread_lines(project: Path) -> dict[str, list[int]]:
    """Return the lines of each file that the preprocessor leaves out, and the bodies of macros.

    What a macro uses is not known where it is defined, only where it is expanded.
    """
    with _indexed(project) as server:
        types = server.offered["semanticTokensProvider"]["legend"]["tokenTypes"]
        return {
            path: sorted({*_inactive_lines(server, path, types), *_lines_of_macros(project / path)})
            for path in loaded_files(project)
        }


def _lines_of_macros(path: Path) -> Iterator[int]:
    is_macro = False
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        is_macro = is_macro or _DEFINE.match(line) is not None
        if is_macro:
            yield number
        is_macro = is_macro and line.rstrip().endswith(b"\\")


def _inactive_lines(server: LanguageServer, path: str, types: list[str]) -> Iterator[int]:
    answer = server.ask("textDocument/semanticTokens/full", {"textDocument": server.show(path)})
    data, line = answer["data"], 1
    for start in range(0, len(data), 5):
        line += data[start]
        if types[data[start + 3]] == _INACTIVE:
            yield line


def _compiled(project: Path) -> list[str]:
    known, _ = _entry(project)
    found = (path.relative_to(project).as_posix() for pattern in known["sources"] for path in project.glob(pattern))
    return sorted(set(found) - set(known.get("without", [])))


@contextmanager
def _indexed(project: Path) -> Iterator[LanguageServer]:
    """Start clangd with commands for all sources, and wait until it has indexed them."""
    known, version = _entry(project)
    program = f"clangd-{version.partition('.')[0]}"
    if (
        f"version {version}"
        not in subprocess.run([program, "--version"], check=True, capture_output=True).stdout.decode()
    ):
        raise SystemExit(f"clangd {version} is needed: install the package {program}")
    compiled, folder = _compiled(project), str(project.resolve())
    commands = [{"directory": folder, "file": path, "arguments": ["cc", *known["flags"], path]} for path in compiled]
    # The index is kept next to the commands, so only the first run takes long.
    home = DATA / f"clangd-{known['name']}"
    home.mkdir(parents=True, exist_ok=True)
    (home / "compile_commands.json").write_text(json.dumps(commands))
    options = [f"--compile-commands-dir={home}", "--background-index", "--limit-results=0", "-j=2", "--log=error"]
    with LanguageServer([program, *options], project, "c" if compiled[0].endswith(".c") else "cpp") as server:
        server.show(compiled[0])
        server.wait_for_end("backgroundIndexProgress")
        yield server


def _entry(project: Path) -> tuple[dict[str, Any], str]:
    """Return what the manifest says about a project, and the version of clangd."""
    manifest = tomllib.loads(MANIFEST.read_text())
    (known,) = [one for one in manifest["project"] if project.name.startswith(f"{one['name']}-")]
    return known, manifest["tools"]["clangd"]
