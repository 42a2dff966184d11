"""Properties of every map, for any file."""

import json
import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_maps import every

from keyhole.core.types import Format, Import, MapLevel, Outline, SourceFile, Symbol
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


@given(outlines)
def test_every_reference_leads_to_its_symbol(outline: Outline) -> None:
    finder = SymbolNames(outline)
    for symbol in outline.walk():
        if reference := finder.reference(symbol):
            assert finder.find(reference, "")[0] is symbol
