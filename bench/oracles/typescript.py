"""The language service of TypeScript as an oracle for TypeScript and JavaScript.

All files of a project are in one program, whatever its own configurations say. Packages from outside are not installed,
so whatever comes from them has no type; the manifest says where those are that the project itself has.
"""

import json
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oracles.places import Asked, Place, place_from_utf16, utf16_column

HERE = Path(__file__).parent
MANIFEST = HERE.parent / "quality" / "references.toml"
DATA = HERE.parent / ".data" / "references"
SCRIPT = HERE / "typescript.mjs"
ENDINGS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")


def references(project: Path, asked: Sequence[Asked]) -> dict[Asked, frozenset[Place]]:
    """Return the references of each definition that the service knows, without the definition itself."""
    known, version = _entry(project)
    lines = _Lines(project)
    question = {
        "root": str(project.resolve()),
        "files": loaded_files(project),
        "paths": known.get("packages", {}),
        "asked": [(one.path, one.line - 1, utf16_column(lines.at(one.path, one.line), one.column)) for one in asked],
    }
    # Some files nest so deeply that the usual stack of 1 MB is not enough.
    options = ["--max-old-space-size=6000", "--stack-size=6000"]
    command = ["node", *options, str(SCRIPT), str(_compiler(version))]
    answer = subprocess.run(command, input=json.dumps(question).encode(), stdout=subprocess.PIPE, check=True).stdout
    return {
        one: frozenset(lines.place(*place) for place in found)
        for one, found in zip(asked, json.loads(answer), strict=True)
        if found is not None
    }


def loaded_files(project: Path) -> list[str]:
    """Return the files that the service reads."""
    known, _ = _entry(project)
    without = ("node_modules", *known.get("without", []))
    found = (path for path in project.rglob("*") if path.name.endswith(ENDINGS) and path.is_file())
    paths = (path.relative_to(project).as_posix() for path in found)
    return sorted(path for path in paths if not any(f"/{path}".startswith(f"/{folder}/") for folder in without))


def _entry(project: Path) -> tuple[dict[str, Any], str]:
    """Return what the manifest says about a project, and the version of TypeScript."""
    manifest = tomllib.loads(MANIFEST.read_text())
    (known,) = [one for one in manifest["project"] if project.name.startswith(f"{one['name']}-")]
    return known, manifest["tools"]["typescript"]


def _compiler(version: str) -> Path:
    """Install the compiler the first time, and return its folder."""
    home = DATA / f"typescript-{version}"
    folder = home / "node_modules" / "typescript"
    if not folder.is_dir():
        home.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--silent", "--no-save", "--prefix", str(home), f"typescript@{version}"]
        subprocess.run(install, check=True, cwd=home)
    return folder


class _Lines:
    """The lines of the files of a project."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._known: dict[str, list[str]] = {}

    def at(self, path: str, line: int) -> str:
        """Return a line of a file, counted from 1."""
        if path not in self._known:
            self._known[path] = (self._project / path).read_bytes().decode("utf-8", "replace").split("\n")
        return self._known[path][line - 1]

    def place(self, path: str, row: int, units: int) -> Place:
        """Return a place, given its line from 0 and its column in units of UTF-16."""
        return place_from_utf16(path, row + 1, self.at(path, row + 1), units)
