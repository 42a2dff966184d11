"""An index of an older version: it answers at once and says what it lacks, and index runs fill that in."""

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from discovery import settle
from fresh_index import dump_rows

from keyhole.core.cli.output import refresh_index
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.schema import VERSION
from keyhole.core.index.store import Store, check_integrity
from keyhole.core.links.requests import ReferencesRequest
from keyhole.core.notes import IndexMessage, NoteKind
from keyhole.core.search.max_sim import similarity_by_tokens
from keyhole.core.service import Service
from keyhole.core.types.choices import Mode
from keyhole.core.types.inventory import Progress
from keyhole.core.types.search_results import SearchResult
from keyhole.core.types.view_requests import Query
from keyhole.core.view.status_text import status_text
from keyhole.mcp_server.freshness import Freshness

FIXTURES = Path(__file__).parent / "fixtures"
RETRY = (
    '"""Retrying what failed."""\n\n\ndef backoff(attempt):\n    """Wait longer each time."""\n    return 2**attempt\n'
)
FILES = {
    # The index that version 0.1.0 made, and the last one without data for ranking.
    "index-v5.db": {
        "retry.py": (
            "def backoff(attempt: int) -> float:\n"
            '    """Wait longer after each failed attempt."""\n'
            "    return 0.2 * 2**attempt\n"
        ),
        "colours.py": (
            'def darken(shade: str) -> str:\n    """Make a shade of paint darker."""\n    return shade.lower()\n'
        ),
    },
    "index-v8.db": {
        "retry.py": RETRY,
        "notes.md": "# Notes\n\nRetry with backoff, then give up.\n",
        "paint.py": 'def mix(first, second):\n    """Mix two colours."""\n    return first + second\n',
    },
}
NO_DATA = """SELECT (SELECT count(*) FROM chunk_tokens) + (SELECT count(*) FROM file_document)"""


@pytest.fixture(params=FILES)
def old(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    """Open a workspace whose index was made by an older version."""
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    root = tmp_path / "old"
    root.mkdir()
    for path, text in FILES[request.param].items():
        (root / path).write_text(text)
    settle()
    service = Service.open(root)
    service.folder.mkdir(parents=True)
    shutil.copy(FIXTURES / request.param, service.folder / INDEX_FILE)
    return service


def outdated_notes(result: SearchResult) -> list[str]:
    return [note.text for note in result.notes if note.kind == NoteKind.INDEX_OUTDATED]


def search(service: Service) -> SearchResult:
    return service.search(Query("backoff attempt", Mode.HYBRID))


def test_an_older_index_answers_at_once_and_says_what_it_lacks(old: Service) -> None:
    files = len(list(old.root.iterdir()))
    found = search(old)
    assert found.hits[0].path == "retry.py"
    assert found.unshown.count == 0
    count = f"ranking is less exact for {files} files indexed by an older version of keyhole"
    assert outdated_notes(found) == [f"{count}; run keyhole index to read them again"]
    with Store(old.folder / INDEX_FILE) as store, old.engines.lend() as engine:
        assert store.value("PRAGMA user_version") == VERSION
        assert check_integrity(store) == []
        chunks = [chunk_id for (chunk_id,) in store.query("SELECT id FROM chunk")]
        embedder = engine._embedder
        assert embedder is not None
        (tokens,) = embedder.encode_with_tokens(["backoff"]).tokens
        assert (store.token_ids(chunks), store.file_documents(range(9))) == ([], [])
        assert similarity_by_tokens(store, embedder, tokens, chunks) == {}
        assert {file.role for file in store.stored_roles()} == {""}


def test_an_older_index_says_that_references_are_missing(old: Service) -> None:
    files = len(list(old.root.iterdir()))
    request = ReferencesRequest("backoff")
    missing = f"references are missing from {files} files indexed by an older version of keyhole"
    assert f"{missing}; run keyhole index to read them again" in old.relation_page(request)[1].notes
    old.index()
    assert not any(missing in note for note in old.relation_page(request)[1].notes)


def test_an_index_run_fills_in_what_an_older_index_lacks(old: Service, tmp_path: Path) -> None:
    search(old)
    messages: list[IndexMessage] = []
    report = old.index(on_message=messages.append)
    files = len(list(old.root.iterdir()))
    assert (report.changed, report.current, report.outdated) == (files, 0, 0)
    assert f"read again for better ranking ({files})" in messages[-1].text
    assert outdated_notes(search(old)) == []
    again = old.index()
    assert (again.changed, again.current, again.generation) == (0, files, report.generation)
    fresh = Service.open(old.root, flags={"cache_dir": tmp_path / "fresh"})
    fresh.index()
    assert dump_rows(old.folder / INDEX_FILE) == dump_rows(fresh.folder / INDEX_FILE)


def test_a_search_that_makes_the_index_records_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "retry.py").write_text("def retry():\n    pass\n")
    service = Service.open(tmp_path / "work", flags={"cache_dir": tmp_path / "cache"})
    refresh_index(service)
    assert outdated_notes(search(service)) == []
    later = Store(service.folder / INDEX_FILE).facts().analysis
    for module in ("keyhole.core.index.update", "keyhole.core.search.engine"):
        monkeypatch.setattr(f"{module}.ANALYSIS_VERSION", later + 1 if later else 0)
    assert outdated_notes(search(service)) != []


