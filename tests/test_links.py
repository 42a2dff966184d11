"""Links: the target of each link in every language, and that targets stay right as files change."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from linked import WORKSPACES  # a test module
from relating import TICKS, open_service, put

from keyhole.core.config import load_settings
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.store import Store
from keyhole.core.service import Service
from keyhole.core.types.view_requests import Query

Edits = list[tuple[str, list[str] | None]]

SHOWN = """SELECT file.path, line, target, part, state, link.path, reason, site FROM link
    JOIN file ON file.id = file_id WHERE state IS NULL OR state <> 'repeated' ORDER BY file.path, line, link.id"""


Dump = Callable[[Path], dict[str, list[tuple[object, ...]]]]


def shown(service: Service) -> list[str]:
    """Return every link with its target, as text."""
    with Store(service.folder / INDEX_FILE) as store:
        rows = store.query(SHOWN)
    return [
        f"{path}:{line} {' '.join(filter(None, [target, part]))} -> {' '.join(filter(None, words(*place)))}"
        for path, line, target, part, *place in rows
    ]


def words(state: str | None, path: str, reason: str, site: str) -> list[str]:
    return [path, reason] if state == "internal" else [str(state), reason, site]


@pytest.mark.parametrize("name", WORKSPACES)
def test_where_each_link_leads(name: str, tmp_path: Path) -> None:
    files, expected = WORKSPACES[name]
    put(tmp_path / "shop", files)
    assert shown(open_service(tmp_path / "shop")) == [line.lstrip() for line in expected.split("\n") if line.strip()]


def test_indented_code_has_no_links(tmp_path: Path) -> None:
    code = "    [no](code.md)\n\n\tcall[0](no)\n"
    rest = "words\n    [lazy](a.md)\n\n- item\n\n    [b](b.md)\n\n  more\n\n    [c](c.md)\n\nend\n"
    put(tmp_path / "shop", {"a.md": f"{code}\n{rest}\n{code}"})
    places = [line.partition(" ->")[0] for line in shown(open_service(tmp_path / "shop"))]
    assert places == ["a.md:6 a.md", "a.md:10 b.md", "a.md:14 c.md"]


# Added and deleted files

NOTES = {
    "hub.md": "# Hub\n\n[[one]] [[two#Deep]] [three](sub/three.md#here)\n",
    "one.md": "[[hub]] [[two]]\n",
    "two.md": "# Deep\n\n[[one]]\n",
    "sub/three.md": "## Here\n\n[back](../hub.md)\n",
}


def leads(service: Service, path: str) -> list[str]:
    return [line.partition(":")[2] for line in shown(service) if line.startswith(f"{path}:")]


def test_deleting_renaming_and_restoring_a_note(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    put(root, NOTES)
    service = open_service(root)
    whole = shown(service)
    (root / "two.md").unlink()
    service.index()
    assert leads(service, "hub.md")[1] == "3 two Deep -> unresolved missing file"
    assert leads(service, "one.md") == ["1 hub -> hub.md", "1 two -> unresolved missing file"]
    put(root, {"deep/two.md": NOTES["two.md"]})
    service.index()
    assert leads(service, "hub.md")[1] == "3 two Deep -> deep/two.md"
    assert leads(service, "deep/two.md") == ["3 one -> one.md"]
    (root / "deep/two.md").rename(root / "two.md")
    service.index()
    assert shown(service) == whole


def test_a_heading_that_goes_breaks_links_of_files_that_did_not_change(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    put(root, NOTES)
    service = open_service(root)
    put(root, {"two.md": "# Shallow\n"})
    assert service.index().changed == 1
    assert leads(service, "hub.md")[1] == "3 two Deep -> two.md missing anchor"
    put(root, {"two.md": "Deep\n----\n"})
    service.index()
    assert leads(service, "hub.md")[1] == "3 two Deep -> two.md"


def test_an_alias_that_changes_moves_the_imports_of_files_that_did_not(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    put(root, {"src/a.ts": 'import "@/b";\n', "src/b.ts": "", "lib/b.ts": ""})
    put(root, {"tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["src/*"]}}}\n'})
    service = open_service(root)
    assert leads(service, "src/a.ts") == ["1 @/b -> src/b.ts"]
    put(root, {"tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["lib/*"]}}}\n'})
    assert service.index().changed == 1
    assert leads(service, "src/a.ts") == ["1 @/b -> lib/b.ts"]
    put(root, {"tsconfig.json": "{\n"})
    service.index()
    assert leads(service, "src/a.ts") == ["1 @/b -> external @/b"]


def test_two_notes_of_one_name_are_not_guessed_between(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    put(root, {"a/x.md": "", "b/y.md": "[[x]]\n"})
    service = open_service(root)
    put(root, {"c/x.md": ""})
    service.index()
    assert leads(service, "b/y.md") == ["1 x -> unresolved ambiguous"]
    (root / "a/x.md").unlink()
    service.index()
    assert leads(service, "b/y.md") == ["1 x -> c/x.md"]


def test_links_of_files_that_a_search_indexes_are_resolved(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    put(root, NOTES)
    service = open_service(root)
    put(root, {"two.md": "# Deep\n\n[[hub]] zebra\n"})
    service.search(Query("deep", limit=50))
    assert leads(service, "two.md") == ["3 hub -> hub.md"]


names = st.sampled_from(["a.md", "b.md", "sub/a.md", "sub/c.md", "m.py", "sub/n.py", "sub/__init__.py"])
lines = st.sampled_from(
    ["[[a]]", "[[c#Top]]", "[x](a.md)", "[x](../b.md#top)", "# Top", "import m", "from sub import n", "from . import n"]
)
edits = st.lists(st.tuples(names, st.none() | st.lists(lines, max_size=3)), min_size=1, max_size=4)


@given(st.lists(edits, min_size=1, max_size=4))
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_after_any_edits_links_are_as_in_a_fresh_index(tmp_path: Path, dump_index: Dump, rounds: list[Edits]) -> None:
    base = tmp_path / str(next(TICKS))
    root = base / "root"
    put(root, {"keep.md": "[[a]] [[b]] [x](sub/c.md#top)\n", "keep.py": "import m\nimport sub.n\n"})
    service = open_service(root)
    for edit in rounds:
        for path, text in edit:
            (root / path).unlink(missing_ok=True)
            if text is not None:
                put(root, {path: "\n".join(text) + "\n"})
        service.index()
    fresh = Service(root, load_settings(root, {"cache_dir": base / "fresh", "index.model": "none"}))
    fresh.index()
    old, new = (dump_index(one.folder / INDEX_FILE) for one in (service, fresh))
    assert old == new
    shutil.rmtree(base)


# Hostile files

HOSTILE = {
    "go.mod": ["\n", "\n ", "replace a "],
    "tsconfig.json": ['\\"', "/* ", ", "],
    "package.json": ['\\"', '{"a":'],
    "A.java": ["\n", "package "],
    "a.md": ["` ``", "[[", "](", "[a](", "<a ", "{#a", "<!--", "http://", "[a]: ", "\n[a]:\n ", "^a "],
    "a.py": ["from a import (b)\n", "from a import (\n"],
    "a.rs": ["use a::{", "mod a{use super::*;}\n"],
    "a.js": ["require('a');", "function(a,module"],
}


@pytest.mark.parametrize("path", HOSTILE)
def test_a_hostile_file_is_taken_in(path: str, tmp_path: Path) -> None:
    """Anything slower than linear would take minutes here."""
    root = tmp_path / "hostile"
    put(root, {f"{number}/{path}": piece * (60_000 // len(piece)) for number, piece in enumerate(HOSTILE[path])})
    put(root, {"a/b.py": "import os\n"})
    assert "a/b.py:1 os -> external os" in shown(open_service(root))
