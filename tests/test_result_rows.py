"""Rows of a search by words: one per file, named by its owner, with its best line; quoted text; honest scores."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from keyhole.core.service import Service
from keyhole.core.types.choices import Detail, Format, Mode
from keyhole.core.types.search_results import Hit
from keyhole.core.types.view_requests import SearchRequest
from keyhole.tui.query_syntax import read_query, with_path

Check = Callable[[str, str], None]

LONG_BODY = "".join(f"    step_{number} = prepare({number})\n" for number in range(150))
FILES = {
    "shop/orders.py": f'''import json

RATE = 0.2


class Order:
    """One order of a customer."""

    def total(self, lines):
        """Return the sum of all lines."""
        return sum(line.price for line in lines)

    def invoice(self, lines):
        return json.dumps([line.price for line in lines])

    def reminder(self, lines):
        return [line.price for line in lines if line.due]


def settle(order):
{LONG_BODY}    ledger.append(order.balance)
{LONG_BODY}    return order


class Basket:
    def total(self, lines):
        return len(lines)
''',
    "shop/stock.py": """def restock(shelf):
    # take from the warehouse what is missing, again and again
    shelf.fill()


def total(shelf):
    return shelf.count
""",
    "web/cart.ts": """export class Cart {
  // Adds the price of a line.
  add(line: Line): void {
    this.lines.push(line);
  }
}
""",
    "notes.txt": "\n\nelse\nThe price of a line is what the customer pays.\n",
    "tests/test_orders.py": "def test_total():\n    assert Order().total([]) == 0\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Service:
    base = tmp_path_factory.mktemp("rows")
    for path, text in FILES.items():
        target = base / "shop" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    flags = {"cache_dir": base / "cache", "index.model": str(model_folder)}
    service = Service.open(base / "shop", flags=flags)
    service.index()
    return service


def ask(service: Service, query: str, **options: object) -> tuple[Hit, ...]:
    return service.search_page(request(query, **options))[0].hits


def request(query: str, **options: object) -> SearchRequest:
    return replace(SearchRequest(query, Mode.KEYWORD), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("detail", list(Detail))
@pytest.mark.parametrize("form", list(Format))
def test_rows_at_each_level(shop: Service, detail: Detail, form: Format, check_golden: Check) -> None:
    view = shop.search_view(request("price of a line", detail_level=detail, format=form))
    text = "\n".join(line for line in view.text.split("\n") if not line.startswith('"latency_ms"'))
    check_golden(f"views/rows-{detail}.{form}", text)


def test_a_result_is_a_file_and_counts_its_other_hits(shop: Service) -> None:
    result, view = shop.search_page(request("lines"))
    assert len({hit.path for hit in result.hits}) == len(result.hits) == result.total
    assert result.total_hits == sum(1 + hit.further_count for hit in result.hits)
    assert view.banner.startswith(f"Results 1-{result.total} of {result.total} files")
    answer = json.loads(shop.search_view(request("lines", format=Format.JSON)).text)
    assert answer["total_hits"] == result.total_hits
    for found in answer["results"]:
        assert found["further_count"] >= len(found["further"])
        scores = [found["score"], *(further["score"] for further in found["further"])]
        assert scores == sorted(scores, reverse=True)
        assert {tuple(further) for further in found["further"]} <= {
            ("start_line", "end_line", "kind", "qualified_name", "score")
        }


def test_pages_hold_each_file_once(tmp_path: Path) -> None:
    for number in range(150):
        body = "".join(
            f"def part_{part}():\n" + "    # granite, again and again, on a line of some length\n" * 30
            for part in range(1 + number % 3)
        )
        (tmp_path / f"file_{number:03}.py").write_text(body)
    service = Service.open(tmp_path, flags={"cache_dir": tmp_path.parent / "cache", "index.model": "none"})
    service.index()
    whole = service.search_page(request("granite", limit=50, detail_level=Detail.MINIMAL))[0]
    assert (whole.total, whole.total_hits) == (150, sum(1 + number % 3 for number in range(150)))
    paths = [hit.path for offset in range(0, 160, 20) for hit in ask(service, "granite", limit=20, offset=offset)]
    assert sorted(paths) == [f"file_{number:03}.py" for number in range(150)]
    far = ask(service, "granite", limit=20, offset=130)
    assert {hit.further_count for hit in far} <= {0, 1, 2}
    assert all(hit.further_count == int(hit.path[5:8]) % 3 for hit in far)
    # The rank that an explanation gives is the place in the list.
    assert service.explain(request("granite"), paths[140]).rank == 141


def test_a_path_filter_on_one_file_lists_all_its_hits(shop: Service) -> None:
    (result,) = (hit for hit in ask(shop, "lines") if hit.path == "shop/orders.py")
    hits = ask(shop, "lines", path="shop/orders.py")
    assert len(hits) == 1 + result.further_count > 1
    assert {hit.path for hit in hits} == {"shop/orders.py"}


def test_symbol_mode_keeps_one_result_per_definition(shop: Service) -> None:
    found = [(hit.path, hit.qualified_name) for hit in ask(shop, "total", mode=Mode.SYMBOL)]
    assert {("shop/orders.py", "Order.total"), ("shop/orders.py", "Basket.total"), ("shop/stock.py", "total")} <= {
        *found
    }


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("sum of all lines", "shop/orders.py:9:[method] (1.00) def Order.total(self, lines)"),
        ("class Cart", "web/cart.ts:1:[class] (1.00) export class Cart"),
    ],
)
def test_a_row_names_the_owner(shop: Service, query: str, row: str) -> None:
    lines = shop.search_view(request(query)).text.split("\n")
    assert lines[1].startswith(row)


def test_the_middle_of_a_long_function_is_called_by_it_and_its_best_line(shop: Service) -> None:
    hit = ask(shop, "ledger balance")[0]
    line = FILES["shop/orders.py"].split("\n").index("    ledger.append(order.balance)") + 1
    assert (hit.kind, hit.name, hit.line) == ("function", "settle", line)
    text = shop.search_view(request("ledger balance")).text
    assert f"\n{line}\t    ledger.append(order.balance)\n" in text


def test_a_comment_before_a_definition_belongs_to_it(shop: Service) -> None:
    hit = next(hit for hit in ask(shop, "adds the price") if hit.path == "web/cart.ts")
    assert hit.qualified_name == "Cart.add"


def test_text_without_definitions_is_called_by_its_best_line(shop: Service) -> None:
    row = next(line for line in shop.search_view(request("customer pays")).text.split("\n") if "notes.txt" in line)
    assert row.startswith("notes.txt:4:[section]")
    assert row.endswith("The price of a line is what the customer pays.")


def test_rich_shows_what_the_row_names(shop: Service) -> None:
    answer = shop.search_view(request("sum of all lines", detail_level=Detail.RICH, format=Format.JSON, limit=1))
    (found,) = json.loads(answer.text)["results"]
    lines = FILES["shop/orders.py"].split("\n")
    first, last = found["content_start_line"], found["content_end_line"]
    assert found["content"] == "\n".join(lines[first - 1 : last]) + "\n"
    assert lines[first - 1] == "    def total(self, lines):"
    assert found["context_before"] == "\n".join(lines[max(0, first - 11) : first - 1]) + "\n"


def test_a_long_definition_is_shown_by_its_start_and_around_its_matches(shop: Service) -> None:
    text = shop.search_view(request("ledger balance", detail_level=Detail.RICH, limit=1)).text
    assert "\tdef settle(order):\n…\n" in text
    assert "\t    ledger.append(order.balance)\n" in text
    assert text.count("prepare(") < 40


def test_the_budget_takes_further_hits_first_and_then_context(tmp_path: Path) -> None:
    for number in range(50):
        parts = (f"def marble_{part}():\n" + "    polish(marble, again, and, again)\n" * 40 for part in range(3))
        (tmp_path / f"file_{number}.py").write_text("".join(parts))
    service = Service.open(tmp_path, flags={"cache_dir": tmp_path.parent / "cache", "index.model": "none"})
    service.index()
    view = service.search_view(request("marble", limit=50, max_tokens=1_300))
    assert {level.partition(" ")[0] for level in view.plan.levels} <= {"compact", "minimal"}
    assert "shortened to compact alone" in view.banner
    budgets = range(2_000, 3_200, 100)
    rich = [service.search_view(request("marble", detail_level=Detail.RICH, max_tokens=tokens)) for tokens in budgets]
    assert any("rich without context" in view.plan.levels for view in rich)


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.SEMANTIC])
def test_what_is_only_similar_says_so_and_stays_below_one_half(shop: Service, mode: Mode) -> None:
    result, view = shop.search_page(request("backoff", mode=mode))
    assert result.hits
    assert all(hit.is_similar and hit.score < 0.5 for hit in result.hits)
    assert view.banner.endswith('No file searched contains the word "backoff"; this is similar code.')
    assert view.text.split("\n")[1].partition(" +")[0].endswith(" · similar")
    assert json.loads(shop.search_view(request("backoff", mode=mode, format=Format.JSON)).text)["words_found"] is False


def test_scores_fall_with_the_rank_and_words_count(shop: Service) -> None:
    hits = ask(shop, "warehouse", mode=Mode.HYBRID)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert [hit.path for hit in hits if not hit.is_similar] == ["shop/stock.py"]
    assert all(hit.score < 0.5 for hit in hits if hit.is_similar)


def test_the_class_counts_more_than_a_file_of_its_name(tmp_path: Path) -> None:
    classes = (
        "class AsyncClient:\n    def send(self, client):\n        return client.send(client)\n",
        "class Client:\n",
    )
    (tmp_path / "client.py").write_text("\n\n".join(classes) + "    def send(self):\n        pass\n")
    service = Service.open(tmp_path, flags={"cache_dir": tmp_path.parent / "cache", "index.model": "none"})
    service.index()
    assert ask(service, "client send")[0].qualified_name == "Client.send"


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("basket total", ("shop/orders.py", "Basket.total")),
        ("order total", ("shop/orders.py", "Order.total")),
        ("stock total", ("shop/stock.py", "total")),
        ("orders settle", ("shop/orders.py", "settle")),
        ("Cart add", ("web/cart.ts", "Cart.add")),
    ],
    ids=["Class method", "another class", "module function", "file symbol", "TypeScript"],
)
@pytest.mark.parametrize("mode", [Mode.KEYWORD, Mode.HYBRID])
def test_an_owner_and_a_name_find_the_member_first(
    shop: Service, query: str, place: tuple[str, str], mode: Mode
) -> None:
    first = ask(shop, query, mode=mode)[0]
    assert (first.path, first.qualified_name, first.score) == (*place, 1.0)


def test_quotes_alone_list_the_matching_lines(shop: Service) -> None:
    view = shop.search_view(SearchRequest('"[line.price for line in lines"'))
    assert view.banner == "Results 1-2 of 2 matching lines in 1 file."
    assert "return json.dumps([line.price for line in lines])" in view.text


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode != Mode.SYMBOL])
def test_a_quoted_part_is_matched_as_written_in_every_mode(shop: Service, mode: Mode) -> None:
    result = shop.search_page(request('"customer pays"', mode=mode))[0]
    assert {hit.path for hit in result.hits} == {"notes.txt"}
    if mode != Mode.REGEX:
        mixed = shop.search_page(request('price "customer pays"', mode=mode))[0]
        assert {hit.path for hit in mixed.hits} == {"notes.txt"}


def test_quotes_are_exact_about_case_and_need_both_marks(shop: Service) -> None:
    assert not ask(shop, '"Customer Pays"')
    assert ask(shop, 'total "class Basket"', mode=Mode.SYMBOL)[0].qualified_name == "Basket.total"
    assert ask(shop, 'customer "pays')
    # Quotes inside code are part of it.
    assert ask(shop, 'json.dumps("lines")')


def test_a_quoted_text_decides_what_a_row_names(shop: Service) -> None:
    hit = ask(shop, '"return json.dumps" lines', mode=Mode.KEYWORD)[0]
    assert hit.qualified_name == "Order.invoice"
    assert hit.best_line
    assert hit.best_line.text.strip().startswith("return json.dumps")


def test_two_quoted_texts_may_be_in_different_parts_of_a_file(shop: Service) -> None:
    assert {hit.path for hit in ask(shop, '"class Order" "class Basket"')} == {"shop/orders.py"}
    assert not ask(shop, '"class Order" "class Cart"')


def test_quoted_text_that_is_nowhere_says_what_else_would_find_it(shop: Service) -> None:
    text = shop.search_view(SearchRequest('"Customer Pays"')).text
    assert text.startswith('Nothing found: no match for "Customer Pays" in ')
    assert "without quotes: " in text
    assert "ignoring case, with /(?i)Customer\\ Pays/: 1 result" in text


def test_a_match_outside_of_definitions_is_called_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from quartz import rotate\n\n\ndef unrelated():\n    return 1\n")
    service = Service.open(tmp_path, flags={"cache_dir": tmp_path.parent / "cache", "index.model": "none"})
    service.index()
    (hit,) = ask(service, "quartz rotate")
    assert (hit.kind, hit.line, hit.signature) == ("code", 1, "")


def test_the_source_of_a_long_definition_has_its_whole_signature(tmp_path: Path) -> None:
    decorators = "".join(f"@decorated_{number}(\n    {number},\n)\n" for number in range(5))
    body = "".join(f"    step_{number} = prepare({number})\n" for number in range(60))
    source = f"{decorators}def handle(\n    first,\n    second,\n):\n{body}    paint(zebra)\n{body}"
    (tmp_path / "a.py").write_text(source)
    service = Service.open(tmp_path, flags={"cache_dir": tmp_path.parent / "cache", "index.model": "none"})
    service.index()
    (hit,) = ask(service, "zebra")
    assert hit.passage
    start, around = hit.passage.content
    assert start.text == "def handle(\n    first,\n    second,\n):\n"
    assert "    paint(zebra)\n" in around.text


def test_a_filter_on_a_path_with_brackets_or_spaces(tmp_path: Path) -> None:
    path = tmp_path / "app/[id]/my page.ts"
    path.parent.mkdir(parents=True)
    path.write_text("export function dodo() {\n  return 1;\n}\n")
    service = Service.open(tmp_path, flags={"cache_dir": tmp_path.parent / "cache", "index.model": "none"})
    service.index()
    for filtered in ("app/[id]/my page.ts", "app/[id]", with_path("dodo", "app/[id]/my page.ts").partition("path:")[2]):
        assert [hit.path for hit in ask(service, "dodo", path=filtered)] == ["app/[id]/my page.ts"]


def test_what_is_only_similar_is_named_in_one_file_too(shop: Service) -> None:
    view = shop.search_view(request("backoff", mode=Mode.HYBRID, path="shop/stock.py"))
    assert view.banner.endswith("this is similar code.")


def test_masks_in_further_rows_are_counted(tmp_path: Path) -> None:
    token = "AKIA" + "Q3EGZT5WPLMXR7VN"
    filling = "nothing to see on this line of text, nor on the next one\n" * 40
    (tmp_path / "notes.txt").write_text("".join(f"{filling}heron {token}\n" for _ in range(3)))
    service = Service.open(tmp_path, flags={"cache_dir": tmp_path.parent / "cache", "index.model": "none"})
    service.index()
    view = service.search_view(request("heron"))
    # Two in further rows, and one in the row of the result and in its excerpt.
    assert view.text.count("[secret:") == 4
    assert view.banner.endswith("Masked 3 secrets: notes.txt:41, notes.txt:82, notes.txt:123.")


def test_a_long_best_line_is_clipped_around_its_match(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("start\n" + "x y z " * 40 + "cormorant" + " q r s" * 40 + "\n")
    service = Service.open(tmp_path, flags={"cache_dir": tmp_path.parent / "cache", "index.model": "none"})
    service.index()
    assert "cormorant" in service.search_view(request("cormorant")).text


def test_the_search_line_of_the_explorer_keeps_quoted_text() -> None:
    assert read_query('"def  foo"  bar lang:py').query == '"def  foo" bar'
    assert read_query('"see path:docs here" x').path == ""
    assert with_path('"see path:docs here" x path:b.py', "a.py") == '"see path:docs here" x path:a.py'


FILLING = "".join(f"    filler_{number} = prepare({number})\n" for number in range(20))


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Service:
    """Return a workspace with one file about a lighthouse, and many that mention one of its words."""
    root = tmp_path_factory.mktemp("harbour")
    (root / "lamp.py").write_text(
        'def relight_lamp(tower):\n    """Relight a lamp.\n\n    A storm puts the lamp of a tower out.\n    """\n'
        f"{FILLING}    # a storm put it out\n    if tower.gauge > STORM:\n        tower.lamp.relight()\n{FILLING}"
    )
    for number in range(14):
        (root / f"quay_{number}.py").write_text(f"def moor_{number}(ship, *ropes):\n    return ship.tower\n")
    service = Service.open(root, flags={"cache_dir": root.parent / "cache", "index.model": "none"})
    service.index()
    return service


def test_the_first_page_ends_before_weak_results(harbour: Service) -> None:
    result, view = harbour.search_page(request("storm puts lamp of tower out"))
    # Two results at least: the best one is not always the right one.
    assert [(hit.path, hit.score < 0.2) for hit in result.hits] == [("lamp.py", False), ("quay_0.py", True)]
    assert view.banner == "Results 1-2 of 15 files; all others score below 0.20. Next page: offset=2."
    answer = json.loads(harbour.search_view(request("storm puts lamp of tower out", format=Format.JSON)).text)
    assert (answer["total_count"], answer["pagination"]["has_more"]) == (15, True)
    # The next page starts there, and who asks for a number of results gets it.
    rest = ask(harbour, "storm puts lamp of tower out", offset=2)
    assert len(rest) == 10
    assert all(hit.score < 0.2 for hit in rest)
    assert len(ask(harbour, "storm puts lamp of tower out", limit=10)) == 10
    assert len(ask(harbour, "moor ship")) == 10


def test_the_only_good_result_has_an_excerpt(harbour: Service) -> None:
    found, view = harbour.search_page(request("storm puts lamp of tower out"))
    hit = found.hits[0]
    assert hit.excerpt
    assert not found.hits[1].excerpt
    lines = (harbour.root / "lamp.py").read_text().split("\n")
    first, last = hit.excerpt.start_line, hit.excerpt.end_line
    assert hit.excerpt.text == "\n".join(lines[first - 1 : last]) + "\n"
    # The code, not the docstring, which Purpose shows; a few lines of a long function.
    assert "    if tower.gauge > STORM:\n        tower.lamp.relight()\n" in hit.excerpt.text
    assert last - first < 5
    assert f"\n{first}\t{lines[first - 1]}\n" in view.text
    fenced = harbour.search_view(request("storm puts lamp of tower out", line_numbers=False)).text
    assert f"```\n{hit.excerpt.text}```\n" in fenced
    assert all(hit.excerpt is None for hit in ask(harbour, "moor ship"))


def test_the_excerpt_of_a_short_definition_is_what_follows_its_signature(shop: Service) -> None:
    text = shop.search_view(request("restock shelf warehouse")).text
    source = "2\t    # take from the warehouse what is missing, again and again\n3\t    shelf.fill()\n"
    assert text.split("\n", 2)[2].startswith(source)


def test_an_excerpt_has_no_long_lines_and_does_not_repeat_its_row(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"def basalt():\n    return '{'granite ' * 1_000}'\n")
    (tmp_path / "b.py").write_text("MARBLE = 'white'\n")
    service = Service.open(tmp_path, flags={"cache_dir": tmp_path.parent / "cache", "index.model": "none"})
    service.index()
    for query in ("basalt granite", "marble white"):
        (hit,) = ask(service, query)
        assert hit.excerpt is None


def test_a_row_that_is_not_good_has_a_name_and_its_best_line(harbour: Service) -> None:
    rows = harbour.search_view(request("storm puts lamp of tower out", limit=3)).text.split("\n")
    assert "quay_0.py:1:[function] " in "\n".join(rows)
    assert "*ropes" not in "\n".join(rows)


def test_the_code_below_a_comment_is_shown_with_it(tmp_path: Path) -> None:
    source = f"def sail(ship):\n{FILLING}    # avoid the iceberg\n    ship.turn(9)\n{FILLING}"
    for number in range(2):
        (tmp_path / f"sea_{number}.py").write_text(source)
    service = Service.open(tmp_path, flags={"cache_dir": tmp_path.parent / "cache", "index.model": "none"})
    service.index()
    assert "  → 22: # avoid the iceberg\n  → 23: ship.turn(9)\n" in service.search_view(request("iceberg")).text


def test_a_line_of_code_is_better_than_one_of_the_docstring(tmp_path: Path) -> None:
    source = f'def sail(ship):\n    """Sail.\n\n    Around an iceberg.\n    """\n{FILLING}    avoid(iceberg)\n{FILLING}'
    for number in range(2):
        (tmp_path / f"sea_{number}.py").write_text(source)
    service = Service.open(tmp_path, flags={"cache_dir": tmp_path.parent / "cache", "index.model": "none"})
    service.index()
    assert "  → 26: avoid(iceberg)\n" in service.search_view(request("iceberg")).text


def test_a_name_with_typos_is_only_similar(shop: Service) -> None:
    result, view = shop.search_page(request("remindre", mode=Mode.SYMBOL))
    assert view.banner.endswith('No name contains "remindre"; these are similar.')
    assert [(hit.name, hit.score, hit.is_similar) for hit in result.hits] == [("reminder", 0.49, True)]
    assert " · similar" in view.text.split("\n")[1]
    # Names that contain what was typed come first, and nothing about them is only similar.
    result, view = shop.search_page(request("tota", mode=Mode.SYMBOL))
    assert "similar" not in view.text
    assert result.hits[0].score == 1.0
