"""Concurrent searches: each has its own reader, and all readers are closed in the end."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from keyhole.core.config import load_settings
from keyhole.core.errors import StoreError
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.update import set_aside
from keyhole.core.listening import listen
from keyhole.core.search.engine import Engine
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail
from keyhole.core.types.view_requests import Query, SearchRequest
from keyhole.core.workspace.engine_pool import MOST_READERS

FILES = 60


@pytest.fixture
def service(tmp_path: Path) -> Service:
    root = tmp_path / "work"
    root.mkdir()
    for number in range(FILES):
        (root / f"module_{number}.py").write_text(f"def function_{number}():\n    return {number}\n" * 5)
    own = Service(root, load_settings(root, {"cache_dir": tmp_path / "cache", "index.model": "none"}))
    own.index()
    return own


def open_files(service: Service) -> int:
    """Return how many times this process has the index open."""
    found = [entry.readlink() for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    return found.count(service.folder / INDEX_FILE)


def is_closed(engine: Engine) -> bool:
    try:
        engine.store.facts()
    except apsw.ConnectionClosedError:
        return True
    return False


def test_searches_run_side_by_side(service: Service) -> None:
    """Each search holds a reader while it waits for the others, so with one shared reader this would hang."""
    meeting = threading.Barrier(MOST_READERS)

    def search(number: int) -> int:
        with service.engines.lend() as engine:
            meeting.wait(20)
            return engine.search(Query(f"function_{number}")).hits[0].start_line

    with ThreadPoolExecutor(MOST_READERS) as threads:
        assert len(list(threads.map(search, range(MOST_READERS)))) == MOST_READERS


def test_readers_share_what_they_remember(service: Service) -> None:
    with service.engines.lend() as one, service.engines.lend() as other:
        assert one is not other
        assert one.store is not other.store
        assert one._names.letters() is other._names.letters()
        assert one.vocabulary.chunks_with({"function"}) is other.vocabulary.chunks_with({"return"})


def test_a_reader_is_used_again(service: Service) -> None:
    with service.engines.lend() as first:
        pass
    with service.engines.lend() as second:
        assert second is first


def test_answers_are_the_same_from_every_thread_while_files_change(service: Service) -> None:
    """Two searches that find the same stale file both index it again, and neither leaves out its hits."""
    requests = [
        SearchRequest(f"function_{number}", path=f"module_{number}.py", detail_level=Detail.RICH)
        for number in range(8)
        for _ in range(3)
    ]
    for version in range(4):
        for number in range(8):
            path = service.root / f"module_{number}.py"
            path.write_text(f"def function_{number}():\n    return 'version {version}'\n" * 5)
        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(lambda request: service.search_view(request).text, requests))
        for request, text in zip(requests, answers, strict=True):
            assert f"\tdef {request.query}():\n2\t    return 'version {version}'" in text
            assert "changing right now" not in text


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files in /proc")
def test_closing_closes_every_reader_and_one_that_is_lent_when_it_comes_back(service: Service) -> None:
    before = open_files(service)
    with service.engines.lend() as lent:
        with service.engines.lend() as one, service.engines.lend() as other:
            assert open_files(service) == before + 3
        service.close()
        assert [is_closed(engine) for engine in (lent, one, other)] == [False, True, True]
    assert is_closed(lent)
    assert open_files(service) == before
    assert service.search_view(SearchRequest("function_7")).page.total
    assert service.clear()
    assert open_files(service) == before


def test_an_index_that_was_replaced_is_noticed_by_every_reader(service: Service) -> None:
    with service.engines.lend() as one, service.engines.lend() as other:
        pass
    set_aside(service.folder)
    Service(service.root, service.settings).index()
    with service.engines.lend() as new:
        assert new not in (one, other)
        # The cached facts belong to the other index, whose generations also started at 1.
        assert new._names._cached is not one._names._cached
    assert is_closed(one)
    assert is_closed(other)


def test_an_error_of_the_index_costs_only_the_reader_that_met_it(service: Service) -> None:
    with service.engines.lend() as kept, pytest.raises(StoreError), service.engines.lend() as broken:
        raise StoreError("the disk is gone")
    with service.engines.lend() as next_one:
        assert next_one is kept
    assert is_closed(broken)


def test_a_mistake_of_the_caller_costs_no_reader(service: Service) -> None:
    with pytest.raises(ZeroDivisionError), service.engines.lend() as engine:
        raise ZeroDivisionError
    with service.engines.lend() as same:
        assert same is engine


def test_connections_send_without_delay() -> None:
    """Without this, the second part of an answer waits for the client to acknowledge the first."""
    listener, _ = listen("127.0.0.1", 0)
    with listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
