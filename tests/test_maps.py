"""Maps of files: levels, budgets, pages, and line ranges that can be read."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keyhole.core.errors import PathError, QueryError
from keyhole.core.service import Service
from keyhole.core.syntax import plain_outline
from keyhole.core.types.choices import Format, MapLevel
from keyhole.core.types.view_requests import MapRequest, ReadRequest
from keyhole.core.view.budget.sizes import measure
from keyhole.core.view.maps.map_view import CAPS
from keyhole.core.view.maps.map_writer import FOOTER
from keyhole.core.view.usage import observed
from keyhole.core.view.writing import View
from keyhole.core.workspace import path_guard

Check = Callable[[str, str], None]
FIXTURES = Path(__file__).parent / "fixtures" / "languages"
SAMPLES = sorted(path.relative_to(FIXTURES).as_posix() for path in FIXTURES.glob("*/*"))
LEVELS = [level for level in MapLevel if level != MapLevel.AUTO]


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    """Open an empty workspace."""
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "project").mkdir()
    return Service.open(tmp_path / "project")


@pytest.fixture(scope="module")
def samples() -> Service:
    return Service.open(FIXTURES)


def write(service: Service, name: str, text: str) -> str:
    (service.root / name).write_text(text)
    return name


def functions(count: int, *, name: str = "function_{}", indent: str = "") -> str:
    made = (
        f'{indent}def {name.format(number)}(first, second=None):\n{indent}    """Do step {number}."""\n\n'
        for number in range(count)
    )
    return "".join(made)


def listed(view: View) -> list[str]:
    """Return the functions that a text lists, in order."""
    return re.findall(r"^ +def (\w+)", view.text, re.MULTILINE)


# Goldens


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_map_of_every_language(samples: Service, sample: str, check_golden: Check) -> None:
    check_golden(f"maps/{sample}.txt", samples.map_view(MapRequest(sample)).text)


@pytest.mark.parametrize("form", list(Format))
@pytest.mark.parametrize("level", LEVELS)
def test_every_level(samples: Service, level: MapLevel, form: Format, check_golden: Check) -> None:
    request = MapRequest("python/sample.py", level, symbols_each=3, format=form)
    check_golden(f"maps/levels/{level}.{form}", samples.map_view(request).text)


def test_levels_differ_visibly(samples: Service) -> None:
    texts = {samples.map_view(MapRequest("python/sample.py", level, symbols_each=3)).text for level in LEVELS}
    assert len(texts) == len(LEVELS)


# Levels


def test_auto_is_the_first_level_that_fits(service: Service) -> None:
    seen: list[str] = []
    for count in (10, 150, 450, 700, 1_500, 4_000):
        text = "import os\n" + functions(count) + "class Last:\n" + functions(3, indent="    ")
        view = service.map_view(MapRequest(write(service, "many.py", text), max_tokens=25_000))
        level = MapLevel(view.truncation.detail_applied)
        assert len(view.text.encode()) <= CAPS[level]
        seen.append(level)
    assert list(dict.fromkeys(seen)) == LEVELS


def test_five_thousand_functions(service: Service) -> None:
    view = service.map_view(MapRequest(write(service, "many.py", functions(5_000))))
    assert view.banner.startswith(
        "100 of 5,000 symbols: 4,900 left out (symbols_each=50, outline is over 50 KB). Next page: offset=50."
    )
    assert "15,000 lines │ " in view.text
    assert "[Truncated: showing 100 of 5,000 symbols]\n" in view.text
    assert "  ─ ─ ─ 4,900 more symbols ─ ─ ─\n  lines 151-14849, next page: offset=50\n" in view.text
    assert listed(view) == [f"function_{n}" for n in (*range(50), *range(4_950, 5_000))]
    assert view.text.endswith(f"\n\n{FOOTER}\n")
    assert len(view.text.encode()) < 10_000


def test_a_class_with_five_thousand_methods(service: Service) -> None:
    text = 'class Big:\n    """Large."""\n' + functions(5_000, indent="    ")
    view = service.map_view(MapRequest(write(service, "big.py", text)))
    assert view.banner.startswith(
        "101 of 5,001 symbols at compact: 4,900 left out (symbols_each=50, minimal is over 20 KB). Expand one"
    )
    assert "    ─ ─ ─ 4,900 more symbols ─ ─ ─\n    lines 153-14851, next page: symbol=Big offset=50\n" in view.text
    page = service.map_view(MapRequest("big.py", symbol="Big", offset=50))
    assert listed(page)[:2] == ["function_50", "function_51"]
    expanded = service.map_view(MapRequest("big.py", symbol="Big"))
    assert "class Big: [1-15001]\n    Large.\n\nInside\n  def function_0(" in expanded.text
    assert expanded.banner.startswith(
        "100 of 5,000 symbols inside Big: 4,900 left out (symbols_each=50, outline is over 50 KB)."
    )


@pytest.mark.parametrize(("count", "length", "level"), [(10_000, 200, MapLevel.TRUNCATED), (10, 10_000, MapLevel.FULL)])
def test_long_names(service: Service, count: int, length: int, level: MapLevel) -> None:
    name = "x" * (length - 5) + "{:05}"
    view = service.map_view(MapRequest(write(service, "long.py", functions(count, name=name))))
    assert view.truncation.detail_applied == level
    assert len(view.text.encode()) < min(CAPS[level], 50_000)
    assert len(listed(view)) == min(count, 100)
    assert all("…" in line for line in view.text.splitlines() if line.startswith("  def "))


@pytest.mark.parametrize("form", list(Format))
@pytest.mark.parametrize("each", [1, 50, 150])
def test_small_counts_are_never_truncated(service: Service, each: int, form: Format) -> None:
    path = write(service, "some.py", functions(2 * each, name="x" * 30 + "_{}"))
    for level in (MapLevel.AUTO, MapLevel.TRUNCATED):
        view = service.map_view(MapRequest(path, level, symbols_each=each, format=form, max_tokens=25_000))
        assert (view.truncation.reason, view.truncation.returned_count) == (None, 2 * each)


def test_fewer_symbols_at_each_end_when_they_do_not_fit_but_ten(service: Service) -> None:
    path = write(service, "long.py", functions(3_000, name="a_rather_long_name_of_a_function_{}"))
    counts = [len(listed(service.map_view(MapRequest(path, max_tokens=tokens)))) for tokens in (1_000, 2_000, 20_000)]
    assert 20 <= counts[0] < counts[1] < counts[2] == 100
    view = service.map_view(MapRequest(path, symbols_each=5_000, max_tokens=2_000))
    assert len(listed(view)) >= counts[1]


def test_names_are_cut_shorter_before_fewer_than_ten_are_shown(service: Service) -> None:
    path = write(service, "long.py", functions(300, name="very_long_" * 15 + "{}"))
    assert len(listed(service.map_view(MapRequest(path, max_tokens=1_000)))) >= 20


def test_names_of_few_symbols_are_not_cut(service: Service) -> None:
    signature = f"def few({', '.join(f'parameter_{number}' for number in range(9))})"
    path = write(service, "few.py", f"{signature}: pass\n")
    assert f"  {signature}: [1-1]\n" in service.map_view(MapRequest(path, MapLevel.TRUNCATED)).text


def test_symbols_left_out_for_the_budget_count_as_truncated(service: Service) -> None:
    classes = "".join(f"class Holder{number}:\n{functions(12, indent='    ')}" for number in range(20))
    view = service.map_view(MapRequest(write(service, "holders.py", classes), max_tokens=1_000))
    assert view.truncation.detail_applied == MapLevel.OUTLINE
    assert view.banner.startswith("20 of 260 symbols at outline: 240 left out (minimal is over 1,000 tokens).")
    assert view.truncation.reason == "token_limit"


def test_imports_are_counted_where_they_are_not_listed(samples: Service) -> None:
    assert "Imports\n  import asyncio" in samples.map_view(MapRequest("python/sample.py", MapLevel.COMPACT)).text
    minimal = samples.map_view(MapRequest("python/sample.py", MapLevel.MINIMAL)).text
    assert re.search(r"\n\d imports: \[\d+-\d+\]\n", minimal)


# Following the ranges and pages


@pytest.mark.parametrize("level", [MapLevel.AUTO, *LEVELS[:-1]])
@pytest.mark.parametrize("form", list(Format))
def test_following_the_banner_gives_the_rest(service: Service, level: MapLevel, form: Format) -> None:
    path = write(service, "many.py", functions(300))
    request = MapRequest(path, level, max_tokens=1_000, format=form)
    names: list[str] = []
    for _ in range(200):
        view = service.map_view(request)
        found = names_of(view)
        # The banner of a map with two ends continues after the first end, so only that end counts.
        names += found[: len(found) // 2] if "omitted_symbols" not in view.text and "─ ─ ─" in view.text else found
        if form == Format.JSON and json.loads(view.text)["omitted"]:
            names = names[: len(found) // 2]
        way = re.search(r"Next page: offset=(\d+)", view.banner)
        assert (f"offset={way.group(1)}" if way else "") == view.truncation.next
        if way is None:
            break
        request = replace(request, offset=int(way.group(1)))
    assert names == [f"function_{number}" for number in range(300)]


def names_of(view: View) -> list[str]:
    if view.text.startswith("{"):
        return [result["name"] for result in json.loads(view.text)["results"]]
    return listed(view)


def test_the_symbol_that_the_banner_names_can_be_expanded(service: Service) -> None:
    text = functions(400) + "class Store:\n    def add(self): ...\n" + functions(400, name="other_{}")
    for level in (MapLevel.OUTLINE, MapLevel.TRUNCATED):
        view = service.map_view(MapRequest(write(service, "many.py", text), level))
        reference = re.search(r"Expand one: symbol=(\S+)\.", view.banner)
        assert reference
        expanded = service.map_view(MapRequest("many.py", symbol=reference.group(1)))
        way = re.fullmatch(r"Symbol .* Read it: read_file start_line=(\d+) max_lines=(\d+)\.", expanded.banner)
        if way is None:
            assert (reference.group(1), expanded.banner) == ("Store", "The only symbol inside Store.")
        else:
            read = ReadRequest(("many.py",), start_line=int(way.group(1)), max_lines=int(way.group(2)))
            assert f"def {reference.group(1)}(" in service.read_view(read).text


@pytest.mark.parametrize("sample", SAMPLES)
def test_each_range_reads_back_exactly_its_symbol(samples: Service, sample: str) -> None:
    found = json.loads(samples.map_view(MapRequest(sample, MapLevel.FULL, format=Format.JSON)).text)["results"]
    lines = (FIXTURES / sample).read_bytes().decode().split("\n")
    for symbol in every(found):
        start, end = symbol["start_line"], symbol["end_line"]
        read = ReadRequest((sample,), start_line=start, max_lines=end - start + 1, format=Format.JSON)
        (result,) = json.loads(samples.read_view(read).text)["results"]
        assert result["content"].removesuffix("\n") == "\n".join(lines[start - 1 : end])
        assert all(word in result["content"] for word in re.findall(r"\w+", symbol["name"]))


def every(found: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for symbol in found:
        yield symbol
        yield from every(symbol.get("children", []))


def test_a_symbol_is_found_by_name_dotted_name_or_line(service: Service) -> None:
    text = "class A:\n    def run(self): ...\nclass B:\n    def run(self):\n        pass\n"
    path = write(service, "two.py", text)
    assert "[4-5]" in service.map_view(MapRequest(path, symbol="B.run")).text
    assert "[4-5]" in service.map_view(MapRequest(path, symbol="4")).text
    ambiguous = service.map_view(MapRequest(path, symbol="run"))
    assert "[2-2]" in ambiguous.text
    assert "Note: 2 symbols have this name; showing the first. For the others use symbol=LINE: 4.\n" in ambiguous.text
    with pytest.raises(QueryError, match=r"two\.py has no symbol 'walk'"):
        service.map_view(MapRequest(path, symbol="walk"))


def test_a_page_counts_its_own_list_and_says_how_many_are_inside(service: Service) -> None:
    text = "".join(f"class Part{number}:\n    def run(self): ...\n    def stop(self): ...\n" for number in range(5))
    path = write(service, "parts.py", text)
    assert service.map_view(MapRequest(path)).banner == "All 15 symbols."
    assert service.map_view(MapRequest(path, MapLevel.OUTLINE)).banner.startswith("5 of 15 symbols at outline.")
    assert service.map_view(MapRequest(path, offset=2)).banner.startswith("Symbols 3-5 of 5 (15 with those inside).")


def test_past_the_end(service: Service) -> None:
    path = write(service, "few.py", functions(3))
    view = service.map_view(MapRequest(path, offset=7))
    assert view.banner == "No symbols at offset=7: there are 3. First page: offset=0."


# A type whose parts stand in several places


# By file name: a name, the lines of a source, and the names on each line that belong to the first name.
SPREAD = {
    "pool.rs": (
        "Pool",
        [
            "pub(crate) struct Pool<T> { free: T }",
            "fn other() {}",
            "impl<T> Pool<T> {",
            "    fn get(&self) {}",
            "}",
            "impl<T> Clone for Pool<T> { fn clone(&self) {} }",
            "impl Show for &'a mut Pool<u8> { fn show(&self) {} }",
            "impl From<Pool<u8>> for Other { fn from() {} }",
            "mod tests { impl Check for super::Pool<u8> { fn check() {} } }",
        ],
        {1: "Pool", 3: "Pool", 4: "get", 6: "Pool clone", 7: "&'a mut Pool<u8> show", 9: "Pool check"},
    ),
    "nested.rs": (
        "Deep",
        [
            "mod inner { pub struct Deep; }",
            "struct Other;",
            "impl inner::Deep { fn reach() {} }",
        ],
        {1: "Deep", 3: "Deep reach"},
    ),
    "sync.go": (
        "Syncer",
        [
            "package sync",
            "type Syncer struct { size int }",
            "func other() {}",
            "func (s *Syncer) Write(b []byte) {}",
            "type List[T any] struct{}",
            "func (s Syncer) Stop() {}",
            "func (l *List[T]) Push(x T) {}",
        ],
        {2: "Syncer", 4: "Write", 6: "Stop"},
    ),
    "elsewhere.go": (
        "Syncer",
        [
            "package sync",
            "func (s *Syncer) Flush() {}",
            "func other() {}",
            "func (s *Syncer) Close() {}",
        ],
        {2: "Flush", 4: "Close"},
    ),
    "widget.cpp": (
        "Widget",
        [
            "namespace ui {",
            "class Widget {",
            "  void draw();",
            "};",
            "}",
            "void other() {}",
            "void ui::Widget::draw() {}",
            "using namespace ui;",
            "Widget::Widget() {}",
            "namespace ui { void Widget::hide() {} }",
        ],
        {2: "Widget", 3: "draw", 7: "draw", 9: "Widget", 10: "hide"},
    ),
    "only.cc": (
        "Widget",
        [
            "Widget::Widget() {}",
            "void other() {}",
            "void Widget::hide() {}",
        ],
        {1: "Widget", 3: "hide"},
    ),
    "animal.swift": (
        "Animal",
        [
            "class Animal { func speak() {} }",
            "struct Other {}",
            "extension Animal: Walker { func walk() {} }",
        ],
        {1: "Animal speak", 3: "Animal walk"},
    ),
    "animal.kt": (
        "Box",
        [
            "class Box<T> { fun open() {} }",
            "fun other() {}",
            "fun <T> Box<T>.close() {}",
            "val Box<Int>?.size: Int get() = 1",
        ],
        {1: "Box open", 3: "close", 4: "size"},
    ),
    "animal.cs": (
        "Animal",
        [
            "namespace Zoo {",
            "partial class Animal { void Speak() {} }",
            "class Other {}",
            "partial class Animal { void Walk() {} }",
            "}",
        ],
        {2: "Animal Speak", 4: "Animal Walk"},
    ),
    "box.ts": (
        "Box",
        [
            "interface Box { open(): void }",
            "class Other {}",
            "interface Box { close(): void }",
            "namespace Box { export function make() {} }",
        ],
        {1: "Box open", 3: "Box close", 4: "Box make"},
    ),
    "animal.js": (
        "Animal",
        [
            "function Animal() {}",
            "function other() {}",
            "Animal.prototype.walk = function () {};",
            "Animal.make = () => { };",
        ],
        {1: "Animal", 3: "walk", 4: "make"},
    ),
    "animal.rb": (
        "Animal",
        [
            "module Zoo",
            "  class Animal",
            "    def speak; end",
            "  end",
            "end",
            "class Other; end",
            "class Zoo::Animal",
            "  def walk; end",
            "end",
        ],
        {2: "Animal", 3: "speak", 7: "Animal", 8: "walk"},
    ),
    "animal.scala": (
        "Animal",
        [
            "class Animal { def speak = 1 }",
            "class Other",
            "object Animal { def make = 2 }",
        ],
        {1: "Animal speak", 3: "Animal make"},
    ),
    "account.lua": (
        "Account",
        [
            "local Account = {}",
            "function Account.new() end",
            "function other() end",
            "function Account:pay(sum) end",
        ],
        {2: "new", 4: "pay"},
    ),
}


def write_spread(service: Service, name: str) -> str:
    return write(service, name, "\n".join([*SPREAD[name][1], ""]))


@pytest.mark.parametrize("name", SPREAD)
def test_a_type_comes_with_everything_that_belongs_to_it(service: Service, name: str) -> None:
    symbol, _, expected = SPREAD[name]
    write_spread(service, name)
    told = json.loads(service.map_view(MapRequest(name, symbol=symbol, format=Format.JSON)).text)
    found: dict[int, str] = {}
    for one in every(told["results"]):
        found[one["start_line"]] = f"{found.get(one['start_line'], '')} {one['name']}".strip()
    assert found == expected
    assert (told["notes"], told["symbol"]) == ([], {"name": symbol, "parts": len(told["results"])})
    assert told["total_symbols"] == told["shown_symbols"] == sum(1 for _ in every(told["results"]))
    lines = [int(line) for line in re.findall(r": \[(\d+)-", service.map_view(MapRequest(name, symbol=symbol)).text)]
    assert (sorted(lines), sorted(set(lines))) == (lines, sorted(expected))
    assert f" symbols of {symbol} (lines " in told["banner"]


def test_the_map_of_a_type(service: Service, check_golden: Check) -> None:
    path = write_spread(service, "pool.rs")
    for form in Format:
        check_golden(f"maps/type.{form}", service.map_view(MapRequest(path, symbol="Pool", format=form)).text)


def test_a_line_or_a_dotted_name_means_one_part(service: Service) -> None:
    path = write_spread(service, "pool.rs")
    assert service.map_view(MapRequest(path, symbol="3")).banner == "The only symbol inside Pool."
    path = write_spread(service, "widget.cpp")
    assert service.map_view(MapRequest(path, symbol="ui.Widget")).banner == "The only symbol inside Widget."
    one = service.map_view(MapRequest(path, symbol="ui.Widget.hide"))
    assert one.banner == "Symbol hide. Read it: read_file start_line=10 max_lines=1."


def test_a_type_of_the_same_name_elsewhere_is_another_type(service: Service) -> None:
    text = "class A:\n    class Row:\n        def a(self): ...\nclass B:\n    class Row:\n        def b(self): ...\n"
    view = service.map_view(MapRequest(write(service, "rows.py", text), symbol="Row"))
    assert view.banner == "The only symbol inside Row."
    assert "Note: 2 symbols have this name; showing the first. For the others use symbol=LINE: 5.\n" in view.text
    path = write(
        service, "outer.rs", "struct Row;\nimpl Row { fn a() {} }\nmod m { struct Row; impl Row { fn b() {} } }\n"
    )
    view = service.map_view(MapRequest(path, symbol="Row"))
    assert view.banner == "All 3 symbols of Row (lines 1-2)."


def test_a_type_in_several_places_has_a_note_on_others_of_its_name(service: Service) -> None:
    text = "namespace A {\npartial class Row {}\npartial class Row {}\n}\nnamespace B {\nclass Row {}\n}\n"
    view = service.map_view(MapRequest(write(service, "rows.cs", text), symbol="Row"))
    assert view.banner == "All 2 symbols of Row (lines 2-3)."
    assert "Note: 1 other symbol of this name not shown. Use symbol=LINE: 6.\n" in view.text


def test_functions_of_one_name_stay_apart(service: Service) -> None:
    path = write(service, "f.py", "def f(): ...\ndef g(): ...\ndef f(): ...\n")
    view = service.map_view(MapRequest(path, symbol="f"))
    assert "Note: 2 symbols have this name; showing the first. For the others use symbol=LINE: 3.\n" in view.text


@pytest.mark.parametrize("form", list(Format))
def test_a_type_with_very_many_parts_is_paged(service: Service, form: Format) -> None:
    methods = "".join(f"func (s *Store) Method{number}() {{}}\n// Next.\n\n" for number in range(400))
    path = write(service, "store.go", f"package a\n\ntype Store struct {{}}\n\n\nfunc other() {{}}\n\n\n{methods}")
    request = MapRequest(path, symbol="Store", max_tokens=1_000, format=form)
    view = service.map_view(request)
    assert re.match(r"\d+ of 401 symbols of Store \(lines 3-3, 9-9, 12-12, 15-15 and 397 more\): ", view.banner)
    assert measure(view.text).tokens <= 1_000
    names: list[str] = []
    request = replace(request, level=MapLevel.OUTLINE)
    for _ in range(100):
        view = service.map_view(request)
        names += names_of(view) if form == Format.JSON else re.findall(r"\b(\w+): \[", view.text)
        way = re.search(r"Next page: offset=(\d+)", view.banner)
        if way is None:
            break
        request = replace(request, offset=int(way.group(1)))
    assert names == ["Store", *(f"Method{number}" for number in range(400))]


def test_a_part_with_very_many_members_is_expanded_by_its_line(service: Service) -> None:
    methods = "".join(f"    fn method_{number}_with_a_long_name_to_fill_the_page() {{}}\n" for number in range(400))
    path = write(service, "big.rs", f"struct Big;\n\n\n\nimpl Big {{\n{methods}}}\n")
    for symbol in ("", "Big"):
        view = service.map_view(MapRequest(path, symbol=symbol, symbols_each=20, max_tokens=2_000))
        way = re.search(r"next page: symbol=(\d+) offset=(\d+)", view.text)
        assert way
        page = service.map_view(MapRequest(path, symbol=way.group(1), offset=int(way.group(2))))
        assert f"fn method_{way.group(2)}_" in page.text.partition("Inside")[2].split("\n")[1]
    assert "Expand one: symbol=Big." in service.map_view(MapRequest(path, MapLevel.OUTLINE)).banner
    assert "Expand one: symbol=5." in service.map_view(MapRequest(path, MapLevel.OUTLINE, symbol="Big")).banner


def test_a_visibility_of_rust_is_written_once(service: Service) -> None:
    text = "pub(crate) fn a() {}\npub(in crate::b) fn c() {}\npub(super) struct D;\npub fn e() {}\n"
    shown = service.map_view(MapRequest(write(service, "seen.rs", text))).text
    assert re.findall(r"^  (.*): \[", shown, re.MULTILINE) == [
        line.removesuffix(" {}").rstrip(";") for line in text.splitlines()
    ]


# Files that are not code, or are not served


def test_a_table_is_mapped_by_its_header(service: Service) -> None:
    write(service, "a.csv", 'id,"full\nname",,städte\n1,2,3,4\n')
    found = json.loads(service.map_view(MapRequest("a.csv", format=Format.JSON)).text)
    columns = [(result["name"], result["kind"], result["end_line"]) for result in found["results"]]
    assert columns == [(name, "column", 2) for name in ("id", "full\nname", "column 3", "städte")]
    assert "  b c: [1-1]\n" in service.map_view(MapRequest(write(service, "b.tsv", "a\tb c\n1\t2\n"))).text
    assert "  y: [1-1]\n" in service.map_view(MapRequest(write(service, "c.csv", "x;y\r\n1,5;2\r\n"))).text
    huge = service.map_view(MapRequest(write(service, "d.csv", "x" * 180_000)))
    assert "No symbols: the first line is not a header" in huge.text
    assert service.map_view(MapRequest(write(service, "e.csv", ""))).truncation.original_count == 0


def test_plain_text_says_how_to_read_it(service: Service) -> None:
    view = service.map_view(MapRequest(write(service, "notes.txt", "one\ntwo\n")))
    assert view.banner == "No symbols. Read the file: read_file start_line=1."
    assert "2 lines │ 8 B │ Text\n\nNo symbols found.\n" in view.text
    assert view.truncation.reason is None


def test_a_file_too_large_to_be_indexed_is_mapped(service: Service) -> None:
    path = write(service, "large.py", functions(2) + "#" * 1_000_000)
    assert service.settings.index.max_file_bytes < (service.root / path).stat().st_size
    assert service.map_view(MapRequest(path)).truncation.returned_count == 2


def test_a_file_that_cannot_be_parsed_has_a_reason(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(service, "a.py", functions(2))
    monkeypatch.setattr(plain_outline, "MAPPED_BYTES", 10)
    assert "No symbols: files over 10 bytes are not parsed.\n" in service.map_view(MapRequest(path)).text
    monkeypatch.undo()
    deep = write(service, "a.yaml", "- " * 3_000 + "x\n")
    expected = "No symbols: the YAML grammar cannot parse this file safely.\n"
    assert expected in service.map_view(MapRequest(deep)).text


def test_what_is_not_served(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    root = service.root
    (root / ".gitignore").write_text("private/\n")
    (root / "private").mkdir()
    for name in (".env", "key.pem", "private/a.py", "large.py"):
        write(service, name, "SECRET = 1\n")
    (root / "binary.py").write_bytes(b"\0\1\2")
    (root.parent / "outside.py").write_text("x = 1\n")
    (root / "link.py").symlink_to(root.parent / "outside.py")
    monkeypatch.setattr(path_guard, "SERVED_BYTES", 10)
    for path, why in {
        ".env": "secret",
        "key.pem": "secret",
        "private/a.py": "ignored",
        "binary.py": "binary",
        "link.py": "symlink: points outside",
        "large.py": "larger than 10 bytes",
        "../outside.py": "outside the workspace",
        ".git/config": "not a file in the workspace",
    }.items():
        with pytest.raises(PathError, match=why):
            service.map_view(MapRequest(path))
        with pytest.raises(PathError, match=why):
            service.read_view(ReadRequest((path,)))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_opened(service: Service) -> None:
    os.mkfifo(service.root / "pipe.py")
    with pytest.raises(PathError):
        service.map_view(MapRequest("pipe.py"))


# Requests


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offset": -1}, "offset must be 0 or more, not -1"),
        ({"symbols_each": 0}, "symbols_each must be 1 or more, not 0"),
        ({"max_tokens": 999}, "max_tokens must be from 1,000 to 25,000, not 999"),
    ],
)
def test_nonsense_is_an_error(service: Service, changes: dict[str, Any], message: str) -> None:
    write(service, "a.py", "x = 1\n")
    with pytest.raises(QueryError, match=message):
        service.map_view(replace(MapRequest("a.py"), **changes))


def test_a_budget_over_the_maximum_is_lowered_with_a_note(service: Service) -> None:
    view = service.map_view(MapRequest(write(service, "a.py", functions(1)), max_tokens=99_999))
    assert "\nNote: max_tokens=99999 is over the maximum; using max_tokens=25000.\n" in view.text


@pytest.mark.parametrize("each", [1, 10, 50])
@pytest.mark.parametrize("count", [60, 400, 3_000])
def test_a_map_far_below_its_budget_never_blames_the_budget(service: Service, count: int, each: int) -> None:
    path = write(service, "many.py", functions(count))
    for level in (MapLevel.AUTO, *LEVELS):
        view = service.map_view(MapRequest(path, level, symbols_each=each, max_tokens=20_000))
        # A page that fills the budget may mention it.
        assert "20,000" not in view.banner or view.truncation.estimated_tokens > 19_000


def test_symbols_each_that_do_not_fit_are_blamed_on_the_budget(service: Service) -> None:
    path = write(service, "many.py", functions(3_000))
    view = service.map_view(MapRequest(path, MapLevel.TRUNCATED, symbols_each=900, max_tokens=1_000))
    assert "left out (truncated is over 1,000 tokens). Next page: offset=" in view.banner
    assert view.truncation.estimated_tokens > 900


def test_what_the_budget_did_to_a_map_is_observed(service: Service) -> None:
    path = write(service, "many.py", functions(3_000))
    with observed() as seen:
        service.map_view(MapRequest(path))
        service.map_view(MapRequest(path, symbol="function_1"))
    assert [usage.info.reason is None for usage in seen] == [False, True]


def test_the_map_is_the_same_through_the_command_line(service: Service) -> None:
    path = write(service, "many.py", functions(300))
    options = ["--level", "minimal", "--offset", "20", "--symbols-each", "9", "--budget", "1500", "--json"]
    command = [sys.executable, "-m", "keyhole", "map", path, *options]
    done = subprocess.run(command, cwd=service.root, capture_output=True, text=True, check=True)
    request = MapRequest(path, MapLevel.MINIMAL, "", 9, 20, 1_500, Format.JSON)
    assert done.stdout == service.map_view(request).text
