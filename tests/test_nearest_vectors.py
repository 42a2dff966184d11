"""The vector scan: exact by signs, independent of the write order, and close to an exact scan of the vectors."""

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from keyhole.core.index.embedder import quantise
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.rows import ChunkRow, ChunkScope, FileRows, Vector, WordColumns
from keyhole.core.index.schema import VERSION
from keyhole.core.index.store import Store, check_integrity
from keyhole.core.notes import IndexMessage
from keyhole.core.search.semantic import nearest_to
from keyhole.core.search.sign_cache import SignCache
from keyhole.core.service import Service
from keyhole.core.types.choices import Mode
from keyhole.core.types.view_requests import Query

OLD_INDEX = Path(__file__).parent / "fixtures" / "index-v5.db"
EVERYWHERE = ChunkScope()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / INDEX_FILE) as opened:
        opened.load_vectors()
        yield opened


def put(store: Store, path: str, vectors: list[Vector]) -> None:
    chunks = [ChunkRow(n, n, n, 1, "class X" if n % 2 else "", WordColumns("", "", "")) for n in range(len(vectors))]
    store.replace_file(FileRows(path, 1, 1, "", "utf-8", "python", 1, False, tuple(chunks), (), vectors))


def paths_of(store: Store, chunk_ids: Iterable[int]) -> list[tuple[str, int]]:
    return sorted((place.path, place.start_line) for place in store.chunk_places(chunk_ids))


def distances(vectors: list[Vector], signs: bytes) -> NDArray[np.int64]:
    all_signs = np.frombuffer(b"".join(each for each, _ in vectors), np.uint8).reshape(len(vectors), -1)
    differing: NDArray[np.int64] = np.bitwise_count(all_signs ^ np.frombuffer(signs, np.uint8)).sum(axis=1)
    return differing


def test_the_nearest_by_signs_are_all_there_also_after_files_changed(store: Store) -> None:
    chance = np.random.default_rng(5)
    vectors = quantise(chance.normal(size=(3_000, 64)).astype(np.float32))
    with store.transaction():
        for number in range(30):
            put(store, f"{number}.py", vectors[:100])
        store.remove_file("7.py")
        for number in range(30):
            if number != 7:
                put(store, f"{number}.py", vectors[number * 100 : number * 100 + 100])
    there = vectors[:700] + vectors[800:]
    for query in chance.normal(size=(5, 64)).astype(np.float32):
        ((signs, _),) = quantise(query[None])
        exact = np.sort(distances(there, signs))
        found = store.nearest_by_signs(signs, EVERYWHERE, 300)
        assert len(found) == np.count_nonzero(exact <= exact[299])
        kept = dict(store.query("SELECT chunk_id, signs FROM chunk_signs"))
        assert max(distances([(kept[id_], b"") for id_ in found], signs)) == exact[299]
        odd = store.nearest_by_signs(signs, ChunkScope(kind="class"), 300)
        assert {line % 2 for _, line in paths_of(store, odd)} == {1}


def test_of_many_that_are_equally_far_the_first_by_path_are_taken_whatever_was_written_first(tmp_path: Path) -> None:
    near, far = quantise(np.eye(2, 64, dtype=np.float32) * 2 - 1)
    found = []
    for name, order in {"a": range(9), "b": reversed(range(9))}.items():
        with Store(tmp_path / f"{name}.db") as store:
            store.load_vectors()
            with store.transaction():
                for number in order:
                    put(store, f"{number}.py", [far] * 99 + [near])
            found.append(paths_of(store, store.nearest_by_signs(near[0], EVERYWHERE, 150)))
            (first, _), *_ = nearest_to(store, np.eye(1, 64, dtype=np.float32)[0] * 2 - 1, SignCache(), limit=1)
            assert paths_of(store, [first]) == [("0.py", 99)]
    assert found[0] == found[1]
    assert len(found[0]) == 150
    assert [path for path, line in found[0] if line == 99] == [f"{number}.py" for number in range(9)]
    assert {path for path, line in found[0] if line != 99} == {"0.py", "1.py"}


