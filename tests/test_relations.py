"""Views of links and the tree, and goldens of related code: pages with exact totals, budgets, freshness and errors."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from linked import GO, MARKDOWN, PYTHON
from relating import facts, open_service, put
from vault import write_vault

from keyhole.core.errors import CursorError, KeyholeError, PathError, QueryError
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.store import Store
from keyhole.core.links.requests import (
    BacklinksRequest,
    BrokenLinksRequest,
    Category,
    LinkSearchRequest,
    LinksRequest,
    RelatedRequest,
    Relation,
    RelationRequest,
    TreeRequest,
)
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail, Format
from keyhole.core.view.budget.sizes import Budget, measure

Check = Callable[[str, str], None]
NOTES, LINKS, TO_HUB = 300, 2_400, 180


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Service:
    """Index code and notes together."""
    root = tmp_path_factory.mktemp("relations") / "shop"
    put(root, {**PYTHON[0], **MARKDOWN[0], "evil.md": "[x](gone\x1b[31m.md) [[\u202eback]] [y](src)\n"})
    return open_service(root)


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Service:
    root = tmp_path_factory.mktemp("vault") / "vault"
    return open_service(write_vault(root, notes=NOTES, links=LINKS, hub_links=TO_HUB))


# Goldens

VIEWS: dict[str, RelationRequest] = {
    "links": LinksRequest("README.md"),
    "links-of-code": LinksRequest("src/shop/cart.py"),
    "links-one-category": LinksRequest("src/shop/cart.py", Category.INTERNAL, limit=3, offset=2),
    "links-cut": LinksRequest("README.md", limit=5),
    "links-none": LinksRequest("src/shop/prices.py"),
    "backlinks": BacklinksRequest("docs/guide.md"),
    "backlinks-of-a-folder": BacklinksRequest("docs"),
    "backlinks-none": BacklinksRequest("yaml/notes.py"),
    "broken": BrokenLinksRequest(),
    "broken-anchors-in-docs": BrokenLinksRequest("docs", "missing anchor"),
    "search-has-links-to": LinkSearchRequest(has_links_to="src/shop/prices.py"),
    "search-linked-from": LinkSearchRequest(linked_from="src/shop/cart.py"),
    "search-domains": LinkSearchRequest(external_domains=("example.org", "numpy")),
    "search-all": LinkSearchRequest(has_links_to="docs/guide.md", external_domains=("example.org",), broken=True),
    "tree": TreeRequest(),
    "tree-descendants": TreeRequest("src", relation=Relation.DESCENDANTS, max_depth=2),
    "tree-symbols": TreeRequest("src/shop", relation=Relation.DESCENDANTS, max_depth=3, symbols=True),
    "tree-symbols-page": TreeRequest(relation=Relation.DESCENDANTS, symbols=True, limit=7, offset=5),
    "tree-parents": TreeRequest("src/shop/deep/rules.py", relation=Relation.PARENTS),
    "tree-of-a-file": TreeRequest("README.md", relation=Relation.DESCENDANTS),
    "related": RelatedRequest("src/shop/cart.py", 3, detail_level=Detail.MINIMAL),
    "related-symbol": RelatedRequest(symbol="late"),
}


@pytest.mark.parametrize("name", VIEWS)
def test_every_view(name: str, shop: Service, check_golden: Check) -> None:
    text = shop.relation_view(VIEWS[name])
    data = shop.relation_view(replace(VIEWS[name], format=Format.JSON))
    shown = json.loads(data.text) | {"latency_ms": 0}
    # A cursor contains the folder, which differs between runs, and so may its cost.
    if shown["pagination"]["cursor"]:
        shown["pagination"]["cursor"], shown["truncation_info"]["estimated_tokens"] = "CURSOR", 0
    check_golden(f"relations/{name}.text", text.text)
    check_golden(f"relations/{name}.json", json.dumps(shown, indent=1, ensure_ascii=True) + "\n")
    assert len(shown["results"]) == len(text.plan.levels) == shown["returned_count"]


def test_a_symbol_has_what_is_inside_and_around_it(acme: Service) -> None:
    inside = acme.relation_view(TreeRequest("src/acme/retry.py", "RetryPolicy"))
    assert [line.split("(")[0] for line in inside.text.split("\n")[1:-1]] == [
        "def __init__",
        "def backoff",
        "def allows",
    ]
    around = facts(acme, TreeRequest("src/acme/retry.py", "RetryPolicy.backoff", Relation.PARENTS))["results"]
    assert [(node["kind"], node["name"]) for node in around] == [
        ("class", "RetryPolicy"),
        ("file", "retry.py"),
        ("folder", "acme"),
        ("folder", "src"),
        ("folder", "."),
    ]


@pytest.mark.parametrize("max_depth", [2, 3, 4, 9])
def test_descendants_of_a_folder_go_on_into_symbols(acme: Service, max_depth: int) -> None:
    def below(path: str, depth: int, *, symbols: bool = False) -> list[dict[str, Any]]:
        request = TreeRequest(path, relation=Relation.DESCENDANTS, max_depth=depth, symbols=symbols, limit=500)
        results: list[dict[str, Any]] = facts(acme, replace(request, max_tokens=25_000))["results"]
        return results

    expected = list[dict[str, Any]]()
    for node in below("src/acme", max_depth):
        expected.append(node)
        depth = node["depth"]
        if node["kind"] == "file" and depth < max_depth:
            inside = below(node["path"], max_depth - depth)
            expected += [symbol | {"depth": symbol["depth"] + depth} for symbol in inside]
    shown = below("src/acme", max_depth, symbols=True)
    assert shown == expected
    assert {"function", "class"} <= {node["kind"] for node in shown}


def test_a_page_that_starts_inside_a_file_says_so(shop: Service) -> None:
    request = TreeRequest("src/shop", relation=Relation.DESCENDANTS, symbols=True, limit=1)
    note = "\nNote: continues inside src/shop/cart.py.\n  def late()"
    assert note in shop.relation_view(replace(request, offset=2)).text
    assert "Note" not in shop.relation_view(replace(request, offset=1)).text
    assert "Note" not in shop.relation_view(TreeRequest("src/shop/cart.py")).text


# Pages and totals


def pages(service: Service, request: RelationRequest, limit: int) -> tuple[list[str], set[int]]:
    """Page through a list with cursors."""
    results, totals, cursor = list[str](), set[int](), ""
    while cursor is not None:
        answer = facts(service, replace(request, limit=limit, cursor=cursor))
        results += [json.dumps(result) for result in answer["results"]]
        totals.add(answer["total_count"])
        cursor = answer["pagination"]["cursor"]
    return results, totals


PAGED: list[RelationRequest] = [
    BacklinksRequest("Hub.md"),
    LinksRequest("Hub.md", Category.INCOMING),
    BrokenLinksRequest(),
    LinkSearchRequest(has_links_to="Hub.md"),
    LinkSearchRequest(external_domains=("example.org",)),
    TreeRequest(relation=Relation.DESCENDANTS),
    TreeRequest(relation=Relation.DESCENDANTS, symbols=True),
]


@pytest.mark.parametrize("request_", PAGED, ids=lambda request: type(request).__name__)
def test_pages_are_the_whole_list(vault: Service, request_: RelationRequest) -> None:
    whole = facts(vault, replace(request_, limit=500, max_tokens=25_000))
    results, totals = pages(vault, request_, 37)
    assert totals == {len(results)} == {whole["total_count"]}
    assert len(set(results)) == len(results) > 37
    assert results[: whole["returned_count"]] == [json.dumps(result) for result in whole["results"]]


def test_a_hub_says_how_many_links_it_has(vault: Service) -> None:
    answer = facts(vault, LinksRequest("Hub.md"))
    assert answer["categories"]["incoming"] == {"total": TO_HUB, "returned": 3}
    assert answer["banner"].endswith(
        "incoming 1-3 of 180, no internal, no external. Next page: category=incoming offset=3."
    )
    files = facts(vault, LinkSearchRequest(has_links_to="Hub.md"))
    assert files["total_count"] == TO_HUB


@pytest.mark.parametrize("domain", ["EXAMPLE.org", "www.example.org", "https://www.Example.org:80/a?b", "Example.ORG"])
def test_a_domain_is_found_however_it_is_written(shop: Service, domain: str) -> None:
    expected = facts(shop, LinkSearchRequest(external_domains=("example.org",)))["results"]
    assert len(expected) == 2
    assert facts(shop, LinkSearchRequest(external_domains=(domain,)))["results"] == expected


def test_a_file_of_go_has_the_links_of_its_package(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    put(root, GO[0])
    service = open_service(root)
    for path, importer in {"cart/cart.go": "main.go", "main.go": "cart/cart.go"}.items():
        asked: list[RelationRequest] = [BacklinksRequest(path), LinkSearchRequest(has_links_to=path)]
        for request in asked:
            assert [result["file_path"] for result in facts(service, request)["results"]] == [importer]


def test_every_link_is_there_once(vault: Service) -> None:
    with Store(vault.folder / INDEX_FILE) as store:
        assert store.value("SELECT count(*) FROM link") == LINKS
        assert store.value("SELECT count(*) FROM link WHERE state IS NULL") == 0


def test_links_that_go_round_are_followed_once_each(tmp_path: Path) -> None:
    root = tmp_path / "ring"
    put(root, {f"{n}.md": f"[[{(n + 1) % 5}]] [[{n}]]\n" for n in range(5)})
    service = open_service(root)
    path, seen = "0.md", list[str]()
    while path not in seen:
        seen.append(path)
        (path,) = {r["to"] for r in facts(service, LinksRequest(path, Category.INTERNAL))["results"]} - {path}
    assert seen == [f"{n}.md" for n in range(5)]


def test_deleting_and_renaming_a_hub_breaks_its_links(tmp_path: Path) -> None:
    root = write_vault(tmp_path / "vault", notes=60, links=400, hub_links=40)
    service = open_service(root)
    before = facts(service, BrokenLinksRequest())["total_count"]
    (root / "Hub.md").rename(root / "Centre.md")
    service.index()
    assert facts(service, BrokenLinksRequest())["total_count"] == before + 40
    assert facts(service, BacklinksRequest("Centre.md"))["total_count"] == 0
    (root / "Centre.md").rename(root / "Hub.md")
    service.index()
    assert facts(service, BrokenLinksRequest())["total_count"] == before
    assert facts(service, BacklinksRequest("Hub.md"))["total_count"] == 40


# Budgets and notes

requests = st.sampled_from([*PAGED, LinksRequest("Hub.md"), RelatedRequest("Hub.md")])


@given(requests, st.integers(1_000, 3_000), st.integers(1, 600), st.sampled_from(Format))
def test_a_view_never_breaks_its_budget(request_: RelationRequest, tokens: int, limit: int, form: Format) -> None:
    service = test_a_view_never_breaks_its_budget.vault  # type: ignore[attr-defined]
    view = service.relation_view(replace(request_, max_tokens=tokens, limit=limit, format=form))
    assert Budget(tokens).admits(measure(view.text))
    assert view.plan.levels
    if form == Format.JSON:
        answer = json.loads(view.text)
        assert answer["returned_count"] == len(answer["results"])
        assert answer["truncation_info"]["estimated_chars"] == len(view.text)


@pytest.fixture(autouse=True, scope="module")
def _give_vault(vault: Service) -> None:
    test_a_view_never_breaks_its_budget.vault = vault  # type: ignore[attr-defined]


def test_names_that_could_act_on_a_terminal_are_shown(shop: Service) -> None:
    text = shop.relation_view(LinksRequest("evil.md")).text
    assert "gone\\x1b[31m.md ✗ missing file" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize(
    ("request_", "kind", "message"),
    [
        (LinksRequest("missing.md"), PathError, "is not an indexed file"),
        (LinksRequest("../outside.md"), PathError, "outside the workspace"),
        (LinksRequest("README.md", offset=3), QueryError, "need a category"),
        (BacklinksRequest("missing.md"), PathError, "not in the index"),
        (BacklinksRequest("docs/guide.md", limit=0), QueryError, "limit must be from 1"),
        (BacklinksRequest("docs/guide.md", cursor="x"), CursorError, "not a cursor from keyhole"),
        (BrokenLinksRequest(reason="ugly"), QueryError, "Choose from: missing file, missing anchor"),
        (BrokenLinksRequest("dcos"), QueryError, "Did you mean docs"),
        (LinkSearchRequest(), QueryError, "no filter given"),
        (LinkSearchRequest(has_links_to="missing.md"), PathError, "not in the index"),
        (TreeRequest("missing"), PathError, "not an indexed file, nor a folder"),
        (TreeRequest("README.md", "Nothing"), QueryError, "has no symbol 'Nothing'"),
        (TreeRequest("docs", "Guide"), QueryError, "symbol needs the path of an indexed file, not docs"),
        (TreeRequest(max_depth=0), QueryError, "max_depth must be 1"),
        (TreeRequest(relation=Relation.DESCENDANTS, max_depth=10**20, symbols=True), QueryError, "or less"),
        (BacklinksRequest("docs/guide.md", offset=2**63), QueryError, "must be 9,223,372,036,854,775,807 or less"),
        (TreeRequest(symbols=True), QueryError, "symbols needs relation=descendants"),
        (RelatedRequest(), QueryError, "no reference code given"),
        (RelatedRequest("README.md", 900), QueryError, "past the end"),
        (RelatedRequest("missing.md"), PathError, "is not an indexed file"),
        (RelatedRequest(symbol="nothing_like_it"), QueryError, "no symbol"),
    ],
)
def test_errors_say_what_to_do(
    shop: Service, request_: RelationRequest, kind: type[KeyholeError], message: str
) -> None:
    with pytest.raises(kind, match=message):
        shop.relation_view(request_)


def test_a_cursor_goes_with_its_request_and_its_index(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    put(root, {"a.md": "", "b.md": "[[a]] [[c]]\n[[a]]\n", "c.md": "[[a]]\n"})
    service = open_service(root)
    cursor = facts(service, BacklinksRequest("a.md", limit=1))["pagination"]["cursor"]
    assert facts(service, BacklinksRequest("a.md", limit=1, cursor=cursor))["results"][0]["line"] == 2
    with pytest.raises(CursorError, match="another request"):
        service.relation_view(BacklinksRequest("c.md", cursor=cursor))
    put(root, {"d.md": ""})
    service.index()
    with pytest.raises(CursorError, match="has changed"):
        service.relation_view(BacklinksRequest("a.md", cursor=cursor))


def test_links_are_those_of_the_file_as_it_is_now(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    put(root, {"a.md": "[[b]]\n", "b.md": "# B\n"})
    service = open_service(root)
    put(root, {"a.md": "\n\n[[b]] [[gone]]\n"})
    assert [r["line"] for r in facts(service, BacklinksRequest("b.md"))["results"]] == [3]
    assert [r["target"] for r in facts(service, LinksRequest("a.md"))["results"]] == ["[[b]]", "[[gone]]"]
    (root / "a.md").unlink()
    assert facts(service, BacklinksRequest("b.md"))["total_count"] == 0


def test_a_link_to_a_heading_leads_to_its_line(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    written = {
        "b.md#two-words": 5,
        "b.md#Two-Words": 5,
        "b.md#again-1": 11,
        "b.md#here": None,
        "b.md": None,
        "b.md#top": None,
        "b.md#missing": None,
        "c.py#L2": None,
    }
    links = "".join(f"[x]({target})\n" for target in written)
    put(root, {"a.md": f"# A\n{links}[[b#Two Words|alias]] [own](#a)\n", "c.py": "x = 1\ny = 2\n"})
    put(root, {"b.md": '# B\n\n<a id="here"></a>\n\n## Two, words\n\n## Again\n\ntext\n\n# Again\n'})
    service = open_service(root)
    results = facts(service, LinksRequest("a.md", Category.INTERNAL))["results"]
    assert {result["target"]: result.get("to_line") for result in results} == {
        **written,
        "[[b#Two Words]]": 5,
        "#a": 1,
    }
    assert "\n2: b.md#two-words → b.md:5\n" in service.relation_view(LinksRequest("a.md")).text
    put(root, {"b.md": "# B\n\n\n\n\n\n\n\n## Two, words\n"})
    assert facts(service, LinksRequest("a.md"))["results"][0]["to_line"] == 9
