"""Everything that Keyhole writes about a workspace is readable by its owner only."""

import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from discovery import put

from keyhole.core.journal.writer import Ended, Started
from keyhole.core.service import Service
from keyhole.core.types.completeness import CallStatus
from keyhole.core.types.view_requests import Query
from keyhole.tui.run_explorer import _log_to_file


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.rglob("*")]}


def use_everything(root: Path, cache: Path) -> Service:
    """Index, search and record a call; return the service, with its files still open."""
    service = Service.open(root, flags={"cache_dir": str(cache), "index.model": "none"})
    service.index()
    service.search(Query("/harbour/"))
    journal = service.journal()
    assert journal
    call = Started("memory", "a", "1", "search_code", {})
    journal.ended(call, Ended(CallStatus.COMPLETE, "text", 1.0))
    assert journal.flush()
    return service


@pytest.mark.usefixtures("open_umask")
def test_new_files_are_private(tmp_path: Path) -> None:
    put(tmp_path / "root", "a.py", "harbour = 1\n")
    cache = tmp_path / "new/cache"
    service = use_everything(tmp_path / "root", cache)
    found = modes(tmp_path / "new")
    assert {"index.db", "index.db-wal", "index.db-shm", "journal.db", "journal.db-wal", "writer.lock"} <= found.keys()
    for name, mode in found.items():
        assert mode == (0o600 if "." in name else 0o700), (name, oct(mode))
    service.close()


@pytest.mark.usefixtures("open_umask")
def test_existing_files_become_private(tmp_path: Path) -> None:
    put(tmp_path / "root", "a.py", "harbour = 1\n")
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o755)
    folder = use_everything(tmp_path / "root", cache).folder
    put(folder, "damaged-1.db", "text")
    for path in [folder, *folder.iterdir()]:
        path.chmod(0o777 if path.is_dir() else 0o666)
    (folder / "damaged-1.db").chmod(0o444)
    use_everything(tmp_path / "root", cache).close()
    found = modes(folder)
    assert found.pop(folder.name) == 0o700
    assert found.pop("damaged-1.db") == 0o400
    assert set(found.values()) == {0o600}, found
    # A folder that the user has chosen may hold other things too.
    assert stat.S_IMODE(cache.stat().st_mode) == 0o755


@pytest.mark.usefixtures("open_umask")
def test_the_log_of_the_explorer_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    logger = logging.getLogger("keyhole")
    monkeypatch.setattr(logger, "handlers", [])
    monkeypatch.setattr(logger, "propagate", True)
    path = _log_to_file()
    assert path.is_relative_to(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
