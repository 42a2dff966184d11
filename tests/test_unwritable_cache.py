"""A current index on a full disk, a read-only file system or in another user's folder is read, or refused clearly."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest
from driving import ask, drive, explorer, make_app, make_service, press, results_of
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from rights import bound_by_modes
from textual.pilot import Pilot

from keyhole.core.errors import UnwritableStoreError
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.service import Service
from keyhole.core.types.choices import Mode
from keyhole.core.types.view_requests import Query, SearchRequest
from keyhole.tui.index_state import Phase

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="modes, mounts and /proc as on Linux")

State = Callable[[Path], "Any"]


@contextmanager
def mode_555(cache: Path) -> Iterator[None]:
    """Take the right to write from every folder and file."""
    paths = [cache, *cache.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        yield
    finally:
        for path in paths:
            if path.exists():
                path.chmod(0o755 if path.is_dir() else 0o644)


@contextmanager
def mounted(cache: Path, options: str) -> Iterator[None]:
    """Put the cache on a small file system of its own."""
    copy = cache.with_name("copy")
    cache.rename(copy)
    cache.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "keyhole", str(cache)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        cache.rmdir()
        copy.rename(cache)
        pytest.skip("may not mount a file system")
    try:
        shutil.copytree(copy, cache, dirs_exist_ok=True)
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(cache)], check=True)


@contextmanager
def read_only(cache: Path) -> Iterator[None]:
    with mounted(cache, "size=20m"):
        subprocess.run(["mount", "-o", "remount,ro", str(cache)], check=True)
        yield


@contextmanager
def full(cache: Path) -> Iterator[None]:
    with mounted(cache, "size=20m"):
        with (cache / "filler").open("wb", buffering=0) as filler:
            try:
                while filler.write(bytes(4096)):
                    pass
            except OSError:
                pass
        yield


STATES: dict[str, State] = {"no right to write": mode_555, "read-only": read_only, "full": full}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    for name in "abc":
        (root / f"{name}.py").write_text(f"import os\n\n\ndef first_{name}(): return os.sep\n")
        os.utime(root / f"{name}.py", (1_700_000_000, 1_700_000_000))
    return root


@pytest.fixture
def index(root: Path) -> Service:
    """Index the workspace, and close the index as a finished command does."""
    service = make_service(root)
    # A file that was written just before it is read is compared again by the next run, which could not write that down.
    time.sleep(0.1)
    service.index()
    service.close()
    return service


def environment(root: Path) -> dict[str, str]:
    return os.environ | {"KEYHOLE_CACHE_DIR": str(root.parent / "cache"), "KEYHOLE_INDEX_MODEL": "none"}


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = bound_by_modes(sys.executable, "-m", "keyhole", *arguments)
    return subprocess.run(command, cwd=root, env=environment(root), capture_output=True, text=True, check=False)


READING = {
    "search first_b": "b.py:4",
    "search /first_[b]/": "b.py:4",
    "map a.py": "first_a",
    "read b.py": "def first_b",
    "status": "Files      3",
    "tree": "c.py",
    "links a.py": "os",
    "search zebra --mode keyword": "Nothing found: no match for 'zebra' in 3 files.",
}
IN_SHORT = {"search first_b", "status"}


@pytest.mark.parametrize("has_log", [False, True], ids=["clean", "after a kill"])
@pytest.mark.parametrize("state", STATES)
def test_every_command_that_reads_still_answers(root: Path, index: Service, state: str, has_log: bool) -> None:
    if has_log:
        leave_a_log(index.folder / INDEX_FILE)
    commands = IN_SHORT if has_log or state != "read-only" else READING
    with STATES[state](index.settings.cache_dir):
        done = {arguments: run(root, *arguments.split()) for arguments in commands}
        refused = run(root, "index", "--full")
    for arguments, one in done.items():
        assert one.stderr == ""
        assert one.returncode == int("zebra" in arguments)
        assert READING[arguments] in one.stdout
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
    assert ("no space left" if state == "full" else "cannot write to ") in refused.stderr


def leave_a_log(path: Path) -> None:
    """Leave the newest commit in SQLite's log, as a killed process does."""
    code = """import apsw, os, signal, sys
db = apsw.Connection(sys.argv[1])
db.pragma("wal_autocheckpoint", 0)
db.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
os.kill(os.getpid(), signal.SIGKILL)"""
    killed = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    path.with_name(f"{path.name}-shm").unlink()
    assert path.with_name(f"{path.name}-wal").stat().st_size


@pytest.mark.parametrize("state", STATES)
def test_a_change_that_cannot_be_indexed_is_said(root: Path, index: Service, state: str) -> None:
    (root / "a.py").write_text("# moved\n" * 9 + "def first_a(): return 1\n")
    with STATES[state](index.settings.cache_dir):
        changed = run(root, "search", "first_a", "--mode", "keyword")
        read = run(root, "read", "a.py")
        status = run(root, "status")
    assert "Traceback" not in changed.stderr
    assert changed.returncode == 0
    assert changed.stderr.endswith(": the index is not updated, but 1 file changed\n")
    assert ("no space left" if state == "full" else "cannot write to ") in changed.stderr
    assert "not shown: the files have changed, and the index can't be written" in changed.stdout
    assert "a.py:4" not in changed.stdout
    assert "def first_a(): return 1" in read.stdout
    assert "out of date: 1 file changed" in status.stdout


