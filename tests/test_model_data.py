"""The builtin model was trained on permissive packages only, and on nothing that search is measured on."""

import io
import sys
import tarfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parent.parent / "bench"


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(BENCH / "model"))
    yield import_module("sources")
    sys.modules.pop("sources")


def test_no_reserved_or_labelled_project_is_trained_on(sources: ModuleType) -> None:
    trained = [package.name for package in sources.read_packages(sources.MANIFEST)]
    assert len(trained) > 500
    assert [name for name in trained if sources.is_reserved(name)] == []


def test_no_evaluation_package_is_trained_on(sources: ModuleType) -> None:
    trained = {package.name for package in sources.read_packages(sources.MANIFEST)}
    judged = {package.name for package in sources.read_packages(sources.EVALUATION)}
    assert len(judged) > 100
    assert trained & judged == set()
    assert [name for name in trained if sources.is_held_out(name)] == []
    assert [name for name in judged if not sources.is_held_out(name)] == []


def test_every_package_declares_a_permissive_licence(sources: ModuleType) -> None:
    listed = sources.read_packages(sources.MANIFEST) + sources.read_packages(sources.EVALUATION)
    assert [package for package in listed if not sources.is_permissive(package.licence)] == []
    assert all(package.version and package.pairs for package in listed)
    assert set(Counter(package.ecosystem for package in listed)) == {"pypi", "npm", "debian-package", "debian-source"}


def test_all_labelled_projects_are_reserved(sources: ModuleType) -> None:
    projects = tomllib.loads((BENCH / "quality" / "projects.toml").read_text())["project"]
    assert len(projects) >= 8
    assert all(sources.is_reserved(project.get("package", project["name"])) for project in projects)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("requests", True),
        ("golang-github-spf13-cobra-dev", True),
        ("librust-serde-json-dev", True),
        ("@trpc/client", True),
        ("libjackson-json-java", True),
        ("commons-lang3", True),
        ("telescope.nvim", True),
        ("numpy", False),
        ("librust-either-dev", False),
    ],
)
def test_a_reserved_project_is_known_by_any_package_of_it(sources: ModuleType, name: str, expected: bool) -> None:
    assert sources.is_reserved(name) is expected
    assert sources.is_reserved_path(f"src/{name}/main.c") is expected


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("MIT", True),
        ("MIT or Apache-2.0", True),
        ("(MIT OR GPL-2.0)", True),
        ("Expat AND BSD-3-clause", True),
        ("Apache License, Version 2.0", True),
        ("Apache-2.0 with Library exception", True),
        ("GPL-2+", False),
        ("Expat AND GPL-2+", False),
        ("MIT or Expat AND LGPL-3", False),
        ("Custom", False),
        ("", False),
    ],
)
def test_a_licence_is_permissive_when_all_it_asks_for_is(sources: ModuleType, licence: str, expected: bool) -> None:
    assert sources.is_permissive(licence) is expected


MIXED = """Files: *
License: Apache-2.0

Files: src/theirs/*
 src/old.c
License: GPL-2+

Files: tests/*
License: LGPL-3
"""


@pytest.mark.usefixtures("sources")
def test_of_a_source_package_only_files_with_a_permissive_licence_are_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    archives = import_module("archives")
    monkeypatch.delitem(sys.modules, "archives")
    (tmp_path / "a_1.dsc").write_text("Version: 1-1\n")
    pack(tmp_path / "a_1.debian.tar.gz", {"debian/copyright": MIXED})
    pack(tmp_path / "a_1.orig.tar.gz", {f"a-1/src/{name}": "x" for name in ("ours.c", "theirs/a.c", "old.c")})
    assert archives.describe("debian-source", tmp_path) == ("1-1", "Apache-2.0")
    assert [path for path, _ in archives.read_files(tmp_path)] == ["a-1/src/ours.c"]
    assert archives.source_licence(MIXED.replace("Apache-2.0", "GPL-3")) == "GPL-3 AND GPL-2+"


def pack(path: Path, files: dict[str, str]) -> None:
    with tarfile.open(path, "w:gz") as packed:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            packed.addfile(entry, io.BytesIO(text.encode()))
