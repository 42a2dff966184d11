"""Edits that keep the size and the time of a file are seen, and unchanged files are not read."""

import itertools
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from discovery import put, settle

from keyhole.core.config import load_settings
from keyhole.core.files import read, stamps, walk
from keyhole.core.files.read import read_source
from keyhole.core.files.stamps import UNKNOWN_TIME, settled, stamp_of
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.schema import VERSION
from keyhole.core.index.store import Store, check_integrity
from keyhole.core.service import Service
from keyhole.core.types.choices import Mode
from keyhole.core.types.index import IndexReport
from keyhole.core.types.inventory import Progress
from keyhole.core.types.source_files import SourceFile, Stamp
from keyhole.core.types.view_requests import SearchRequest

OLD_INDEX = Path(__file__).parent / "fixtures" / "index-v6.db"
SECOND = 10**9


@pytest.fixture
def service(tmp_path: Path) -> Service:
    root = tmp_path / "project"
    put(root, "a.py", "def first(): pass\n")
    put(root, "b.py", "def other(): pass\n")
    put(root, ".gitignore", "*.log\n")
    put(root, "c.log")
    put(root, "d.txt", b"\0\0\n")
    settle()
    return open_service(root)


def open_service(root: Path) -> Service:
    service = Service(root, load_settings(root, {"cache_dir": root.parent / "cache", "index.model": "none"}))
    service.index()
    return service


def counts(report: IndexReport) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.removed, report.current


def edit(path: Path, content: bytes) -> None:
    """Write other content of the same size, and set the time that the file had."""
    before = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def replace_file(path: Path, content: bytes) -> None:
    """Move a file of the same size and time to the path, as some editors and rsync do."""
    shutil.copy2(path, path.with_suffix(".new"))
    edit(path.with_suffix(".new"), content)
    path.with_suffix(".new").replace(path)


