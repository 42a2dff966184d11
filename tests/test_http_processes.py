"""HTTP from several processes: connections are spread evenly, and no process outlives or stops the others."""

import http.client
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from served import over_http

from keyhole.core.service import Service

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "index_status", "arguments": {}}}


def children(pid: int) -> list[int]:
    """Return the other serving processes of a server, without multiprocessing's own."""
    found = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [child for child in found if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


@contextmanager
def connected(address: str, authorization: str) -> Iterator[Callable[[], int]]:
    """Make a call on an open connection, and return the HTTP status."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
    headers = {
        "Authorization": authorization,
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
    }

    def ask() -> int:
        connection.request("POST", place.path, json.dumps(CALL), headers)
        response = connection.getresponse()
        response.read()
        return response.status

    yield ask
    connection.close()


def serving(base: Path) -> list[int]:
    """Return the processes that answered the latest calls, from the journal."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEYHOLE_CACHE_DIR", str(base / "cache"))
        return [call.process for call in Service.open(base / "proj").journal_reader().calls(limit=6)]


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds processes in /proc")
def test_connections_are_shared_out_and_a_process_that_dies_takes_none_with_it(base: Path) -> None:
    with over_http(base, "--processes", "2") as (address, authorization, server):
        (beside,) = children(server.pid)
        both = {server.pid, beside}
        agents = [connected(address, authorization) for _ in range(6)]
        asks = [agent.__enter__() for agent in agents]
        assert [ask() for ask in asks] == [200] * 6
        wait_until(lambda: set(serving(base)) <= both and len(serving(base)) == 6)
        assert sorted(serving(base).count(process) for process in both) == [3, 3]
        for agent in agents:
            agent.__exit__(None, None, None)
        os.kill(beside, signal.SIGKILL)
        wait_until(lambda: not children(server.pid))
        for _ in range(4):
            with connected(address, authorization) as ask:
                assert ask() == 200


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_process_stays_behind(base: Path, number: signal.Signals) -> None:
    with over_http(base, "--processes", "2") as (_, _, server):
        (beside,) = children(server.pid)
        server.send_signal(number)
        server.wait(timeout=20)
        wait_until(lambda: not Path(f"/proc/{beside}").exists())
        assert server.stderr is not None
        assert server.stderr.read() == b""
