"""Answers about references: their text and JSON, filters, pages, trees of calls, and files that change."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from discovery import settle
from fastmcp import Client
from fresh_index import dump_rows
from reference_samples import SAMPLES
from relating import facts, open_service, put
from served import call

from keyhole.core.errors import ErrorKind, KeyholeError, QueryError
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.rows import DefinitionRow
from keyhole.core.links.requests import ReferenceRelation, ReferencesRequest
from keyhole.core.references.call_tree import MOST_PER_FUNCTION
from keyhole.core.references.name_resolver import NameResolver
from keyhole.core.service import Service
from keyhole.core.types.choices import Format
from keyhole.mcp_server.server import build_server

Check = Callable[[str, str], None]
CALLERS, CALLEES, HIERARCHY = ReferenceRelation.CALLERS, ReferenceRelation.CALLEES, ReferenceRelation.HIERARCHY
REQUESTS = {
    "references": ReferencesRequest(symbol="Item.price"),
    "callers": ReferencesRequest(symbol="Item.price", relation=CALLERS, depth=3),
    "callees": ReferencesRequest(symbol="main", relation=CALLEES, depth=3),
    "classes": ReferencesRequest(symbol="Item", relation=HIERARCHY, depth=3),
    "methods": ReferencesRequest(symbol="Item.price", relation=HIERARCHY),
}
SHOP = {
    "shop/stock.py": "def count():\n    return 1\n",
    "shop/till.py": "from shop.stock import count\n\n\ndef pay():\n    return count() + count()\n",
    "shop/report.py": "from shop import stock\n\n\ndef report():\n    stock.count()\n    print('count')\n",
    "tests/test_till.py": (
        "from shop.till import pay\nfrom shop.stock import count\n\n\ndef test_pay():\n    assert pay() == count()\n"
    ),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Service:
    root = tmp_path_factory.mktemp("references") / "store"
    shutil.copytree(SAMPLES / "python", root)
    return open_service(root)


@pytest.fixture
def shop(tmp_path: Path) -> Service:
    put(tmp_path / "work", SHOP)
    return open_service(tmp_path / "work")


def lines(service: Service, **asked: Any) -> list[str]:
    """Return the references of an answer as `path:line role certainty`."""
    found = facts(service, ReferencesRequest(**asked))["results"]
    return [f"{one['file_path']}:{one['line']} {one['role']} {one['certainty']}" for one in found]


# Text and JSON


@pytest.mark.parametrize("form", Format)
@pytest.mark.parametrize("name", REQUESTS)
def test_the_answer_to_each_relation(store: Service, name: str, form: Format, check_golden: Check) -> None:
    text = store.relation_view(replace(REQUESTS[name], format=form)).text
    if form == Format.JSON:
        text = json.dumps({**json.loads(text), "latency_ms": 0}, indent=1) + "\n"
    check_golden(f"relations/references/{name}.{form}", text)


@pytest.mark.anyio
async def test_agents_get_the_same_text(store: Service) -> None:
    async with Client(build_server(store)) as client:
        text, is_error = await call(client, "find_references", symbol="Item.price", relation="callers", depth=3)
    assert not is_error
    assert text == store.relation_view(REQUESTS["callers"]).text


def test_a_definition_by_its_place(store: Service) -> None:
    by_place = facts(store, ReferencesRequest(path="store/items.py", line=38))
    assert (by_place["symbol"], by_place["line"]) == ("Item.price", 38)
    assert by_place["results"] == facts(store, REQUESTS["references"])["results"]


def test_the_name_of_a_class_does_not_mean_its_constructor(tmp_path: Path) -> None:
    shop = "class Shop {\n    Shop() {}\n\n    Shop copy() {\n        return new Shop();\n    }\n}\n"
    put(tmp_path / "work", {"Shop.java": shop})
    service = open_service(tmp_path / "work")
    assert facts(service, ReferencesRequest(symbol="Shop"))["line"] == 1
    assert facts(service, ReferencesRequest(symbol="Shop.Shop"))["line"] == 2
    service.close()


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ({"symbol": "Nope"}, ErrorKind.UNKNOWN_SYMBOL),
        ({"symbol": "..."}, ErrorKind.UNKNOWN_SYMBOL),
        ({"symbol": "price"}, ErrorKind.AMBIGUOUS_SYMBOL),
        ({"path": "store/items.py", "line": 10}, ErrorKind.NO_DEFINITION_AT_LINE),
        ({"path": "store/gone.py", "line": 1}, ErrorKind.NOT_INDEXED),
        ({}, ErrorKind.NO_SYMBOL_ASKED),
    ],
)
def test_a_symbol_that_is_not_clear_is_an_error(store: Service, asked: dict[str, Any], kind: ErrorKind) -> None:
    with pytest.raises(KeyholeError) as error:
        store.relation_view(ReferencesRequest(**asked))
    assert error.value.kind == kind


@pytest.mark.parametrize("asked", [{"role": "calls"}, {"certainty": "sure"}, {"depth": 0}, {"offset": -1}])
def test_values_that_no_answer_can_have(store: Service, asked: dict[str, Any]) -> None:
    with pytest.raises(QueryError, match=next(iter(asked))):
        store.relation_view(ReferencesRequest(symbol="Item.price", **asked))


def test_a_depth_over_the_maximum_is_lowered_with_a_note(store: Service) -> None:
    request = replace(REQUESTS["callers"], depth=9)
    text = store.relation_view(request).text
    assert "Note: depth=9 is over the maximum; using depth=5" in text
    assert facts(store, request)["results"] == facts(store, replace(request, depth=5))["results"]


# Filters, totals and pages


def test_filters(shop: Service) -> None:
    assert lines(shop, symbol="count") == [
        "shop/report.py:5 call certain",
        "shop/till.py:1 import certain",
        "shop/till.py:5 call certain",
        "tests/test_till.py:2 import certain",
        "tests/test_till.py:6 call certain",
        "shop/report.py:6 string mention by name",
    ]
    assert lines(shop, symbol="count", role="import", include_tests=False) == ["shop/till.py:1 import certain"]
    assert lines(shop, symbol="count", certainty="by name") == ["shop/report.py:6 string mention by name"]
    assert lines(shop, symbol="count", within="tests", role="call") == ["tests/test_till.py:6 call certain"]
    callers = facts(shop, ReferencesRequest(symbol="count", relation=CALLERS, include_tests=False))["results"]
    assert [one["symbol"] for one in callers] == ["report", "pay"]


def test_totals_count_every_page(shop: Service) -> None:
    answer = facts(shop, ReferencesRequest(symbol="count", limit=2))
    assert (answer["total_count"], answer["returned_count"]) == (6, 2)
    assert answer["by_certainty"] == {"certain": 5, "by name": 1}
    assert answer["by_role"] == {"call": 3, "import": 2, "string mention": 1}
    assert answer["notes"] == ["5 certain, 1 by name; by role: 3 call, 2 import, 1 string mention"]


@pytest.mark.parametrize("name", REQUESTS)
def test_pages_have_everything_once(store: Service, name: str) -> None:
    whole = facts(store, REQUESTS[name])
    by_offset, by_cursor, cursor = list[Any](), list[Any](), ""
    while len(by_offset) < whole["total_count"]:
        by_offset += facts(store, replace(REQUESTS[name], limit=2, offset=len(by_offset)))["results"]
        page = facts(store, replace(REQUESTS[name], limit=2, cursor=cursor))
        by_cursor += page["results"]
        cursor = page["pagination"]["cursor"]
    assert by_offset == by_cursor == whole["results"]


def test_a_small_budget_says_what_is_left_out(store: Service) -> None:
    put(store.root, {"many.py": "from store import total\n" + "total([])\n" * 400})
    store.index()
    view = store.relation_view(ReferencesRequest(symbol="total", path="store/items.py", limit=500, max_tokens=1_000))
    (store.root / "many.py").unlink()
    store.index()
    assert "Next page: offset=" in view.text
    assert "of 40" in view.text.partition("\n")[0]


def test_nothing_found_says_so(shop: Service) -> None:
    answer = shop.relation_view(ReferencesRequest(symbol="report")).text
    assert answer.startswith("Nothing found: no references to report in 4 files")


# Trees of calls


def test_cycles_are_marked_and_end(tmp_path: Path) -> None:
    put(
        tmp_path / "work",
        {"ring.py": "def one():\n    two()\n\n\ndef two():\n    three()\n\n\ndef three():\n    one()\n"},
    )
    service = open_service(tmp_path / "work")
    for relation, order in ((CALLEES, ["two", "three", "one"]), (CALLERS, ["three", "two", "one"])):
        nodes = facts(service, ReferencesRequest(symbol="one", relation=relation, depth=5))["results"]
        assert [node["symbol"] for node in nodes] == order
        assert [node["cycle"] for node in nodes] == [False, False, True]
        assert [node["depth"] for node in nodes] == [1, 2, 3]


def test_each_level_is_bounded_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    callers = "\n\n".join(f"def caller_{number}():\n    busy()" for number in range(MOST_PER_FUNCTION + 7))
    put(tmp_path / "work", {"busy.py": f"def busy():\n    pass\n\n\n{callers}\n"})
    service = open_service(tmp_path / "work")
    request = ReferencesRequest(symbol="busy", relation=CALLERS, depth=2)
    assert "… 7 more on this level" in service.relation_view(request).text
    assert facts(service, request)["results"][-1]["left_out"] == 7


def test_a_tree_that_ends_early_says_so(shop: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("references.call_tree", "view.lists.reference_view"):
        monkeypatch.setattr(f"keyhole.core.{module}.MOST_IN_TREE", 2)
    text = shop.relation_view(ReferencesRequest(symbol="count", relation=CALLERS, depth=2)).text
    assert "Results 1-2 of 2 callers" in text
    assert "the list stops at 2: a smaller depth, within or certainty shows what is missing" in text


def test_what_only_the_name_suggests_is_not_followed(tmp_path: Path) -> None:
    files = {
        "a.py": "class A:\n    def go(self):\n        pass\n\n\nclass B:\n    def go(self):\n        pass\n",
        "b.py": "def run(thing):\n    thing.go()\n\n\ndef main():\n    run(1)\n",
    }
    put(tmp_path / "work", files)
    service = open_service(tmp_path / "work")
    nodes = facts(service, ReferencesRequest(symbol="A.go", relation=CALLERS, depth=5))["results"]
    assert [(node["symbol"], node["certainty"]) for node in nodes] == [("run", "by name")]


# Files that change


def test_an_edited_file_changes_what_points_at_it(shop: Service) -> None:
    put(shop.root, {"shop/stock.py": "def number():\n    return 1\n"})
    assert shop.index().changed == 1, "the other files are not read again"
    with pytest.raises(QueryError):
        shop.relation_view(ReferencesRequest(symbol="count"))
    assert lines(shop, symbol="number") == []
    put(shop.root, {"shop/stock.py": "import os\n\n\ndef count():\n    return 1\n\n\ndef number():\n    count()\n"})
    assert shop.index().changed == 1
    assert facts(shop, ReferencesRequest(symbol="count"))["total_count"] == 7


def test_a_moved_or_deleted_file_changes_what_points_at_it(shop: Service) -> None:
    put(shop.root, {"shop/other.py": SHOP["shop/stock.py"]})
    (shop.root / "shop/stock.py").unlink()
    report = shop.index()
    assert (report.added, report.changed, report.removed) == (1, 0, 1)
    # Nothing imports the new place, so only the text is left.
    assert lines(shop, symbol="count") == ["shop/report.py:6 string mention by name"]
    put(shop.root, {"shop/stock.py": SHOP["shop/stock.py"]})
    (shop.root / "shop/other.py").unlink()
    shop.index()
    assert facts(shop, ReferencesRequest(symbol="count"))["total_count"] == 6
    (shop.root / "tests/test_till.py").unlink()
    shop.index()
    assert facts(shop, ReferencesRequest(symbol="count"))["total_count"] == 4


def test_a_file_that_changed_since_it_was_indexed_is_read_first(shop: Service) -> None:
    put(shop.root, {"shop/till.py": "# nothing\n"})
    text = shop.relation_view(ReferencesRequest(symbol="count")).text
    assert "return count() + count()" not in text


@pytest.mark.files_only("copies an index file of an older version")
def test_an_index_without_names_says_so_and_is_filled_in(tmp_path: Path) -> None:
    root = tmp_path / "old"
    put(
        root,
        {
            "shop.py": "class Shop:\n    def total(self):\n        return add(1, 2)\n\n\n"
            "def add(first, second):\n    return first + second\n",
            "till.py": "from shop import Shop, add\n\n\ndef pay():\n"
            '    """Pay everything."""\n    return Shop().total() + add(3, 4)\n',
        },
    )
    settle()
    service = Service.open(root, flags={"cache_dir": tmp_path / "cache"})
    service.folder.mkdir(parents=True)
    shutil.copy(Path(__file__).parent / "fixtures" / "index-v9.db", service.folder / INDEX_FILE)
    note = "references are missing from 2 files indexed by an older version of keyhole; run keyhole index"
    assert note in service.relation_view(ReferencesRequest(symbol="add")).text
    service.index()
    answer = service.relation_view(ReferencesRequest(symbol="add")).text
    assert answer.startswith("Results 1-3 of 3 references to add")
    assert "older version" not in answer
    fresh = Service.open(root, flags={"cache_dir": tmp_path / "fresh"})
    fresh.index()
    assert dump_rows(service.folder / INDEX_FILE) == dump_rows(fresh.folder / INDEX_FILE)


# Odd names


def test_names_with_spaces_quotes_and_line_ends(tmp_path: Path) -> None:
    put(
        tmp_path / "work",
        {
            "a.sql": 'CREATE TABLE "order lines" (id INT);\nCREATE TABLE "two\nlines" (id INT);\n'
            'SELECT id FROM "order lines";\nSELECT id FROM "two\nlines";\n',
            "b.rb": "def it's\nend\n",
        },
    )
    service = open_service(tmp_path / "work")
    with service.engines.lend() as engine:
        names = [row.name for row in engine.store.definitions_in(["a.sql", "b.rb"])]
        for name in [*names, "it's", '"', "", "a b", "\n", "order lines"]:
            assert isinstance(engine.store.files_with_name(name), list)
    for name in names:
        with service.engines.lend() as engine:
            rows = engine.store.definitions_named(name)
        assert rows
        assert service.relation_view(ReferencesRequest(path=rows[0].path, line=rows[0].name_line)).text


# Hostile workspaces


def test_long_chains_of_imports_and_classes_do_not_overflow_the_stack(tmp_path: Path) -> None:
    passed_on = {f"c{number}.py": f"from c{number + 1} import chained\n" for number in range(1_200)}
    classes = [
        f"class K{number}(K{number - 1}):\n    def go(self):\n        self.gone()\n" for number in range(1, 1_200)
    ]
    put(
        tmp_path / "work",
        {
            **passed_on,
            "c1200.py": "def chained():\n    pass\n",
            "classes.py": "class K0:\n    pass\n" + "".join(classes),
            "other.py": "class Other:\n    def gone(self):\n        pass\n",
        },
    )
    service = open_service(tmp_path / "work")
    assert facts(service, ReferencesRequest(symbol="chained"))["by_certainty"] == {"certain": 1_200}
    assert facts(service, ReferencesRequest(symbol="Other.gone"))["by_certainty"] == {"by name": 1_199}


def test_thousands_of_methods_with_one_name_take_no_quadratic_time(tmp_path: Path) -> None:
    def calls(number: int) -> int:
        """Return how often it is asked whether a class owns a definition."""
        classes = [f"class C{one}:\n    def same(self):\n        self.same()\n" for one in range(number)]
        put(tmp_path / f"work{number}", {"many.py": "".join(classes)})
        service = open_service(tmp_path / f"work{number}")
        asked = 0
        owns = NameResolver.owns

        def counted(self: NameResolver, holder: DefinitionRow, row: DefinitionRow) -> bool:
            nonlocal asked
            asked += 1
            return owns(self, holder, row)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(NameResolver, "owns", counted)
            assert lines(service, symbol="C5.same") == ["many.py:18 call certain"]
        return asked

    assert calls(400) <= 400 * 5
