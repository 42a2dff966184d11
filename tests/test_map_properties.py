"""Properties of every map, for any file."""

import json
import re
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_maps import every

from keyhole.core.errors import QueryError
from keyhole.core.types.choices import Format, MapLevel
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.syntax import Import, Outline, Symbol
from keyhole.core.view.budget.sizes import Budget, measure
from keyhole.core.view.maps.map_view import CAPS, map_view
from keyhole.core.view.maps.map_writer import MapShown
from keyhole.core.view.maps.symbol_names import SymbolNames

texts = st.text(max_size=40) | st.text(alphabet="🙂検é\x1b\u202e aA1_(\n\t", max_size=40)
names = texts | st.integers(1, 300).map(lambda n: "🙂" * n) | st.integers(1, 12_000).map(lambda n: "n" * n)


def make_symbol(name: str, start: int, length: int, doc: str, children: tuple[Symbol, ...]) -> Symbol:
    return Symbol(
        name, "function", f"def {name}(a)", doc, "", start, start + length, start, "", True, ("@x",), children
    )


leaves = st.builds(make_symbol, names, st.integers(1, 10**6), st.integers(0, 10**4), texts, st.just(()))
symbols = st.recursive(
    leaves,
    lambda inner: st.builds(
        make_symbol, names, st.integers(1, 10**6), st.integers(0, 10**4), texts, st.lists(inner, max_size=4).map(tuple)
    ),
    max_leaves=6,
)
lists = st.builds(lambda some, times: tuple(some) * times, st.lists(symbols, max_size=8), st.integers(1, 60))
outlines = st.builds(
    Outline,
    st.just("python"),
    lists,
    st.lists(st.builds(Import, texts, texts, st.integers(1, 99)), max_size=5).map(tuple),
    st.booleans(),
)
shown = st.builds(
    MapShown,
    st.sampled_from(MapLevel),
    st.integers(1, 60),
    st.just(0) | st.integers(0, 500),
    st.sampled_from(Format),
    st.builds(Budget, st.integers(1_000, 25_000)),
)
paths = st.text(min_size=1, max_size=300) | st.integers(1, 400).map(lambda n: "🙂" * n)


@given(outlines, shown, paths)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_a_map_keeps_its_promises(outline: Outline, how: MapShown, path: str) -> None:
    source = SourceFile(path, 10**6, 0, "", "utf-8", "x\n" * 100)
    view = map_view(source, outline, how)
    info, size = view.truncation, measure(view.text)
    assert how.budget.admits(size)
    assert size.bytes <= CAPS[MapLevel(info.detail_applied)]
    assert (info.estimated_tokens, info.estimated_chars) == (size.tokens, size.chars)
    total = sum(1 for _ in outline.walk())
    assert info.original_count == total
    assert len(view.banner.splitlines()) == 1
    # Never empty if there is something to show, and the banner names what is left out.
    if how.offset < len(outline.symbols):
        assert info.returned_count > 0
    if info.returned_count < total:
        assert re.search(r"[\d,]+(-[\d,]+)? of [\d,]+|No symbols at offset", view.banner)
    if how.format == Format.TEXT:
        assert view.text.startswith(f"{view.banner}\n")
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", view.text)
    else:
        told = json.loads(view.text)
        assert told["banner"] == view.banner
        assert told["total_symbols"] == total == told["shown_symbols"] + told["omitted_symbols"]
        assert told["shown_symbols"] == sum(1 for _ in every(told["results"])) == info.returned_count
        assert told["truncated"] == (info.reason is not None) == (told["truncation_info"]["reason"] is not None)


type_names = st.sampled_from(["Pool", "Row", "a::Row", "&'a Pool<T>", "run", "🙂" * 300])
kinds = st.sampled_from(["struct", "impl", "extension", "namespace", "method", "function"])
parents = st.sampled_from(["", "", "Pool", "a.Row", "Row", "Pool<T>"])


def make_part(name: str, kind: str, parent: str, start: int, children: tuple[Symbol, ...]) -> Symbol:
    signature = f"{kind} {name}"
    return Symbol(name, kind, signature, "", "", start, start + 3, start, parent, True, (), children)


lone_parts = st.builds(make_part, type_names, kinds, parents, st.integers(1, 500), st.just(()))
parts = st.recursive(
    lone_parts,
    lambda inner: st.builds(
        make_part, type_names, kinds, parents, st.integers(1, 500), st.lists(inner, max_size=4).map(tuple)
    ),
    max_leaves=8,
)
types_outlines = st.builds(
    lambda some, times: Outline("rust", tuple(some) * times),
    st.lists(parts, min_size=1, max_size=8),
    st.integers(1, 60),
)


@given(types_outlines, shown, st.sampled_from(["Pool", "Row", "run", "🙂" * 300]))
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_the_map_of_a_type_keeps_its_promises(outline: Outline, how: MapShown, name: str) -> None:
    try:
        found = SymbolNames(outline).find(name, "")
    except QueryError:
        return
    view = map_view(SourceFile("a.rs", 9, 0, "", "utf-8", "x\n"), outline, replace(how, format=Format.JSON), name)
    size, told = measure(view.text), json.loads(view.text)
    assert how.budget.admits(size)
    assert size.bytes <= CAPS[MapLevel(view.truncation.detail_applied)]
    entries = found.parts if found.is_spread else found.parts[0].children
    assert told["total_count"] == len(entries)
    assert told["total_symbols"] == sum(1 for entry in entries for _ in entry.walk())
    assert told["shown_symbols"] == sum(1 for _ in every(told["results"]))
    if how.offset < len(entries):
        assert told["shown_symbols"] > 0
    assert len(view.banner.splitlines()) == 1


@given(outlines | types_outlines)
def test_every_reference_leads_to_its_symbol(outline: Outline) -> None:
    finder = SymbolNames(outline)
    for symbol in outline.walk():
        if reference := finder.reference(symbol):
            assert any(part is symbol for part in finder.find(reference, "").parts)
        if exact := finder.exact_reference(symbol):
            (part,) = finder.find(exact, "").parts
            assert part is symbol
