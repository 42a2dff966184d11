"""After a kill, a race, a full disk or damage, an index is the old one or the new one, never a mix."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from keyhole.core.errors import CorruptStoreError, FullStoreError, LockedStoreError
from keyhole.core.index import connection
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.lock import writer_lock
from keyhole.core.index.store import Store, check_integrity
from keyhole.core.index.update import Hooks, Request, update_index
from keyhole.core.notes import IndexEvent, IndexMessage

KILLS = 5
FILES = 120
Dump = Callable[[Path], dict[str, list[tuple[object, ...]]]]

INDEX_ONCE = """
import sys
from pathlib import Path
from keyhole.core.index.update import Hooks, Request, update_index
from keyhole.core.notes import IndexEvent, IndexMessage
if __name__ == "__main__":
    root, folder, workers = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    print("started", flush=True)
    report = update_index(Request(root, folder, 1_000_000, workers), Hooks(message=lambda m: print(m, flush=True)))
    print(report.files, flush=True)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    write_files(root, 0)
    return root


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "index_once.py"
    path.write_text(INDEX_ONCE)
    return path


def write_files(root: Path, version: int) -> None:
    """Give every file new content, so that a run must replace every file."""
    for number in range(FILES):
        functions = [
            f"def function_{number}_{i}_{version}(argument, other={version}):\n    return argument * {i}\n"
            for i in range(60)
        ]
        (root / f"m{number}.py").write_text("\n".join(functions))


def fatten(root: Path, lines: int = 150) -> None:
    """Make the files large enough for several worker processes."""
    for path in root.glob("*.py"):
        with path.open("a") as stream:
            stream.write(f"filler = '{'x' * 200}'\n" * lines)


