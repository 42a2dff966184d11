"""References: each sample project has references that were checked by hand."""

import gc
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import ref

import pytest
from occurrence_text import occurrences_text
from reference_samples import SAMPLES, as_text, expected, found, languages

from keyhole.core.collector import collector_paused
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.store import Store
from keyhole.core.links.requests import ReferenceRelation, ReferencesRequest
from keyhole.core.references.find import references_to
from keyhole.core.references.open_names import opened_resolver
from keyhole.core.service import Service


@pytest.mark.parametrize("language", languages())
def test_checked_references(language: str, tmp_path: Path) -> None:
    root = tmp_path / language
    shutil.copytree(SAMPLES / language, root)
    service = Service.open(root, flags={"index.model": "none"})
    service.index()
    answers = expected(language)
    assert as_text(found(service, answers)) == as_text(answers)
    assert sum(map(len, answers.values())) >= 60
    service.close()


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("README.md", '# How to "start"\n\nText.\n', 'How to "start"'),
        ("README.md", '# "\n\nText.\n', '"'),
        ("a.cpp", "void *operator new(unsigned long n) { return 0; }\n", "operator new"),
    ],
)
def test_a_name_of_several_words_gets_an_answer(path: str, text: str, name: str, tmp_path: Path) -> None:
    root = tmp_path / "words"
    root.mkdir()
    (root / path).write_text(text)
    service = Service.open(root, flags={"index.model": "none", "cache_dir": tmp_path / "cache"})
    service.index()
    view = service.relation_view(ReferencesRequest(path=path, line=1))
    assert view.banner == f"Nothing found: no references to {name} in 1 file."
    service.close()


def test_a_list_of_callers_leads_to_all_of_them(tmp_path: Path) -> None:
    root = tmp_path / "many"
    root.mkdir()
    callers = "".join(f"def use_{number}():\n    return target()\n\n\n" for number in range(60))
    (root / "a.py").write_text(f"def target():\n    return 1\n\n\n{callers}")
    service = Service.open(root, flags={"index.model": "none", "cache_dir": tmp_path / "cache"})
    service.index()
    request = ReferencesRequest("target", relation=ReferenceRelation.CALLERS)
    assert "Results 1-60 of 60 callers of target" in service.relation_view(request).text
    tree = service.relation_view(replace(request, depth=2)).text
    assert "Results 1-50 of 50 callers of target" in tree
    assert tree.endswith("\n… 10 more on this level\n")
    service.close()


@pytest.mark.parametrize(
    ("language", "symbol", "definition"),
    [
        ("php", r"Acme\Shop\Item::price", "Item.price (src/Shop/Items.php:55)"),
        ("php", r"Report\Exception", "Exception (src/Report/Printer.php:9)"),
        ("bash", "log::write", "log::write (lib/log.sh:5)"),
        ("ruby", "Shop::Item", "Shop.Item (lib/shop/items.rb:22)"),
    ],
)
def test_symbols_are_asked_for_as_their_language_writes_them(
    language: str, symbol: str, definition: str, tmp_path: Path
) -> None:
    root = tmp_path / language
    shutil.copytree(SAMPLES / language, root)
    service = Service.open(root, flags={"index.model": "none", "cache_dir": tmp_path / "cache"})
    service.index()
    assert f"references to {definition}" in service.relation_view(ReferencesRequest(symbol)).banner
    service.close()


def test_code_does_not_reach_members_of_tests(tmp_path: Path) -> None:
    root = tmp_path / "shapes"
    (root / "tests").mkdir(parents=True)
    (root / "square.py").write_text("class Square:\n    def breadth(self):\n        return 1\n")
    (root / "draw.py").write_text("def draw(shape):\n    return shape.breadth()\n")
    fake = "class Fake:\n    def breadth(self):\n        return 2\n\n\n"
    (root / "tests" / "test_draw.py").write_text(f"{fake}def test_draw(one):\n    assert one.breadth() == 2\n")
    service = Service.open(root, flags={"index.model": "none", "cache_dir": tmp_path / "cache"})
    service.index()
    answers = found(service, ["square.py::Square.breadth", "tests/test_draw.py::Fake.breadth"])
    assert list(answers.values()) == [
        ["draw.py:2:18 call likely", "tests/test_draw.py:7:16 call by name"],
        ["tests/test_draw.py:7:16 call by name"],
    ]
    service.close()


def test_names_in_another_format_are_left_out(tmp_path: Path) -> None:
    root = tmp_path / "formats"
    root.mkdir()
    (root / "a.py").write_text("def target():\n    return 1\n\n\ntarget()\n")
    (root / "b.py").write_text("from a import target\n\ntarget()\n")
    service = Service.open(root, flags={"index.model": "none", "cache_dir": tmp_path / "cache"})
    service.index()
    request = ReferencesRequest("target")
    assert service.relation_view(request).page.total == 3
    other = "UPDATE file_occurrences SET names = CAST(x'00' || substr(names, 2) AS BLOB) WHERE file_id = ?"
    with Store(service.folder / INDEX_FILE) as store:
        store.query(other, store.file_id("b.py"))
    # This was no index run, so what is kept of the index would still count as current.
    service.close()
    assert service.relation_view(request).page.total == 1
    service.close()


def test_what_tests_are_called_is_no_reference(tmp_path: Path) -> None:
    (tmp_path / "a.cc").write_text("TEST(Lexer, Reads) {\n  Lexer lexer;\n}\nTEST_F(LexerTest, Lexer) {\n}\n")
    roles = [line.split()[1:3] for line in occurrences_text(tmp_path / "a.cc").splitlines()]
    assert [role for name, role in roles if name == "Lexer"] == ["[argument]", "[type]", "[argument]"]
    assert ["LexerTest", "[type]"] in roles


def test_a_question_leaves_nothing_for_the_garbage_collector(tmp_path: Path) -> None:
    root = tmp_path / "python"
    shutil.copytree(SAMPLES / "python", root)
    service = Service.open(root, flags={"index.model": "none", "cache_dir": tmp_path / "cache"})
    service.index()
    with service.engines.lend() as engine, collector_paused():
        row = engine.store.definitions_named("describe")[0]
        with opened_resolver(engine.store) as resolver:
            assert list(references_to(resolver, row))
            parts: list[ref[Any]] = [ref(resolver), ref(resolver.known), ref(resolver.names_of(row.path))]
            assert all(part() for part in parts)
        del resolver
        assert [part() for part in parts] == [None, None, None]
    service.close()


@pytest.mark.parametrize("was_enabled", [True, False])
def test_the_collector_runs_again_only_if_it_ran_before(was_enabled: bool) -> None:
    before = gc.isenabled()
    try:
        gc.enable() if was_enabled else gc.disable()
        with collector_paused(), collector_paused():
            assert not gc.isenabled()
        assert gc.isenabled() == was_enabled
    finally:
        gc.enable() if before else gc.disable()
