"""The index follows the files: a run indexes what changed, and nothing else."""

import itertools
import multiprocessing
import os
import shutil
from collections.abc import Callable
from contextlib import closing
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import apsw
import pytest
from discovery import settle

from keyhole.core.errors import StoreError
from keyhole.core.index import schema
from keyhole.core.index.connection import INCREMENTAL
from keyhole.core.index.index_home import SqliteHome
from keyhole.core.index.index_status import read_inventory, read_status
from keyhole.core.index.location import INDEX_FILE, index_folder
from keyhole.core.index.pool import _start_pool
from keyhole.core.index.schema import VERSION
from keyhole.core.index.store import Store, check_integrity
from keyhole.core.index.update import Hooks, Request, update_index
from keyhole.core.types.index import IndexReport
from keyhole.core.types.inventory import Inventory, Progress

OLD_INDEX = Path(__file__).parent / "fixtures" / "index-v1.db"
Dump = Callable[[Path], dict[str, list[tuple[object, ...]]]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for number in range(8):
        put(
            root,
            f"src/module_{number}.py",
            f'def function_{number}(a, b=1):\n    """Add {number}."""\n    return a + b\n',
        )
    put(root, "README.md", "# Title\n\nWords about retries.\n")
    put(root, ".gitignore", "*.log\n")
    put(root, "debug.log")
    put(root, "data.bin.txt", "\0\1")
    settle()
    return root


TICKS = itertools.count()


def put(root: Path, path: str, text: str = "x = 1\n") -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)
    # Older than the clock's resolution, like files of a real workspace, and a different time at each write.
    os.utime(root / path, ns=(10**18, 10**18 + next(TICKS)))


def request(root: Path, **changes: object) -> Request:
    return Request(**{"root": root, "folder": root.parent / "cache", "max_bytes": 1_000_000, **changes})  # type: ignore[arg-type]


def run(root: Path, **changes: object) -> IndexReport:
    return update_index(request(root, **changes))


def counts(report: IndexReport) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.removed, report.current


def database(root: Path) -> Path:
    return root.parent / "cache" / INDEX_FILE


def test_a_first_run_indexes_everything(root: Path, dump_index: Dump) -> None:
    assert counts(run(root)) == (10, 0, 0, 0)
    dump = dump_index(database(root))
    assert [row[0] for row in dump["files"]] == [".gitignore", "README.md", *(f"src/module_{n}.py" for n in range(8))]
    assert [(row[0], row[1]) for row in dump["skips"]] == [("data.bin.txt", "binary"), ("debug.log", "ignored")]
    assert ("src/module_3.py", 0, 58, 1, 3, "function function_3") in dump["chunks"]
    assert ("src/module_3.py", 0, "content", 3, "function3") in dump["words"]
    assert dump["orphans"] == []


def test_a_run_with_nothing_changed_touches_nothing(root: Path) -> None:
    run(root)
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in database(root).parent.iterdir()}
    report = run(root)
    assert counts(report) == (0, 0, 0, 10)
    after = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in database(root).parent.iterdir()}
    assert after.pop("writer.lock")
    before.pop("writer.lock")
    assert after == before


def test_changed_new_deleted_and_renamed_files(root: Path, dump_index: Dump) -> None:
    run(root)
    put(root, "src/module_0.py", "def renamed_function(): pass\n")
    put(root, "src/new.py", "class New: pass\n")
    (root / "src/module_1.py").unlink()
    (root / "src/module_2.py").rename(root / "src/moved.py")
    shutil.move(root / "README.md", root / "src/README.md")
    assert counts(run(root)) == (3, 1, 3, 6)
    assert_equals_fresh(root, dump_index)


def test_a_new_time_with_the_same_content_is_no_change(root: Path) -> None:
    generation = run(root).generation
    os.utime(root / "README.md", ns=(10**18, 10**18 - 1))
    assert counts(run(root)) == (0, 0, 0, 10)
    assert run(root).generation == generation
    settle()
    run(root)
    test_a_run_with_nothing_changed_touches_nothing(root)


def test_a_changed_ignore_file_is_picked_up(root: Path, dump_index: Dump) -> None:
    run(root)
    put(root, ".gitignore", "module_1.py\n")
    assert counts(run(root)) == (1, 1, 1, 8)
    assert_equals_fresh(root, dump_index)
    (root / ".gitignore").unlink()
    assert counts(run(root)) == (1, 0, 1, 9)
    assert_equals_fresh(root, dump_index)


def test_a_file_that_turns_binary_leaves_the_index_and_comes_back(root: Path, dump_index: Dump) -> None:
    run(root)
    put(root, "src/module_0.py", "\0")
    assert run(root).files == 9
    assert_equals_fresh(root, dump_index)
    put(root, "src/module_0.py", "x = 2\n")
    assert run(root).files == 10
    assert_equals_fresh(root, dump_index)