def start(script: Path, root: Path, folder: Path, workers: int = 1) -> "subprocess.Popen[str]":
    command = [sys.executable, str(script), str(root), str(folder), str(workers)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    return process


def check_consistent(path: Path) -> int:
    """Check that every file in the index is complete and of one version; return the number of files."""
    with Store(path) as store:
        assert check_integrity(store) == []
        rows = store.query(
            """SELECT path, (SELECT count(*) FROM symbol WHERE file_id = f.id),
                (SELECT sum(length) FROM chunk WHERE file_id = f.id), size,
                (SELECT count(DISTINCT substr(name, -2)) FROM symbol WHERE file_id = f.id) FROM file f"""
        )
    for name, symbols, characters, size, versions in rows:
        assert (symbols, characters, versions) == (60, size, 1), name
    return len(rows)


def test_killed_at_random_moments(root: Path, script: Path, tmp_path: Path, dump_index: Dump) -> None:
    folder = tmp_path / "cache"
    chance = random.Random(20261116)
    seconds = time_of_a_run(root, script, tmp_path / "timing")
    landed = 0
    while landed < KILLS:
        write_files(root, 10 + landed)
        process = start(script, root, folder, workers=1)
        time.sleep(chance.uniform(0, seconds))
        process.kill()
        # A kill after the end proves nothing: if runs are faster than expected, kill the next ones sooner.
        if process.wait() == -signal.SIGKILL:
            landed += 1
        else:
            seconds *= 0.8
        process.communicate()
        if (folder / INDEX_FILE).exists():
            check_consistent(folder / INDEX_FILE)
    done = start(script, root, folder)
    assert done.communicate()[0].endswith(f"{FILES}\n")
    update_index(Request(root, tmp_path / "fresh", 1_000_000))
    assert dump_index(folder / INDEX_FILE) == dump_index(tmp_path / "fresh" / INDEX_FILE)


def time_of_a_run(root: Path, script: Path, folder: Path) -> float:
    process = start(script, root, folder)
    started = time.monotonic()
    process.communicate()
    return time.monotonic() - started


def test_a_killed_indexer_leaves_no_workers_behind(root: Path, script: Path, tmp_path: Path) -> None:
    fatten(root, lines=2_000)
    process = start(script, root, tmp_path / "cache", workers=2)
    deadline = time.monotonic() + 20
    while files_in(tmp_path / "cache") == 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    workers = children(process.pid)
    assert len(workers) >= 2
    process.kill()
    process.wait()
    while (left := [pid for pid in workers if Path(f"/proc/{pid}").exists()]) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    process.communicate()
    assert not left


def files_in(folder: Path) -> int:
    if not (folder / INDEX_FILE).exists():
        return 0
    with Store(folder / INDEX_FILE) as store:
        return int(store.value("SELECT count(*) FROM file"))


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        pytest.skip("needs /proc to list a process's children")


def test_two_indexers_at_once(root: Path, script: Path, tmp_path: Path, dump_index: Dump) -> None:
    folder = tmp_path / "cache"
    processes = [start(script, root, folder) for _ in range(3)]
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert all(out.endswith(f"{FILES}\n") for out, _ in outputs)
    assert sum("waiting for it to finish" in out for out, _ in outputs) >= 1
    update_index(Request(root, tmp_path / "fresh", 1_000_000))
    assert dump_index(folder / INDEX_FILE) == dump_index(tmp_path / "fresh" / INDEX_FILE)


def test_a_run_that_does_not_wait_gets_a_busy_error(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    with writer_lock(folder, wait=False), pytest.raises(LockedStoreError, match="another process is indexing"):
        update_index(Request(root, folder, 1_000_000, wait=False))


def test_readers_during_writing_see_whole_files(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    update_index(Request(root, folder, 1_000_000))
    writing = threading.Event()
    writing.set()
    seen: list[int] = []
    failures: list[BaseException] = []

    def read() -> None:
        try:
            while writing.is_set() or not seen:
                seen.append(check_consistent(folder / INDEX_FILE))
        except BaseException as error:  # noqa: BLE001  # passed to the test's thread
            failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for version in range(10, 14):
        write_files(root, version)
        update_index(Request(root, folder, 1_000_000))
    writing.clear()
    reader.join()
    assert not failures, failures
    assert set(seen) == {FILES}


class QuotaFile(apsw.VFSFile):
    """A file that can't grow beyond the free space of its file system."""

    left = 0

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        grown = offset + len(data) - self.xFileSize()
        if grown > 0:
            if QuotaFile.left < grown:
                raise apsw.FullError
            QuotaFile.left -= grown
        super().xWrite(data, offset)


class QuotaVFS(apsw.VFS):
    """A file system with a quota, as a layer below SQLite."""

    def __init__(self) -> None:
        super().__init__("quota", "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> QuotaFile:  # noqa: N802
        return QuotaFile("", name, flags)


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[QuotaFile]]:
    """Put every index on a file system with little space."""
    vfs = QuotaVFS()
    connect = connection.connect
    monkeypatch.setattr("keyhole.core.index.database.connect", lambda path, **_: connect(path, vfs="quota"))
    yield QuotaFile
    vfs.unregister()


@pytest.mark.parametrize("room", [0, 30_000, 300_000, 600_000])
def test_a_full_disk(root: Path, tmp_path: Path, full_disk: type[QuotaFile], room: int, dump_index: Dump) -> None:
    folder = tmp_path / "cache"
    full_disk.left = room
    with pytest.raises(FullStoreError, match="no space left"):
        update_index(Request(root, folder, 1_000_000))
    full_disk.left = 10**9
    if room:
        assert check_consistent(folder / INDEX_FILE) < FILES
    update_index(Request(root, folder, 1_000_000))
    update_index(Request(root, tmp_path / "fresh", 1_000_000))
    assert dump_index(folder / INDEX_FILE) == dump_index(tmp_path / "fresh" / INDEX_FILE)


@pytest.mark.parametrize("damage", ["overwritten", "cut", "foreign", "pages", "text"])
def test_a_damaged_index_is_set_aside_and_rebuilt(root: Path, tmp_path: Path, damage: str, dump_index: Dump) -> None:
    folder = tmp_path / "cache"
    update_index(Request(root, folder, 1_000_000))
    path = folder / INDEX_FILE
    whole = path.read_bytes()
    path.write_bytes(
        {
            "overwritten": os.urandom(len(whole)),
            "cut": whole[: len(whole) // 3],
            "foreign": b"",
            "pages": whole[:4096] + os.urandom(len(whole) - 4096),
            "text": b"this is not a database\n" * 1000,
        }[damage]
    )
    if damage == "foreign":
        foreign = apsw.Connection(str(path))
        foreign.execute("CREATE TABLE other (x)")
        foreign.close()
    messages: list[IndexMessage] = []
    write_files(root, 11)
    with pytest.raises(CorruptStoreError, match=r"is damaged|is not a keyhole index"):
        read_everything(path)
    report = update_index(Request(root, folder, 1_000_000), Hooks(message=messages.append))
    assert report.files == FILES
    assert [message.event for message in messages] == [IndexEvent.DAMAGED]
    assert "damaged" in messages[0].text
    assert len(list(folder.glob("damaged-*.db"))) == 1
    update_index(Request(root, tmp_path / "fresh", 1_000_000))
    assert dump_index(path) == dump_index(tmp_path / "fresh" / INDEX_FILE)


def read_everything(path: Path) -> None:
    with Store(path) as store:
        store.known()
        store.query("SELECT count(*) FROM chunk_words WHERE chunk_words MATCH 'argument'")
        store.query("SELECT sum(length) FROM chunk")


def test_interrupted_by_ctrl_c(root: Path, tmp_path: Path) -> None:
    # A shell starts background jobs with Ctrl-C ignored, and their children inherit that.
    hears_ctrl_c = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{hears_ctrl_c}; from keyhole.core.cli.main import main; main()"
    command = [sys.executable, "-c", code, "index", "--workers", "2"]
    fatten(root, lines=2_000)
    environment = {**os.environ, "KEYHOLE_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path / "home")}
    process = subprocess.Popen(
        command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
    )
    deadline = time.monotonic() + 30
    while not children(process.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    assert "interrupted" in err
    assert "Traceback" not in err
    done = subprocess.run(
        [*command[:-2], "--json"], cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["files"] == FILES
