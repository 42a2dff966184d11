"""Rows that a reader keeps are those of the state of the index that it reads."""

from pathlib import Path

import pytest

from keyhole.core.files.read import SourceReader
from keyhole.core.index import kept_rows
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.model import open_embedder
from keyhole.core.index.model_folder import BUILTIN
from keyhole.core.index.rows import ChunkScope
from keyhole.core.index.store import Store
from keyhole.core.index.update import Request, update_index
from keyhole.core.search.engine import Engine
from keyhole.core.types.choices import Mode
from keyhole.core.types.view_requests import Query


class CountingStore(Store):
    """Counts the statements that look up rows by ids."""

    lookups = 0

    def query(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        self.lookups += "json_each" in sql
        return super().query(sql, *values)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    for name in "abc":
        (tmp_path / "project" / f"{name}.py").write_text(f"def {name}():\n    pass\n")
    return tmp_path / "project"


def index(root: Path) -> Path:
    update_index(Request(root, root.parent / "index", 100_000))
    return root.parent / "index" / INDEX_FILE


def test_rows_are_read_once_while_the_index_is_unchanged(root: Path) -> None:
    with CountingStore(index(root), is_reader=True) as store:
        with store.snapshot():
            first = store.chunk_places([1, 2])
        with store.snapshot():
            assert store.chunk_places([2, 1]) == first[::-1]
            assert store.lookups == 1
            assert len(store.chunk_places([1, 2, 3])) == 3
            assert store.lookups == 2


def test_an_id_without_a_row_is_not_looked_up_again(root: Path) -> None:
    with CountingStore(index(root), is_reader=True) as store, store.snapshot():
        assert store.vectors_of([1]) == store.vectors_of([1]) == []
        assert store.lookups == 1


def test_after_a_change_rows_are_read_again(root: Path) -> None:
    with Store(index(root), is_reader=True) as store:
        with store.snapshot():
            before = store.chunk_places([1, 2, 3])
        (root / "a.py").write_text("def renamed():\n    pass\n")
        index(root)
        with store.snapshot():
            after = store.chunk_places([1, 2, 3, 4])
        assert {place.definitions for place in before} == {"function a", "function b", "function c"}
        assert {place.definitions for place in after} == {"function b", "function c", "function renamed"}


def test_outside_of_a_snapshot_nothing_is_kept(root: Path) -> None:
    with CountingStore(index(root), is_reader=True) as store:
        assert store.chunk_places([1]) == store.chunk_places([1])
        assert store.lookups == 2


def test_only_so_many_rows_are_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_rows, "_MOST_KEPT", 2)
    with CountingStore(index(root), is_reader=True) as store, store.snapshot():
        assert [place.chunk_id for place in store.chunk_places([1, 2])] == [1, 2]
        assert [place.chunk_id for place in store.chunk_places([2, 3])] == [2, 3]
        assert [place.chunk_id for place in store.chunk_places([1])] == [1]
        assert store.lookups == 3


def test_a_search_like_an_earlier_one_looks_up_almost_nothing(root: Path) -> None:
    embedder = open_embedder(BUILTIN)
    update_index(Request(root, root.parent / "index", 100_000, embedder=embedder))
    with CountingStore(root.parent / "index" / INDEX_FILE, is_reader=True) as store:
        engine = Engine(store, SourceReader(root, 100_000), embedder=embedder)
        counts = []
        for text in ("define a or b", "pass c"):
            with store.snapshot():
                before, query = store.lookups, Query(text)
                assert len(engine.ranking(query, Mode.HYBRID, ChunkScope()).candidates) == 3
            counts.append(store.lookups - before)
        assert counts[1] <= 3 < counts[0]
