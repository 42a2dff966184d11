"""A search takes several looks at the index; another process may write between any two of them."""

from pathlib import Path
from typing import Any

import pytest

from keyhole.core.config import load_settings
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.store import Store
from keyhole.core.service import Service
from keyhole.core.types import Detail, Mode, SearchRequest

# More than any of the searches here takes.
LOOKS = 40


@pytest.fixture
def service(tmp_path: Path) -> Service:
    (tmp_path / "work").mkdir()
    for name in ("first", "second", "third"):
        text = f'class {name.title()}:\n    """Weighs the {name}."""\n\n    def weigh(self):\n        return "{name}"\n'
        (tmp_path / f"work/{name}.py").write_text(text)
    flags = {"cache_dir": tmp_path / "cache", "index.model": "none", "index.workers": 1}
    own = Service(tmp_path / "work", load_settings(tmp_path / "work", flags))
    own.index()
    return own


@pytest.mark.parametrize(
    ("query", "mode"), [("weigh the", Mode.KEYWORD), ("/def we[i]gh/", Mode.REGEX), ("weigh", Mode.SYMBOL)]
)
def test_a_search_sees_one_state_of_the_index(
    service: Service, monkeypatch: pytest.MonkeyPatch, query: str, mode: Mode
) -> None:
    request = SearchRequest(query, mode=mode, detail_level=Detail.RICH)
    right = service.search_view(request).text
    assert "of 3." in right
    other = Service(service.root, service.settings)
    untouched, written = Store.query, 0

    for number in range(LOOKS):
        looks = 0

        def query_and_be_overtaken(
            self: Store, sql: str, *values: object, number: int = number
        ) -> list[tuple[Any, ...]]:
            nonlocal looks, written
            if looks == number:
                # Every row of every file is replaced, under new numbers, by whoever indexes in another process.
                looks += 1
                other.index(full=True)
                written += 1
            looks += 1
            return untouched(self, sql, *values)

        with monkeypatch.context() as patch:
            patch.setattr(Store, "query", query_and_be_overtaken)
            assert service.search_view(request).text == right, f"overtaken at look {number}"
    assert written > 3


def test_a_snapshot_ends_whatever_happens(service: Service) -> None:
    with Store(service.folder / INDEX_FILE) as store, Store(service.folder / INDEX_FILE) as writer:
        with store.snapshot():
            before = store.meta("generation")
            with writer.transaction():
                pass
            assert store.meta("generation") == before
        assert store.meta("generation") == before + 1
        with pytest.raises(RuntimeError), store.snapshot():
            raise RuntimeError
        with store.transaction():
            pass
        assert store.meta("generation") == before + 2