def test_while_files_are_read_again_answers_are_complete(old: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyhole.core.index.update._BATCH_FILES", 1)
    found = list[SearchResult]()
    old.index(renew=False)
    old.index(on_progress=lambda _: found.append(search(old)))
    assert len(found) >= 2
    for result in found:
        assert (result.hits[0].path, result.unshown.count, result.index.incomplete) == ("retry.py", 0, "")
    assert outdated_notes(found[0])[0].endswith("; being read again now")
    assert len({note for result in found for note in outdated_notes(result)}) >= 2, "the number of files goes down"


def test_a_run_that_ends_early_is_continued_by_the_next_one(old: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    class StopError(Exception):
        pass

    def stop(progress: Progress) -> None:
        if progress.done == 2:
            raise StopError

    monkeypatch.setattr("keyhole.core.index.update._BATCH_FILES", 1)
    old.index(renew=False)
    with pytest.raises(StopError):
        old.index(on_progress=stop)
    files = len(list(old.root.iterdir()))
    assert old.status().outdated == files - 1
    assert old.index().changed == files - 1
    assert old.status().outdated == 0


def test_a_changed_file_is_indexed_first_and_counts_no_longer(old: Service) -> None:
    (old.root / "retry.py").write_text("def backoff_slowly(): pass\n")
    files = len(list(old.root.iterdir()))
    report = old.index(renew=False)
    assert (report.changed, report.outdated) == (1, files - 1)
    assert old.search(Query("backoff_slowly")).hits[0].path == "retry.py"


def test_a_command_that_reads_does_not_wait_and_status_says_what_to_do(old: Service) -> None:
    files = len(list(old.root.iterdir()))
    refresh_index(old)
    assert outdated_notes(search(old))
    assert f"│ {files} files indexed by an older version" in status_text(old.status())
    with Store(old.folder / INDEX_FILE) as store:
        assert store.value(NO_DATA) == 0


def test_agents_do_not_wait_while_the_server_fills_in_the_rest(old: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    index: Callable[..., object] = old.index
    waiting, runs = asyncio.Event(), list[bool]()

    async def ask() -> list[str]:
        loop = asyncio.get_running_loop()

        def slowly(*, renew: bool = True, **hooks: object) -> object:
            runs.append(renew)
            if renew:
                asyncio.run_coroutine_threadsafe(waiting.wait(), loop).result(timeout=60)
            return index(renew=renew, **hooks)

        monkeypatch.setattr(old, "index", slowly)
        freshness = Freshness(old)
        await freshness.catch_up(no_report)
        notes = outdated_notes(search(old))
        thread = freshness._thread
        assert thread is not None, "the rest is still to do"
        waiting.set()
        await asyncio.to_thread(thread.join)
        return notes

    assert asyncio.run(ask())
    assert runs == [False, True]
    assert outdated_notes(search(old)) == []


async def no_report(_: Progress) -> None:
    pass


def test_an_index_of_this_version_is_walked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "a.py").write_text(RETRY)
    os.utime(tmp_path / "new" / "a.py", ns=(10**18, 10**18))
    service = Service.open(tmp_path / "new")
    report = service.index(renew=False)
    assert (report.added, report.outdated) == (1, 0)
    assert outdated_notes(search(service)) == []
