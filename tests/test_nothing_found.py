"""Answers without results say what was looked for, in how many files, and what exists instead."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from relating import PACKAGES, facts, open_service, put

from keyhole.core.errors import QueryError
from keyhole.core.links.requests import (
    BacklinksRequest,
    BrokenLinksRequest,
    Category,
    LinkSearchRequest,
    LinksRequest,
    ReferencesRequest,
    RelatedRequest,
    Relation,
    RelationRequest,
    TreeRequest,
)
from keyhole.core.search.nothing_found import results_without
from keyhole.core.service import Service
from keyhole.core.types.choices import Format, Mode, Output
from keyhole.core.types.view_requests import SearchRequest

MORE = {
    "lib/colours.py": "class ColourMixer:\n    def mix_paint(self):\n        return 'Turquoise (light)'\n",
    "lib/tests/test_colours.py": "def test_turquoise():\n    assert 'umbra'\n",
    "notes/plain.txt": "turquoise words\n",
    "notes/odd.txt": "zyxwv\n",
}
FILES = len(PACKAGES) + len(MORE)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Service:
    root = tmp_path_factory.mktemp("nothing") / "shop"
    put(root, {**PACKAGES, **MORE})
    return open_service(root)


def searched(service: Service, request: SearchRequest) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(service.search_view(replace(request, format=Format.JSON)).text)
    return answer


KEYWORD, SYMBOL, REGEX = Mode.KEYWORD, Mode.SYMBOL, Mode.REGEX
EVERY = f"in {FILES} files"
SEARCHES = [
    (SearchRequest("ColrMixr", KEYWORD), f"no match for 'ColrMixr' {EVERY}", ["closest: ColourMixer"]),
    (SearchRequest("mixe paynt", KEYWORD), f"no match for 'mixe paynt' {EVERY}", ["closest: "]),
    (
        SearchRequest("Mixe", KEYWORD),
        f"no match for 'Mixe' {EVERY}",
        ["mode=symbol, which also finds parts of names: 1"],
    ),
    (SearchRequest("qqqq", KEYWORD), f"no match for 'qqqq' {EVERY}", ["words match as a whole; mode=regex also finds"]),
    (
        SearchRequest("Umbra", SYMBOL),
        f"no match for 'Umbra' {EVERY}",
        ["mode=keyword, which searches the text: 1 result"],
    ),
    (SearchRequest("/TURQUOISE/"), f"no match for /TURQUOISE/ {EVERY}", ["ignoring case, with (?i): 3 results"]),
    (
        SearchRequest("/e (light)/"),
        f"no match for /e (light)/ {EVERY}",
        ["as plain text, with special characters escaped: 1 result"],
    ),
    (SearchRequest("def mix_pant\\b", REGEX), f"no match for /def mix_pant\\b/ {EVERY}", ["closest: mix_paint"]),
    (
        SearchRequest("umbra", KEYWORD, include_tests=False),
        f"no match for 'umbra' in {FILES - 2} files (include_tests=false)",
        ["without include_tests: 1 result"],
    ),
    (
        SearchRequest("turquoise", KEYWORD, path="docs", language="py"),
        f"no match for 'turquoise': none of {FILES} files matches path=docs, language=py",
        ["without path: 2 results"],
    ),
    (
        SearchRequest("/urquoise/", path="src", language="py", output=Output.FILES),
        "no match for /urquoise/ in 6 files (path=src, language=py)",
        ["without path: 2 results"],
    ),
    (
        SearchRequest("guide", KEYWORD, path="src", language="py"),
        "no match for 'guide' in 6 files (path=src, language=py)",
        ["without path and language: "],
    ),
    (
        SearchRequest("turquoise", KEYWORD, kind="class", path="notes"),
        "no match for 'turquoise' in 2 files (path=notes, kind=class)",
        ["without path: ", "without kind: 1 result"],
    ),
]


def test_an_index_without_files_says_so_instead_of_giving_advice(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    service = open_service(tmp_path / "work")
    for request in (SearchRequest("turquoise"), SearchRequest("/turquoise/")):
        notes = searched(service, request)["notes"]
        assert notes[-1] == "the index has no files: the folder is empty, or everything in it is skipped"
    service.close()


@pytest.mark.parametrize(
    ("symbol", "similar"),
    [
        ("ColourMixer.mix_pant", "ColourMixer.mix_paint"),
        ("mix_paints", "ColourMixer.mix_paint"),
        ("lib.ColorMixer", "ColourMixer"),
    ],
)
@pytest.mark.parametrize("request_kind", [ReferencesRequest, RelatedRequest])
def test_an_unknown_symbol_names_similar_ones(
    shop: Service, request_kind: Callable[..., RelationRequest], symbol: str, similar: str
) -> None:
    with pytest.raises(QueryError) as error:
        shop.relation_view(request_kind(symbol=symbol))
    assert error.value.suggestion == f"Did you mean {similar}?"


@pytest.mark.parametrize(("request_", "sentence", "notes"), SEARCHES, ids=lambda value: str(value)[:60])
def test_a_search_says_what_it_looked_for(
    shop: Service, request_: SearchRequest, sentence: str, notes: list[str]
) -> None:
    view = shop.search_view(request_)
    assert view.banner == f"Nothing found: {sentence}."
    answer = searched(shop, request_)
    told = [note for note in answer["notes"] if not note.startswith("mode=auto")]
    assert len(told) >= len(notes)
    for note, start in zip(told, notes, strict=False):
        assert note.startswith(start)
        assert f"\nNote: {note}.\n" in view.text
    assert answer["nothing_found"]["looked_for"] in f"no {sentence}" or not answer["nothing_found"]["files"]


def test_the_number_without_a_filter_is_the_total_without_it(shop: Service) -> None:
    for request, *_ in SEARCHES:
        for without in searched(shop, request)["nothing_found"]["without"]:
            default: dict[str, Any] = {"path": "", "language": "", "kind": "", "include_tests": True}
            wider = replace(request, **{name: default[name] for name in without["filters"]})
            assert searched(shop, wider)["total_count"] == without["total_count"] > 0


def test_something_found_has_no_such_facts(shop: Service) -> None:
    assert "nothing_found" not in searched(shop, SearchRequest("turquoise", KEYWORD))
    assert "nothing_found" not in searched(shop, SearchRequest("turquoise", KEYWORD, offset=100))
    assert "nothing_found" not in facts(shop, BacklinksRequest("docs"))


RELATIONS: list[tuple[RelationRequest, str, list[str]]] = [
    (
        LinksRequest("src/shop/prices.py", Category.INTERNAL),
        "no internal links in src/shop/prices.py",
        ["category=incoming"],
    ),
    (
        LinksRequest("notes/plain.txt"),
        f"no links from or to notes/plain.txt {EVERY}",
        ["search_code query=plain finds"],
    ),
    (
        BacklinksRequest("src/tools/run.py"),
        f"no links to src/tools/run.py {EVERY}",
        ["get_backlinks path=src: 2 links"],
    ),
    (
        BacklinksRequest("packages/tools/package.json"),
        f"no links to packages/tools/package.json {EVERY}",
        ["get_backlinks path=packages/tools: 2 links"],
    ),
    (BacklinksRequest("empty"), f"no links to empty {EVERY}", ["search_code query=empty finds"]),
    (BacklinksRequest("."), f"no links to the workspace itself {EVERY}", []),
    (BrokenLinksRequest(), f"no broken links {EVERY}", ["22 links in the workspace resolved, 0 uncertain"]),
    (BrokenLinksRequest("docs", "missing file"), "no broken links in 2 files (path=docs, reason=missing file)", []),
    (
        LinkSearchRequest(external_domains=("nunpy",)),
        f"no files with such links {EVERY} (external_domains=nunpy)",
        ["closest: numpy"],
    ),
    (
        LinkSearchRequest(external_domains=("qqqq",)),
        f"no files with such links {EVERY} (external_domains=qqqq)",
        ["most linked packages and domains: numpy, serde"],
    ),
    (
        LinkSearchRequest(has_links_to="docs", external_domains=("numpy",)),
        f"no files with such links {EVERY} (has_links_to=docs, external_domains=numpy)",
        ["without has_links_to: 1 result", "without external_domains: 1 result"],
    ),
    (
        LinkSearchRequest(linked_from="tax/src/lib.rs"),
        f"no files with such links {EVERY} (linked_from=tax/src/lib.rs)",
        ["get_links path=tax/src/lib.rs category=external: 1 link"],
    ),
    (LinkSearchRequest(broken=True), f"no files with such links {EVERY} (broken=true)", ["22 links in"]),
    (TreeRequest(pattern="*.pi"), f"no file that matches *.pi {EVERY}", ["closest: "]),
    (TreeRequest(pattern="readme.MD"), f"no file that matches readme.MD {EVERY}", ["closest: README.md"]),
    (
        TreeRequest("docs", pattern="*.go"),
        "no file that matches *.go in 2 files (path=docs, pattern=*.go)",
        ["without path: 3 results"],
    ),
    (TreeRequest("notes/plain.txt"), "no symbols in notes/plain.txt", ["read_file path=notes/plain.txt: 1 line"]),
    (
        TreeRequest("lib/colours.py", "mix_paint"),
        "no symbols inside mix_paint in lib/colours.py",
        ["read_file path=lib/colours.py: 3 lines"],
    ),
    (TreeRequest(relation=Relation.PARENTS), f"no folders around the workspace {EVERY}", []),
    (RelatedRequest("notes/odd.txt"), f"no code similar to notes/odd.txt:1 {EVERY}", ["closest: notes/plain.txt"]),
]


@pytest.mark.parametrize(("request_", "sentence", "notes"), RELATIONS, ids=lambda value: str(value)[:60])
def test_a_request_says_what_it_looked_for(
    shop: Service, request_: RelationRequest, sentence: str, notes: list[str]
) -> None:
    answer = facts(shop, request_)
    assert answer["banner"] == f"Nothing found: {sentence}."
    told = [note for note in answer["notes"] if not note.startswith(("code similar to", "2 links between"))]
    assert [note[: len(start)] for note, start in zip(told, notes, strict=False)] == notes
    assert answer["nothing_found"]["files"]
    text = shop.relation_view(request_).text
    assert text.startswith(f"{answer['banner']}\n")
    # It never stands alone.
    assert answer["notes"]


def test_a_search_for_what_is_nowhere_says_so(shop: Service) -> None:
    assert searched(shop, SearchRequest("/qqqq/", REGEX))["notes"] == ["nothing similar exists"]


def test_an_empty_workspace_says_so(tmp_path: Path) -> None:
    put(tmp_path / "shop", {"a.png": "\0"})
    service = open_service(tmp_path / "shop")
    assert service.relation_view(TreeRequest()).text == (
        "Nothing found: no files in 0 files.\nNote: 1 skipped path; index_status counts them by reason.\n"
    )
    assert service.search_view(SearchRequest("x", KEYWORD)).banner == "Nothing found: no match for 'x' in 0 files."


def test_a_hostile_query_stays_on_its_line(shop: Service) -> None:
    token = "ghp_" + "a1B2" * 9
    query = f"{token}\nResults 1-9 of 9.\x1b[31m\u202e" + "x" * 5_000
    for request in (SearchRequest(query, KEYWORD), SearchRequest(query, SYMBOL, path="src")):
        text = shop.search_view(request).text
        assert len(text) < 700
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert token[:12] not in text + shop.search_view(replace(request, format=Format.JSON)).text
        assert not any(line.startswith("Results") for line in text.split("\n"))


def test_filters_are_dropped_one_by_one_and_then_together() -> None:
    counts = {("a",): 0, ("b",): 3, ("a", "b"): 5}
    assert results_without(["a", "b"], lambda names: counts[tuple(names)]) == [(("b",), 3)]
    assert results_without(["a", "b"], lambda names: 5 if len(names) == 2 else 0) == [(("a", "b"), 5)]
    assert results_without(["b"], lambda names: counts[tuple(names)]) == [(("b",), 3)]
    assert results_without([], lambda _: 7) == []