def files_read(service: Service, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run the index, and return the files that it read."""
    opened: list[str] = []
    read_once = read._read_once

    def spy(full_path: str, path: str, max_bytes: int) -> object:
        opened.append(path)
        return read_once(full_path, path, max_bytes)

    with monkeypatch.context() as patch:
        patch.setattr(read, "_read_once", spy)
        service.index()
    return opened


@pytest.mark.parametrize("change", [edit, replace_file])
def test_an_edit_with_the_same_size_and_time_is_indexed(
    service: Service, change: Callable[[Path, bytes], None]
) -> None:
    change(service.root / "a.py", b"def third(): pass\n")
    assert counts(service.index()) == (0, 1, 0, 2)
    assert "a.py:1" in service.search_view(SearchRequest("third", mode=Mode.SYMBOL)).text


def test_a_search_sees_such_an_edit_at_once(service: Service) -> None:
    edit(service.root / "a.py", b"def 2irst(): pass\n")
    assert "first" not in service.search_view(SearchRequest("first", mode=Mode.KEYWORD)).text.partition("\n")[2]


def test_a_skipped_file_and_an_ignore_file_are_looked_at_again_after_such_an_edit(service: Service) -> None:
    assert service.inventory().skips[-1].path == "d.txt"
    edit(service.root / "d.txt", b"ab\n")
    assert counts(service.index()) == (1, 0, 0, 3)
    edit(service.root / ".gitignore", b"*.txt\n")
    assert counts(service.index()) == (1, 1, 1, 2)
    assert [skip.path for skip in service.inventory().skips] == ["d.txt"]


def test_a_touched_or_copied_file_is_read_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    assert files_read(service, monkeypatch) == []
    (service.root / "a.py").touch()
    replace_file(service.root / "b.py", b"def other(): pass\n")
    (service.root / ".gitignore").chmod(0o600)
    settle()
    assert sorted(files_read(service, monkeypatch)) == [".gitignore", ".gitignore", "a.py", "b.py"]
    assert files_read(service, monkeypatch) == []


def test_a_file_that_changed_just_before_it_was_read_is_read_again(tmp_path: Path) -> None:
    put(tmp_path, "a.py")
    source = read_source(tmp_path, "a.py", max_bytes=100)
    status, read_by = (tmp_path / "a.py").stat(), time.time_ns()
    assert isinstance(source, SourceFile)
    if read_by - status.st_ctime_ns < 20_000_000:
        assert source.mtime_ns == UNKNOWN_TIME
    settle()
    source = read_source(tmp_path, "a.py", max_bytes=100)
    assert isinstance(source, SourceFile)
    assert source.stamp == stamp_of(status)


@pytest.mark.parametrize(
    ("written", "changed", "is_settled"),
    [
        (-21_000_001, -21_000_001, True),
        (-19_000_001, -SECOND + 1, False),
        (-SECOND + 1, -19_000_001, False),
        # Whole seconds: the file system may count time in steps of two seconds.
        (-SECOND, -SECOND, False),
        (-3 * SECOND, -3 * SECOND, True),
        (-SECOND, -SECOND + 1, True),
        # A time in the future is not recent, or the file would be read in every run.
        (9 * SECOND, -21_000_001, True),
    ],
)
def test_a_stamp_is_recorded_only_if_no_later_write_can_have_it(
    written: int, changed: int, *, is_settled: bool
) -> None:
    now = 1_700_000_000 * SECOND
    stamp = (5, now + written, now + changed, 7)
    assert settled(stamp, now) == (stamp if is_settled else (5, UNKNOWN_TIME, now + changed, 7))


def test_on_windows_only_size_and_time_count(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "_HAS_CHANGE_TIME", False)
    assert sorted(set(files_read(service, monkeypatch))) == [".gitignore", "a.py", "b.py", "d.txt"]
    assert files_read(service, monkeypatch) == []
    replace_file(service.root / "b.py", b"def other(): pass\n")
    assert files_read(service, monkeypatch) == []
    put(service.root, "b.py", "def third(): pass\n")
    assert "b.py" in files_read(service, monkeypatch)


def test_inodes_that_change_by_themselves_only_cost_reading(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = itertools.count(10**6)

    def with_new_inode(status: os.stat_result) -> Stamp:
        return *stamp_of(status)[:3], next(numbers)

    for module in (read, walk):
        monkeypatch.setattr(module, "stamp_of", with_new_inode)
    generation = service.inventory().generation
    for _ in range(3):
        assert counts(service.index()) == (0, 0, 0, 3)
    assert service.inventory().generation == generation
    edit(service.root / "a.py", b"def third(): pass\n")
    assert counts(service.index()) == (0, 1, 0, 2)


def test_numbers_too_large_for_the_index_are_made_to_fit() -> None:
    huge = SimpleNamespace(st_size=1, st_mtime_ns=2**64 + 5, st_ctime_ns=-3, st_ino=2**64 - 1)
    stamp = stamp_of(cast("os.stat_result", huge))
    assert all(0 <= number < 2**63 for number in stamp)
    assert stamp[1] == 5


def totals_of_words(index: Path) -> str:
    """Return the numbers of rows and words by which FTS5 ranks."""
    with Store(index) as store:
        return str(store.value("SELECT hex(block) FROM chunk_words_data WHERE id = 1"))


def test_an_index_without_times_of_change_answers_at_once_and_compares_each_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The version of the analysis that made the fixture: what is tested here is the migration alone.
    for module in ("index.update", "search.engine"):
        monkeypatch.setattr(f"keyhole.core.{module}.ANALYSIS_VERSION", 3)
    root = tmp_path / "old"
    put(root, "retry.py", 'def backoff(attempt):\n    """Wait longer each time."""\n    return 2**attempt\n')
    put(root, "notes.md", "# Notes\n\nRetry with backoff, then give up.\n")
    put(root, "blob.bin.txt", "\0\1")
    put(root, ".gitignore", "*.log\n")
    settle()
    service = open_service(root)
    index, request = service.folder / INDEX_FILE, SearchRequest("retry backoff", mode=Mode.KEYWORD)
    right, totals = service.search_view(request).text, totals_of_words(index)
    service.close()
    shutil.copy(OLD_INDEX, index)
    assert service.search_view(request).text == right
    with Store(index) as store:
        assert store.value("PRAGMA user_version") == VERSION
        assert check_integrity(store) == []
    # SQLite did not subtract deleted rows from the totals when the old index was written.
    assert totals_of_words(index) == totals
    assert sorted(set(files_read(service, monkeypatch))) == [".gitignore", "blob.bin.txt", "notes.md", "retry.py"]
    assert files_read(service, monkeypatch) == []


def test_a_run_that_ends_early_leaves_no_changed_file_unread(service: Service) -> None:
    class StopError(Exception):
        pass

    def stop(progress: Progress) -> None:
        if progress.done > 200:
            raise StopError

    # More files than one transaction, and all after them: a new one, a changed one that was binary, and one that
    # was ignored.
    for number in range(201):
        put(service.root, f"0/{number}.py")
    put(service.root, "d.txt", b"ab\n")
    put(service.root, ".gitignore", "*.nothing\n")
    with pytest.raises(StopError):
        service.index(on_progress=stop)
    service.index()
    assert service.inventory().skips == ()
    assert {"c.log", "d.txt"} <= {file.path for file in service.inventory().files}
