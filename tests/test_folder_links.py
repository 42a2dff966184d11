"""Links to folders: packages of Python, TypeScript and Go, and folders of notes."""

from pathlib import Path

import pytest
from relating import PACKAGES, facts, open_service, put

from keyhole.core.errors import ErrorKind, PathError
from keyhole.core.links.requests import BacklinksRequest, Category, LinkSearchRequest, LinksRequest
from keyhole.core.service import Service


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Service:
    root = tmp_path_factory.mktemp("folders") / "shop"
    put(root, PACKAGES)
    return open_service(root)


INTO = {
    "src/shop": (["src/tools/run.py:1", "src/tools/run.py:2", "src/tools/run.py:2", "tests/test_cart.py:1"], 2),
    "src/plain": (["tests/test_cart.py:2"], 1),
    "packages/tools": (["web/main.ts:1", "web/main.ts:2"], 1),
    "packages/tools/deep": (["packages/tools/lib/main.ts:1", "web/main.ts:2"], 0),
    # A package inside the folder of another one imports it like any other.
    "store": (["main.go:3", "store/disk/disk.go:3"], 1),
    "docs": (["README.md:1", "README.md:1", "README.md:3"], 2),
    "empty": ([], 0),
}


@pytest.mark.parametrize("folder", INTO)
def test_a_folder_has_the_links_into_it(shop: Service, folder: str) -> None:
    expected, within = INTO[folder]
    answer = facts(shop, BacklinksRequest(folder))
    assert [f"{link['file_path']}:{link['line']}" for link in answer["results"]] == expected
    assert answer["total_count"] == len(expected)
    assert all(link["to"] == folder or link["to"].startswith(f"{folder}/") for link in answer["results"])
    notes = [note for note in answer["notes"] if "between files inside" in note]
    assert [note.split()[0] for note in notes] == ([str(within)] if within else [])
    assert facts(shop, LinksRequest(folder, Category.INCOMING))["results"] == answer["results"]
    files = facts(shop, LinkSearchRequest(has_links_to=folder))
    counts = {file["file_path"]: file["links"] for file in files["results"]}
    assert counts == {path: sum(place.startswith(f"{path}:") for place in expected) for path in counts}
    assert sum(counts.values()) == len(expected)
    assert files["notes"][: len(notes)] == notes


def test_pages_of_a_folder_are_the_whole_list(shop: Service) -> None:
    whole = facts(shop, BacklinksRequest("src/shop"))["results"]
    pages = [facts(shop, BacklinksRequest("src/shop", limit=1, offset=number)) for number in range(len(whole))]
    assert [page["results"][0] for page in pages] == whole


@pytest.mark.parametrize("spelling", ["src/shop/", "./src/shop", "src/tools/../shop"])
def test_a_folder_is_found_however_it_is_written(shop: Service, spelling: str) -> None:
    assert facts(shop, BacklinksRequest(spelling))["total_count"] == len(INTO["src/shop"][0])


def test_everything_is_inside_the_workspace(shop: Service) -> None:
    answer = facts(shop, BacklinksRequest("."))
    assert answer["total_count"] == 0
    assert "inside the workspace" in answer["notes"][0]


def test_a_folder_links_to_what_is_outside_of_it(shop: Service) -> None:
    found = facts(shop, LinkSearchRequest(linked_from="src/tools"))["results"]
    assert {file["file_path"]: file["links"] for file in found} == {
        "src/shop/cart.py": 1,
        "src/shop/prices.py": 1,
        "src/shop/__init__.py": 1,
    }
    assert not facts(shop, LinkSearchRequest(linked_from="src/plain"))["results"]


def test_links_into_a_folder_are_those_of_the_files_now(tmp_path: Path) -> None:
    put(tmp_path / "shop", PACKAGES)
    service = open_service(tmp_path / "shop")
    put(tmp_path / "shop", {"tests/test_cart.py": "\n\nimport shop\n"})
    found = facts(service, BacklinksRequest("src/shop"))["results"]
    assert [link["line"] for link in found if link["file_path"] == "tests/test_cart.py"] == [3]


# Packages of the workspace


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("@acme/tools", "packages/tools"),
        ("@acme/tools/deep/more", "packages/tools"),
        ("shop", "src/shop"),
        ("shop.cart", "src/shop"),
        ("plain", "src/plain"),
        ("example.org/shop/store", "store"),
        ("example.org/shop", "."),
        ("shop-tax", "tax"),
        ("shop_tax", "tax"),
    ],
)
def test_a_package_of_the_workspace_is_not_outside(shop: Service, name: str, folder: str) -> None:
    answer = facts(shop, LinkSearchRequest(external_domains=(name, "serde")))
    assert answer["total_count"] == 1
    where = "is this workspace" if folder == "." else f"is in this workspace: {folder}"
    assert f"{name} {where}" in answer["notes"]
    assert f"get_backlinks path={folder} lists the links to it" in answer["notes"]


def test_a_package_outside_has_no_such_note(shop: Service) -> None:
    assert facts(shop, LinkSearchRequest(external_domains=("numpy", "https://serde.example")))["notes"] == []


def test_the_name_of_a_package_leads_to_its_folder(shop: Service) -> None:
    with pytest.raises(PathError, match="Did you mean packages/tools"):
        shop.relation_view(BacklinksRequest("@acme/tools"))


def test_the_links_of_a_folder_are_not_said_to_be_skipped(shop: Service) -> None:
    with pytest.raises(PathError, match="src/shop is a folder") as raised:
        shop.relation_view(LinksRequest("src/shop"))
    assert raised.value.kind == ErrorKind.LINKS_OF_FOLDER
