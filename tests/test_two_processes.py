"""A search reads the index several times; another process may write between any two reads."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keyhole.core.config import load_settings
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.store import Store
from keyhole.core.links.requests import BacklinksRequest, LinksRequest, Relation, TreeRequest
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail, Mode
from keyhole.core.types.view_requests import SearchRequest

# More reads than any search here makes.
LOOKS = 40


@pytest.fixture
def service(tmp_path: Path) -> Service:
    (tmp_path / "work").mkdir()
    for name in ("first", "second", "third"):
        head = f'from first import First\n\n\nclass {name.title()}:\n    """Weighs the {name}."""\n\n'
        text = f'{head}    def weigh(self):\n        return "{name}"\n'
        (tmp_path / f"work/{name}.py").write_text(text)
    flags = {"cache_dir": tmp_path / "cache", "index.model": "none", "index.workers": 1}
    own = Service(tmp_path / "work", load_settings(tmp_path / "work", flags))
    own.index()
    return own


VIEWS: dict[str, Callable[[Service], str]] = {
    **{
        mode: lambda service, query=query, mode=mode: (  # type: ignore[misc]
            service.search_view(SearchRequest(query, mode=mode, detail_level=Detail.RICH)).text
        )
        for query, mode in (("weigh the", Mode.KEYWORD), ("/def we[i]gh/", Mode.REGEX), ("weigh", Mode.SYMBOL))
    },
    "links": lambda service: service.relation_view(LinksRequest("second.py")).text,
    "backlinks": lambda service: service.relation_view(BacklinksRequest("first.py")).text,
    "tree": lambda service: service.relation_view(TreeRequest("first.py", relation=Relation.DESCENDANTS)).text,
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_sees_one_state_of_the_index(service: Service, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    view = VIEWS[name]
    right = view(service)
    assert "first" in right.lower()
    other = Service(service.root, service.settings)
    untouched, written = Store.query, 0

    for number in range(LOOKS):
        looks = 0

        def query_and_be_overtaken(
            self: Store, sql: str, *values: object, number: int = number
        ) -> list[tuple[Any, ...]]:
            nonlocal looks, written
            if looks == number:
                # An index run in another process replaces every row of every file, with new numbers.
                looks += 1
                other.index(full=True)
                written += 1
            looks += 1
            return untouched(self, sql, *values)

        with monkeypatch.context() as patch:
            patch.setattr(Store, "query", query_and_be_overtaken)
            assert view(service) == right, f"overtaken at look {number}"
    assert written > 2


def test_a_snapshot_ends_whatever_happens(service: Service) -> None:
    with Store(service.folder / INDEX_FILE) as store, Store(service.folder / INDEX_FILE) as writer:
        with store.snapshot():
            before = store.facts().generation
            with writer.transaction():
                writer.remove_file("first.py")
            assert store.facts().generation == before
        assert store.facts().generation == before + 1
        with pytest.raises(RuntimeError), store.snapshot():
            raise RuntimeError
        with store.transaction():
            store.remove_file("second.py")
        assert store.facts().generation == before + 2
