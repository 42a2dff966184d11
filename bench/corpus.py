"""Fetch the open-source projects that search quality is measured on, once, at pinned versions.

    .venv/bin/python bench/corpus.py

Each project is fetched by package name with the usual client of its registry: pip, npm or apt.
"""

import shutil
import subprocess
import tarfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from record import HERE, fetch_sdist

DATA = HERE / ".data"
PROJECTS = HERE / "quality" / "projects.toml"
QUERIES = HERE / "quality" / "queries.toml"


class Answer(TypedDict):
    """A line range that answers a query; lines count from 1, and both ends are included."""

    path: str
    start_line: int
    end_line: int


class Query(TypedDict):
    """A labelled query, its best answer first."""

    project: str
    kind: str
    query: str
    answers: list[Answer]


def load_projects() -> list[dict[str, str]]:
    """Read the list of projects."""
    projects: list[dict[str, str]] = tomllib.loads(PROJECTS.read_text())["project"]
    return projects


def load_queries() -> list[Query]:
    """Read the labelled queries."""
    queries: list[Query] = tomllib.loads(QUERIES.read_text())["query"]
    return queries


def fetch_project(project: dict[str, str]) -> Path:
    """Download and unpack a project the first time, and return the folder to index."""
    package = project.get("package", project["name"])
    if project["source"] == "pypi":
        unpacked = fetch_sdist(package, project["version"])
    else:
        unpacked = DATA / f"{project['name']}-{project['version']}"
        if not unpacked.exists():
            _unpack_new(FETCHERS[project["source"]], package, project["version"], unpacked)
    folder = unpacked / project["folder"]
    if not folder.is_dir():
        raise FileNotFoundError(f"{project['name']} {project['version']} has no folder {project['folder']}")
    return folder


def _unpack_new(fetch: Callable[[str, str, Path], None], package: str, release: str, target: Path) -> None:
    """Fetch into a folder next to the target, so that an interrupted run leaves no incomplete target."""
    partial = target.with_name(f"{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    fetch(package, release, partial)
    partial.rename(target)


def _fetch_npm(package: str, release: str, target: Path) -> None:
    """Unpack an npm package."""
    _run("npm", "pack", "--silent", f"{package}@{release}", cwd=target)
    with tarfile.open(_only(target, "*.tgz")) as packed:
        packed.extractall(target, filter="data")


def _fetch_debian_package(package: str, release: str, target: Path) -> None:
    """Unpack the files that a Debian package installs."""
    _run("apt-get", "download", "--quiet", "--quiet", f"{package}={release}", cwd=target)
    _run("dpkg-deb", "-x", _only(target, "*.deb").name, ".", cwd=target)


def _fetch_debian_source(package: str, release: str, target: Path) -> None:
    """Unpack the upstream release, without Debian's own files, into the folder "upstream"."""
    options = source_lists(target / "apt")
    _run("apt-get", *options, "--quiet", "--quiet", "update", cwd=target)
    _run("apt-get", *options, "--quiet", "--quiet", "--download-only", "source", f"{package}={release}", cwd=target)
    _run("dpkg-source", "--skip-debianization", "-x", _only(target, "*.dsc").name, "upstream", cwd=target)
    shutil.rmtree(target / "apt")


def source_lists(folder: Path) -> list[str]:
    """Copy this machine's apt sources as sources of source packages; return the apt options that use them."""
    for name in ("parts", "lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    for path in _apt_sources():
        lines = path.read_text().splitlines()
        (folder / "parts" / path.name).write_text("".join(f"{_as_source(line)}\n" for line in lines))
    places = {"Etc::SourceParts": "parts", "Etc::SourceList": "none", "State::Lists": "lists", "Cache": "cache"}
    return [part for key, name in places.items() for part in ("-o", f"Dir::{key}={folder / name}")]


def _apt_sources() -> list[Path]:
    """Return the files that list this machine's package sources."""
    command = ["apt-config", "shell", "LIST", "Dir::Etc::SourceList/f", "PARTS", "Dir::Etc::SourceParts/d"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    places = dict(line.split("=", 1) for line in output.splitlines())
    single, parts = (Path(places[key].strip("'")) for key in ("LIST", "PARTS"))
    found = [path for path in parts.glob("*") if path.suffix in {".list", ".sources"}]
    return [*found, single] if single.is_file() else found


def _as_source(line: str) -> str:
    """Turn a line for binary packages into one for source packages."""
    if line.startswith("Types:"):
        return "Types: deb-src"
    return f"deb-src {line.removeprefix('deb ')}" if line.startswith("deb ") else line


def _only(folder: Path, pattern: str) -> Path:
    (path,) = folder.glob(pattern)
    return path


def _run(*command: str, cwd: Path) -> None:
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL)


FETCHERS: dict[str, Callable[[str, str, Path], None]] = {
    "npm": _fetch_npm,
    "debian-package": _fetch_debian_package,
    "debian-source": _fetch_debian_source,
}


def main() -> None:
    """Fetch all projects and print how many files each has."""
    for project in load_projects():
        count = sum(path.is_file() for path in fetch_project(project).rglob("*"))
        print(f"{project['name']:12} {project['version']:10} {project['language']:12} {project['split']:10} {count:5}")


if __name__ == "__main__":
    main()
