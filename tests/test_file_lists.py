"""Files by name: get_tree with a pattern, sorted by path or newest first."""

import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from relating import facts, open_service, put

from keyhole.core.cli.main import cli
from keyhole.core.errors import PathError, QueryError
from keyhole.core.links.requests import FileOrder, Relation, TreeRequest
from keyhole.core.service import Service

FILES = {
    "main.go": "package main\n",
    "main_test.go": "package main\n",
    "store/store_test.go": "package store\n\nfunc x() {}\n",
    "store/disk/disk_test.go": "package disk\n",
    "store/disk/Disk.md": "# Disk\n",
    "web/[id].tsx": "export {};\n",
    "web/a.ts": "export {};\n",
    "web/b.tsx": "export {};\n",
    "web/c.css": "a {}\n",
    ".gitignore": "made/*_test.go\n",
    "made/one_test.go": "package made\n",
    "made/two_test.go": "package made\n",
    "made/kept.go": "package made\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Service:
    root = tmp_path_factory.mktemp("lists") / "shop"
    put(root, FILES)
    return open_service(root)


def names(answer: dict[str, Any]) -> list[str]:
    return [node["path"] for node in answer["results"]]


MATCHES = {
    "**/*_test.go": ["main_test.go", "store/disk/disk_test.go", "store/store_test.go"],
    "*_test.go": ["main_test.go", "store/disk/disk_test.go", "store/store_test.go"],
    "store/*_test.go": ["store/store_test.go"],
    "store/**": ["store/disk/Disk.md", "store/disk/disk_test.go", "store/store_test.go"],
    "a.ts": ["web/a.ts"],
    "web/a.ts": ["web/a.ts"],
    "./web/a.ts": ["web/a.ts"],
    "*.{ts,tsx}": ["web/[id].tsx", "web/a.ts", "web/b.tsx"],
    "web/{a,b}.*": ["web/a.ts", "web/b.tsx"],
    "[id].tsx": ["web/[id].tsx"],
    "[ab].ts*": ["web/a.ts", "web/b.tsx"],
}


@pytest.mark.parametrize("pattern", MATCHES)
def test_files_by_name(shop: Service, pattern: str) -> None:
    answer = facts(shop, TreeRequest(pattern=pattern))
    assert names(answer) == MATCHES[pattern]
    assert {node["kind"] for node in answer["results"]} == {"file"}
    assert "changed" not in answer["results"][0]


def test_a_pattern_applies_inside_a_folder(shop: Service) -> None:
    for pattern in ("*_test.go", "disk/*_test.go", "store/disk/*_test.go"):
        assert "store/disk/disk_test.go" in names(facts(shop, TreeRequest("store", pattern=pattern)))
    assert names(facts(shop, TreeRequest("store", pattern="*.go"))) == [
        "store/disk/disk_test.go",
        "store/store_test.go",
    ]


def test_the_banner_says_what_is_listed(shop: Service) -> None:
    text = shop.relation_view(TreeRequest(pattern="**/*_test.go", limit=2)).text
    assert text == (
        "Results 1-2 of 3 files that match **/*_test.go. Next page: offset=2.\n"
        "Note: 2 skipped paths match too: 2 ignored.\n"
        "main_test.go (Go, 1 line)\n"
        "store/disk/disk_test.go (Go, 1 line)\n"
    )
    one = shop.relation_view(TreeRequest("store", pattern="*.md", sort=FileOrder.NEWEST)).text
    assert one.startswith(
        "Result 1 of 1 file in store that matches *.md, newest first.\nstore/disk/Disk.md (Markdown, 1"
    )
    assert facts(shop, TreeRequest(pattern="**/*_test.go"))["skipped_matches"] == 2
    assert facts(shop, TreeRequest(sort=FileOrder.NEWEST))["notes"] == ["2 skipped paths are not listed: 2 ignored"]


def test_pages_are_the_whole_list(shop: Service) -> None:
    whole = names(facts(shop, TreeRequest(sort=FileOrder.NEWEST)))
    cursor, paged = "", list[str]()
    while cursor is not None:
        answer = facts(shop, TreeRequest(sort=FileOrder.NEWEST, limit=2, cursor=cursor))
        paged, cursor = paged + names(answer), answer["pagination"]["cursor"]
    assert paged == whole
    assert len(whole) == len(FILES) - 2


def test_newest_files_come_first_even_before_they_are_indexed(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    put(root, FILES)
    service = open_service(root)
    # Most files here have nearly the same time, so those on the page are told apart by the nanosecond.
    for second, path in enumerate(["web/b.tsx", "main.go", "store/store_test.go"]):
        os.utime(root / path, (1_700_000_000 + second,) * 2)
    (root / "main.go").write_text("package main\n\n\n")
    os.utime(root / "main.go", (1_800_000_000,) * 2)
    (root / "web/c.css").unlink()
    request = TreeRequest(sort=FileOrder.NEWEST)
    answer = facts(service, request)
    assert [(node["path"], node["changed"], node["lines"]) for node in answer["results"][:2]] == [
        ("main.go", "2027-01-15T08:00:00Z", 3),
        ("store/store_test.go", "2023-11-14T22:13:22Z", 3),
    ]
    assert "web/c.css" not in names(answer)
    assert answer["total_count"] == len(FILES) - 3
    assert "\nmain.go (Go, 3 lines, 2027-01-15T08:00:00Z)\n" in service.relation_view(request).text


def test_a_file_with_an_impossible_time_is_listed(tmp_path: Path) -> None:
    put(tmp_path / "shop", {"old.py": "", "far.py": ""})
    os.utime(tmp_path / "shop/old.py", ns=(-(10**18), -(10**18)))
    service = open_service(tmp_path / "shop")
    found = facts(service, TreeRequest(sort=FileOrder.NEWEST))["results"]
    assert [(node["path"], node["changed"][:4]) for node in found] == [("far.py", "2001"), ("old.py", "1938")]


@pytest.mark.parametrize(
    ("request_", "kind", "message"),
    [
        (TreeRequest(pattern="[a"), QueryError, "pattern '\\[a' is not a valid glob"),
        (TreeRequest(pattern="*", relation=Relation.PARENTS), QueryError, "pattern and sort=newest list files"),
        (TreeRequest("main.go", "x", sort=FileOrder.NEWEST), QueryError, "pattern and sort=newest list files"),
        (TreeRequest("main.go", pattern="*"), QueryError, "main.go is a file; pattern needs a folder"),
        (TreeRequest("stor", pattern="*"), PathError, "Did you mean store"),
        (TreeRequest(pattern="*", symbols=True), QueryError, "pattern and sort=newest list files"),
    ],
)
def test_errors_say_what_to_do(shop: Service, request_: TreeRequest, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        shop.relation_view(request_)


def test_the_command_line_has_the_same_answer(shop: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(shop.folder.parent))
    monkeypatch.setenv("KEYHOLE_INDEX_MODEL", "none")
    arguments = ["tree", "store", "--pattern", "*.go", "--sort", "newest", "--root", str(shop.root)]
    result = CliRunner().invoke(cli, arguments)
    assert result.stdout == shop.relation_view(TreeRequest("store", pattern="*.go", sort=FileOrder.NEWEST)).text