def test_as_many_of_the_nearest_200_are_found_as_by_the_scan_that_was_there_before(store: Store) -> None:
    """The former scan took the nearest 400 by signs, ties by number; both are compared with an exact scan."""
    chance = np.random.default_rng(11)
    themes = chance.normal(size=(40, 256))
    vectors = quantise((themes[chance.integers(40, size=4_000)] + chance.normal(size=(4_000, 256))).astype(np.float32))
    with store.transaction():
        put(store, "a.py", vectors)
    stored = np.frombuffer(b"".join(each for _, each in vectors), np.int8).reshape(4_000, -1).astype(np.float32)
    now = before = 0
    for query in (themes[:10] + chance.normal(size=(10, 256))).astype(np.float32):
        ((signs, _),) = quantise(query[None])
        closeness = stored @ query
        exact = set(np.argsort(-closeness)[:200].tolist())
        former = np.argsort(distances(vectors, signs), kind="stable")[:400]
        before += len(exact & set(former[np.argsort(-closeness[former])[:200]].tolist()))
        now += len(exact & {chunk_id - 1 for chunk_id, _ in nearest_to(store, query, SignCache(), limit=200)})
    assert before > 1_000
    assert now >= 0.995 * before


def test_signs_in_memory_find_what_the_store_finds_also_after_a_change(store: Store) -> None:
    chance = np.random.default_rng(3)
    vectors = quantise(chance.normal(size=(1_200, 64)).astype(np.float32))
    near, far = quantise(np.eye(2, 64, dtype=np.float32) * 2 - 1)
    with store.transaction():
        put(store, "a.py", vectors[:1_000])
        put(store, "b.py", [far] * 700)
    cache, asked = SignCache(), [signs for signs, _ in vectors[1_000:1_020]]
    for signs in [*asked, near[0], far[0]]:
        assert sorted(cache.nearest(store, signs, EVERYWHERE, 100)) == sorted(
            store.nearest_by_signs(signs, EVERYWHERE, 100)
        )
    assert cache._signs.get(store.facts().generation) is not None
    with store.transaction():
        put(store, "c.py", vectors[1_000:])
    for signs in asked:
        found = cache.nearest(store, signs, EVERYWHERE, 1)
        assert paths_of(store, found)[0][0] == "c.py"
        assert found == store.nearest_by_signs(signs, EVERYWHERE, 1)


@pytest.fixture
def old_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    """Open a workspace whose index was made by version 0.1.0."""
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    root = tmp_path / "old"
    root.mkdir()
    (root / "retry.py").write_text(
        "def backoff(attempt: int) -> float:\n"
        '    """Wait longer after each failed attempt."""\n'
        "    return 0.2 * 2**attempt\n"
    )
    (root / "colours.py").write_text(
        'def darken(shade: str) -> str:\n    """Make a shade of paint darker."""\n    return shade.lower()\n'
    )
    for path in root.iterdir():
        os.utime(path, ns=(10**18, 10**18))
    service = Service.open(root)
    service.folder.mkdir(parents=True)
    shutil.copy(OLD_INDEX, service.folder / INDEX_FILE)
    return service


def test_an_index_with_the_signs_in_sqlite_vecs_own_table_answers_at_once(
    old_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The version of the analysis that made the fixture: what is tested here is the migration alone.
    monkeypatch.setattr("keyhole.core.index.update.ANALYSIS_VERSION", 3)
    found = old_service.search(Query("sleep between retries", Mode.SEMANTIC))
    assert found.hits[0].path == "retry.py"
    with Store(old_service.folder / INDEX_FILE) as store:
        assert store.value("PRAGMA user_version") == VERSION
        assert store.query("SELECT name FROM sqlite_schema WHERE name LIKE 'chunk_bits%'") == []
        assert store.query("SELECT length(signs) FROM chunk_signs") == [(32,), (32,)]
        assert check_integrity(store) == []
    report = old_service.index()
    assert (report.added, report.changed, report.current) == (0, 0, 2)


def test_where_sqlite_vec_cannot_read_the_old_signs_every_file_is_embedded_again(
    old_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without:
        without.setattr("sqlite_vec.loadable_path", lambda: "/nowhere/vec0")
        assert old_service.search(Query("backoff")).hits[0].path == "retry.py"
    old_service.close()
    messages: list[IndexMessage] = []
    assert old_service.index(on_message=messages.append).changed == 2
    assert messages[0].text.startswith("the model changed from none to keyhole-")
    assert old_service.search(Query("sleep between retries", Mode.SEMANTIC)).hits[0].path == "retry.py"
