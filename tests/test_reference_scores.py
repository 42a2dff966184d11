"""bench/references_quality.py: how references are compared with those of a language server."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "bench"))

from oracles.places import Place, place_from_utf16, utf16_column
from reference_scores import Shape, by_role, compare, disagreements, figures
from references_quality import is_text

CALL, MENTION = Shape("call", "name"), Shape("mention")
# Eight places that Keyhole gives for one symbol, and three that only the server has.
GIVEN = {
    Place("shop.py", 3, 4): ("certain", MENTION),
    Place("shop.py", 5, 4): ("certain", MENTION),
    Place("shop.py", 7, 9): ("certain", CALL),
    Place("cart.py", 2, 0): ("likely", CALL),
    Place("cart.py", 2, 8): ("likely", CALL),
    Place("cart.py", 9, 8): ("by name", CALL),
    Place("tax.py", 4, 8): ("by name", CALL),
    Place("tax.py", 5, 8): ("by name", CALL),
}
WRONG = {Place("shop.py", 7, 9), Place("cart.py", 2, 8), Place("tax.py", 4, 8), Place("tax.py", 5, 8)}
ONLY_SERVER = {Place("tax.py", 1, 0): MENTION, Place("tax.py", 5, 9): CALL, Place("cart.py", 3, 8): CALL}
WANTED = {place: shape for place, (_, shape) in GIVEN.items() if place not in WRONG} | ONLY_SERVER


def test_figures_count_places_of_all_symbols_together() -> None:
    outcomes = compare("shop.py::price", "function", GIVEN, WANTED)
    found = figures(outcomes)
    assert [found[f"rows {level}"] for level in ("certain", "likely", "by name")] == [3, 2, 3]
    assert found["precision certain"] == pytest.approx(2 / 3)
    assert found["precision likely"] == 1 / 2
    assert found["precision by name"] == pytest.approx(1 / 3)
    assert found["missed"] == 3
    assert found["recall"] == pytest.approx(4 / 7)
    assert found["share"] == 3 / 4
    assert found["share of all rows"] == 5 / 8


def test_symbols_with_many_places_count_more() -> None:
    one = compare("shop.py::tax", "function", {Place("shop.py", 1, 0): ("likely", CALL)}, {})
    both = figures([*compare("shop.py::price", "function", GIVEN, WANTED), *one])
    assert both["precision likely"] == pytest.approx(1 / 3)


def test_nothing_found_and_nothing_expected_is_no_mistake() -> None:
    assert compare("shop.py::price", "function", {}, {}) == []
    assert figures([])["precision certain"] == figures([])["recall"] == 1


def test_roles_and_disagreements() -> None:
    outcomes = compare("shop.py::price", "function", GIVEN, WANTED)
    assert list(by_role(outcomes)) == ["call", "mention"]
    assert by_role(outcomes)["mention"]["recall"] == pytest.approx(2 / 3)
    counts = {(level, shape): len(places) for (level, _, shape), places in disagreements(outcomes)}
    assert counts == {
        ("by name", CALL): 2,
        ("missed", CALL): 2,
        ("certain", CALL): 1,
        ("likely", CALL): 1,
        ("missed", MENTION): 1,
    }


def test_columns_of_servers_count_units_of_utf16() -> None:
    line = "été, 𝛑 = price"
    assert place_from_utf16("shop.py", 1, line, line.index("price") + 1) == Place("shop.py", 1, 14)
    assert utf16_column(line, 14) == 10
    assert place_from_utf16("shop.py", 1, "x" * 400, 300).column == 255


def test_strings_and_comments_are_text_but_not_what_is_computed_in_them(tmp_path: Path) -> None:
    source = 'a = price  # price\nb = "price"\nc = f"{price} price"\n'
    (tmp_path / "shop.py").write_text(source)
    columns = {(1, 4): False, (1, 13): True, (2, 5): True, (3, 7): False, (3, 14): True}
    for (line, column), expected in columns.items():
        assert is_text(tmp_path, Place("shop.py", line, column)) is expected