@pytest.mark.parametrize("state", STATES)
@pytest.mark.anyio
async def test_agents_are_served_and_the_journal_is_missed_once(root: Path, index: Service, state: str) -> None:
    log = root.parent / "log.txt"
    program, *arguments = bound_by_modes(sys.executable, "-m", "keyhole", "mcp", str(root))
    with ExitStack() as stack:
        stack.enter_context(STATES[state](index.settings.cache_dir))
        transport = StdioTransport(program, arguments, env=environment(root), keep_alive=False, log_file=log)
        async with Client(transport) as client:
            for _ in range(3):
                for tool, given, text in [
                    ("search_code", {"query": "first_b"}, "b.py:4"),
                    ("map_file", {"path": "a.py"}, "first_a"),
                    ("index_status", {}, "Files      3"),
                ]:
                    result = await client.call_tool_mcp(tool, given)
                    assert not result.is_error, result
                    assert text in result.content[0].text
    told = log.read_text()
    assert told.count("calls are not recorded") == 1, told
    assert "Traceback" not in told


def test_readers_without_rights_are_not_kept(index: Service) -> None:
    """Nothing protects them from a writer, so each search opens the index again."""
    with read_only(index.settings.cache_dir):
        for _ in range(2):
            assert index.search(Query("first_b", Mode.KEYWORD)).hits[0].path == "b.py"
            assert index.engines._opening is not None
            assert index.engines._opening.idle == []
    index.close()


def test_the_journal_of_a_read_only_cache_can_be_read(agents_service: Service) -> None:
    agents_service.close()
    before = list(agents_service.journal_reader().each())
    assert len(before) == 40
    with read_only(agents_service.settings.cache_dir):
        reader = agents_service.journal_reader()
        assert list(reader.each()) == before
        assert len(reader.poll().calls) == 40


@pytest.mark.parametrize("state", ["read-only", "full"])
def test_the_explorer_shows_what_is_indexed(root: Path, index: Service, state: str) -> None:
    app = make_app(make_service(root))

    async def steps(pilot: Pilot[None]) -> None:
        assert explorer(pilot).index_state.phase == Phase.FAILED
        assert explorer(pilot).index_state.files == 3
        assert len(explorer(pilot).inventory.files) == 3
        await ask(pilot, "first_b", "enter")
        assert results_of(pilot).rows[0].hit.path == "b.py"
        await press(pilot, "2")
        assert explorer(pilot).is_running

    (root / "c.py").write_text("changed = 1\n")
    with STATES[state](index.settings.cache_dir):
        drive(app, steps)


def test_an_index_of_an_older_version_is_refused_where_it_cannot_be_migrated(index: Service) -> None:
    db = apsw.Connection(str(index.folder / INDEX_FILE))
    db.pragma("user_version", 5)
    db.close()
    with read_only(index.settings.cache_dir), pytest.raises(UnwritableStoreError, match="from an older version"):
        index.search_view(SearchRequest("first_b"))


# The cache of another user


@contextmanager
def of_another_user(folder: Path) -> Iterator[None]:
    """Make a folder one that only another user may open."""
    folder.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(folder, 65_534, 65_534)
    else:
        # Without the right to give files away, not even the owner may open it.
        folder.chmod(0)
    try:
        yield
    finally:
        if os.geteuid() == 0:
            os.chown(folder, 0, 0)
        folder.chmod(0o755)


@pytest.mark.parametrize("is_whole", [False, True], ids=["folder of the workspace", "whole cache"])
@pytest.mark.parametrize("arguments", ["search first_a", "status", "clear", "stats", "index"])
def test_the_cache_of_another_user_is_a_clear_error(root: Path, index: Service, is_whole: bool, arguments: str) -> None:
    with of_another_user(index.settings.cache_dir if is_whole else index.folder):
        done = run(root, *arguments.split())
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Permission denied" in done.stderr
    assert str(index.settings.cache_dir) in done.stderr
    assert "; check the folder, or set KEYHOLE_CACHE_DIR" in done.stderr
    assert (index.folder / INDEX_FILE).exists()


def test_files_can_be_read_without_the_index(root: Path, index: Service) -> None:
    with of_another_user(index.folder):
        for arguments in ("map a.py", "read a.py"):
            done = run(root, *arguments.split())
            assert (done.returncode, done.stderr) == (0, "")
            assert "first_a" in done.stdout
        missing = run(root, "read", "absent.py")
    assert missing.returncode == 2
    assert "absent.py is not a file in the workspace" in missing.stderr


@pytest.mark.anyio
async def test_agents_get_a_clear_error(root: Path, index: Service) -> None:
    program, *arguments = bound_by_modes(sys.executable, "-m", "keyhole", "mcp", str(root))
    with of_another_user(index.folder):
        transport = StdioTransport(
            program, arguments, env=environment(root), keep_alive=False, log_file=root.parent / "log.txt"
        )
        async with Client(transport) as client:
            for tool, given in [("search_code", {"query": "first_b"}), ("index_status", {}), ("get_tree", {})]:
                result = await client.call_tool_mcp(tool, given)
                assert result.is_error
                assert "(Permission denied); ask the user to check keyhole's cache folder" in result.content[0].text
            result = await client.call_tool_mcp("read_file", {"path": "a.py"})
            assert not result.is_error
    assert "Traceback" not in (root.parent / "log.txt").read_text()


def test_status_as_json_is_complete_without_rights(root: Path, index: Service) -> None:
    with mode_555(index.settings.cache_dir):
        done = run(root, "status", "--json")
    assert json.loads(done.stdout)["files"] == 3
