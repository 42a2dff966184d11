"""References that are kept for the next page: answers are those of a new process, whatever changed in between."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from fresh_index import answer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from relating import facts, open_service, put

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.links.requests import ReferenceRelation, ReferencesRequest
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.find import references_to
from keyhole.core.references.kept_references import KeptReferences
from keyhole.core.references.name_resolver import NameResolver
from keyhole.core.references.reference import Reference
from keyhole.core.service import Service
from keyhole.core.syntax.occurrences import OccurrenceRole
from keyhole.core.view.lists import reference_view

EXAMPLES = settings.default.max_examples // 8 if settings.default else 12
FILES = ("shop/stock.py", "shop/till.py", "tests/test_till.py", "other/stock.py")
TEXTS = (
    "def count():\n    return 1\n\n\nclass Box:\n    def open(self):\n        return count()\n",
    "from shop.stock import Box, count\n\n\ndef pay(box):\n    box.open()\n    return Box().open() + count()\n",
    "from other.stock import count\n\n\ncount()\nprint('count')\n",
    "class Box:\n    def open(self):\n        self.open()\n",
    "",
)
REQUESTS = (
    ReferencesRequest("count"),
    ReferencesRequest("Box.open"),
    ReferencesRequest("Box", path="shop/stock.py"),
    ReferencesRequest("count", limit=2, offset=1),
    ReferencesRequest("Box.open", certainty="by name"),
    ReferencesRequest("count", include_tests=False),
    ReferencesRequest("count", relation=ReferenceRelation.CALLERS, depth=3),
)
CHANGES = st.tuples(st.sampled_from(FILES), st.sampled_from([*TEXTS, None]))


@given(rounds=st.lists(st.lists(CHANGES, max_size=3), min_size=1, max_size=4))
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
def test_answers_after_any_changes_are_those_of_a_new_process(rounds: list[list[tuple[str, str | None]]]) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "work"
        put(root, dict(zip(FILES, TEXTS, strict=False)))
        service = open_service(root)
        for changes in [[], *rounds]:
            for path, text in changes:
                put(root, {path: text}) if text is not None else (root / path).unlink(missing_ok=True)
            service.index()
            new = Service(root, service.settings)
            assert [answer(service, one) for one in REQUESTS] == [answer(new, one) for one in REQUESTS]
            new.close()
        service.close()


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Service, list[str]]]:
    """Open a workspace, and count how often references are found."""
    put(tmp_path / "work", dict(zip(FILES, TEXTS, strict=False)))
    service, found = open_service(tmp_path / "work"), list[str]()

    def find(resolver: NameResolver, row: DefinitionRow) -> list[Reference]:
        found.append(row.name)
        return references_to(resolver, row)

    monkeypatch.setattr(reference_view, "references_to", find)
    yield service, found
    service.close()


def total(answer: dict[str, Any]) -> int:
    return int(answer["pagination"]["total"])


def test_a_page_a_filter_or_the_callers_do_not_find_references_again(counted: tuple[Service, list[str]]) -> None:
    service, found = counted
    request = ReferencesRequest("Box.open", path="shop/stock.py")
    whole = facts(service, request)
    pages = [facts(service, replace(request, limit=1, offset=number)) for number in range(total(whole))]
    assert [one for page in pages for one in page["results"]] == whole["results"]
    assert len(pages) > 1
    for level in Certainty:
        part = facts(service, replace(request, certainty=level))
        assert total(part) == whole["by_certainty"].get(level, 0)
    callers = facts(service, replace(request, relation=ReferenceRelation.CALLERS))
    assert total(callers) == 1
    assert found == ["open"]


def test_after_a_change_references_are_found_again(counted: tuple[Service, list[str]]) -> None:
    service, found = counted
    request = ReferencesRequest("count", path="shop/stock.py")
    before = total(facts(service, request))
    put(service.root, {"shop/more.py": "from shop.stock import count\n\ncount()\n"})
    service.index()
    assert total(facts(service, request)) == before + 2
    assert found == ["count", "count"]


def test_lists_that_were_not_asked_for_the_longest_are_dropped() -> None:
    kept, found = KeptReferences(most=5), list[int]()
    one = Reference("a.py", 1, 0, OccurrenceRole.CALL, Certainty.CERTAIN)

    def ask(definition: int, count: int) -> None:
        def find() -> list[Reference]:
            found.append(definition)
            return [one] * count

        assert kept.of(definition, find) == [one] * count

    ask(1, 2)
    ask(2, 2)
    ask(1, 2)
    ask(3, 2)
    assert found == [1, 2, 3]
    ask(1, 2)
    assert found == [1, 2, 3]
    ask(2, 2)
    assert found == [1, 2, 3, 2]
    ask(4, 6)
    ask(4, 6)
    assert found == [1, 2, 3, 2, 4, 4]