def test_another_size_limit_holds_for_files_that_did_not_change(root: Path, dump_index: Dump) -> None:
    put(root, "big.py", "x = 1\n" * 100)
    assert run(root).files == 11
    assert run(root, max_bytes=500).files == 10
    assert_equals_fresh(root, dump_index, max_bytes=500)
    assert run(root).files == 11


def test_a_full_run_reads_everything_again(root: Path, dump_index: Dump) -> None:
    run(root)
    assert counts(run(root, full=True)) == (0, 10, 0, 0)
    assert_equals_fresh(root, dump_index)


def test_many_files_are_prepared_by_several_processes(root: Path, dump_index: Dump) -> None:
    for number in range(40):
        put(root, f"big/b{number}.py", f"def b{number}(): return {number}\n" + f"filler = '{'x' * 90}'\n" * 700)
    assert run(root, workers=3).files == 50
    assert_equals_fresh(root, dump_index)


def test_progress_counts_every_file_once(root: Path) -> None:
    seen: list[Progress] = []
    update_index(request(root), Hooks(progress=seen.append))
    assert [progress.done for progress in seen] == list(range(12))
    assert {progress.total for progress in seen} == {11}
    assert seen[-1].chunks == 10


def test_progress_is_reported_while_files_are_read_not_when_they_are_written(root: Path) -> None:
    def begin_to_write(_: Progress) -> None:
        with closing(apsw.Connection(str(database(root)))) as other:
            other.execute("BEGIN IMMEDIATE")

    update_index(request(root), Hooks(progress=begin_to_write))


def test_status_counts_indexed_and_changed_files(root: Path) -> None:
    fresh = read_status(root, SqliteHome(database(root).parent), max_bytes=1_000_000)
    assert (fresh.generation, fresh.files, fresh.pending) == (0, 0, 11)
    run(root)
    status = read_status(root, SqliteHome(database(root).parent), max_bytes=1_000_000)
    assert (status.files, status.chunks, status.symbols, status.pending, status.stale) == (10, 10, 9, 0, 0)
    assert {count.language: count.files for count in status.languages} == {"python": 8, "markdown": 1, "text": 1}
    assert status.skipped == {"binary": 1, "ignored": 1}
    assert status.index_bytes > 0
    assert status.updated
    put(root, "src/module_0.py", "changed = 1\n")
    (root / "src/module_1.py").unlink()
    assert read_status(root, SqliteHome(database(root).parent), max_bytes=1_000_000).stale == 2


def test_the_inventory_lists_every_path_that_is_known(root: Path) -> None:
    run(root)
    with Store(database(root)) as store:
        inventory = read_inventory(store)
    assert [file.path for file in inventory.files] == [
        ".gitignore",
        "README.md",
        *(f"src/module_{n}.py" for n in range(8)),
    ]
    assert (inventory.files[1].language, inventory.files[1].lines) == ("markdown", 3)
    assert [(skip.path, skip.reason.value) for skip in inventory.skips] == [
        ("data.bin.txt", "binary"),
        ("debug.log", "ignored"),
    ]
    assert inventory.kinds == ("function", "section")


def test_two_workspaces_have_two_indexes(tmp_path: Path) -> None:
    one, two = tmp_path / "a" / "same", tmp_path / "b" / "same"
    assert index_folder(tmp_path, one) != index_folder(tmp_path, two)
    assert index_folder(tmp_path, one).name.startswith("same-")


def test_an_older_index_without_definitions_opens_and_works(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No file is read again because of the analysis: what is tested here is the migration alone.
    monkeypatch.setattr("keyhole.core.index.update.ANALYSIS_VERSION", 0)
    (tmp_path / "cache").mkdir()
    shutil.copy(OLD_INDEX, database(root))
    old_root = tmp_path / "old"
    put(old_root, "old.py", "def ancient(): pass\n")
    os.utime(old_root / "old.py", ns=(10**18, 10**18))
    with Store(database(root)) as store:
        assert store.value("PRAGMA user_version") == VERSION
        assert store.query("SELECT definitions FROM chunk") == [("",)]
        assert store.query("SELECT rowid FROM chunk_words WHERE chunk_words MATCH 'ancient'") == [(1,)]
        assert store.query("SELECT * FROM link") == []
        indexes = {name for _, name, *_ in store.query("PRAGMA index_list(symbol)")}
        assert indexes == {"symbol_by_depth", "symbol_by_name"}
        assert check_integrity(store) == []
    assert counts(run(old_root)) == (0, 0, 0, 1)
    put(old_root, "old.py", "import os\n\ndef modern(): pass\n")
    assert counts(run(old_root)) == (0, 1, 0, 0)
    with Store(database(root)) as store:
        assert store.query("SELECT definitions FROM chunk") == [("function modern",)]
        assert store.query("SELECT target, state FROM link") == [("os", "external")]


def test_an_index_of_a_newer_keyhole_is_left_alone(root: Path) -> None:
    run(root)
    with Store(database(root)) as store:
        store.query(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(StoreError, match="newer version of keyhole"):
        run(root)
    assert database(root).exists()


def assert_equals_fresh(root: Path, dump_index: Dump, **changes: object) -> None:
    """Compare the index with one that is built from scratch."""
    fresh = root.parent / "fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    run(root, folder=fresh, **changes)
    assert dump_index(database(root)) == dump_index(fresh / INDEX_FILE)
    with Store(database(root)) as store:
        assert check_integrity(store) == []


def test_a_file_that_is_no_longer_ignored_survives_an_interrupted_run(root: Path) -> None:
    run(root)

    def interrupt(_: Progress) -> None:
        raise KeyboardInterrupt

    put(root, ".gitignore", "nothing.here\n")
    with pytest.raises(KeyboardInterrupt):
        update_index(request(root), Hooks(progress=interrupt))
    run(root)
    with Store(database(root)) as store:
        assert store.query("SELECT path FROM file WHERE path = 'debug.log'") == [("debug.log",)]


def test_a_full_run_trusts_no_stamp(root: Path, dump_index: Dump) -> None:
    put(root, "made.py", "# @generated by hand\n")
    for path in ("README.md", "made.py"):
        os.utime(root / path, ns=(0, 0))
    run(root)
    for path, text in {
        "README.md": "# Other\n\nWords about nothing.\n\n",
        "made.py": "# at last hand made!!\n",
    }.items():
        (root / path).write_text(text)
        os.utime(root / path, ns=(0, 0))
    run(root, full=True)
    assert_equals_fresh(root, dump_index)


def test_a_time_in_the_future_settles(root: Path) -> None:
    os.utime(root / "README.md", ns=(4 * 10**18, 4 * 10**18))
    assert run(root).generation == run(root).generation == run(root).generation


def test_another_way_of_reading_code_reads_everything_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(root)
    monkeypatch.setattr("keyhole.core.index.update.ANALYSIS_VERSION", 99)
    assert counts(run(root)) == (0, 10, 0, 0)
    assert counts(run(root)) == (0, 0, 0, 10)


def test_a_run_that_wrote_much_leaves_the_words_in_one_part(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyhole.core.index.update._BATCH_FILES", 1)
    run(root)
    assert parts_of_words(root) == 1
    put(root, "src/module_1.py", "def another():\n    pass\n")
    run(root)
    assert parts_of_words(root) > 1, "one changed file is not worth merging all"


def parts_of_words(root: Path) -> int:
    with Store(root.parent / "cache" / INDEX_FILE) as store:
        return int(store.value("SELECT count(DISTINCT segid) FROM chunk_words_idx"))


@pytest.mark.skipif(not hasattr(os, "nice"), reason="this system has no priorities")
def test_workers_give_way_to_the_explorer_and_to_agents() -> None:
    pool = _start_pool(1)
    try:
        assert pool.submit(os.nice, 0).result() > os.nice(0)
    finally:
        pool.shutdown()


@pytest.mark.parametrize("is_old", [False, True])
def test_unused_pages_are_returned_to_the_system(tmp_path: Path, *, is_old: bool) -> None:
    path = tmp_path / "index.db"
    if is_old:
        # As older versions created it: without the mode in which single pages can be returned.
        with closing(apsw.Connection(str(path))) as db:
            schema.create(db)
    with Store(path) as store:
        for text in ("x" * 1_000_000, ""):
            with store.transaction():
                store.set_fact("rules", text)
        store.shrink()
        assert store.value("PRAGMA freelist_count") == 0
        assert store.value("PRAGMA auto_vacuum") == INCREMENTAL
    assert path.stat().st_size < 500_000


def test_workers_end_with_a_run_that_is_interrupted_after_the_walk(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyhole.core.index.pool._POOL_BYTES", 0)
    workers: list[BaseProcess] = []
    others = set(multiprocessing.active_children())

    def interrupt(_: Inventory) -> None:
        workers.extend(set(multiprocessing.active_children()) - others)
        raise KeyboardInterrupt

    # Keeping the exception keeps the pool from being collected, which would end the workers too.
    with pytest.raises(KeyboardInterrupt) as caught:
        update_index(request(root), Hooks(found=interrupt))
    assert workers
    # The pool's own thread waits for the workers too, and takes their exit codes: is_alive() can be wrong for a moment.
    for worker in workers:
        assert connection.wait([worker.sentinel], timeout=60)
    del caught
