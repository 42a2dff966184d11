"""The server as a process: on stdio and HTTP, with old and new protocol versions, from start to clean exit."""

import json
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from served import ERAS, HELLO, call, environment, http_client, over_http, over_stdio, start

from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.lock import writer_lock
from keyhole.core.index.store import Store
from keyhole.core.listening import is_loopback
from keyhole.core.service import Service
from keyhole.core.types.view_requests import SearchRequest
from keyhole.mcp_server import tool_texts
from keyhole.mcp_server.run_server import connect_text
from keyhole.mcp_server.server import build_server

pytestmark = pytest.mark.anyio


# Real processes on stdio


@pytest.mark.parametrize("era", ERAS)
async def test_stdio_in_both_eras(base: Path, service: Service, era: str) -> None:
    async with over_stdio(base, era=era) as client:
        text, _ = await call(client, "search_code", query="RetryPolicy")
        assert [tool.name for tool in await client.list_tools()] == list(tool_texts.TOOLS)
    assert text == service.search_view(SearchRequest("RetryPolicy")).text
    # The journal is complete after the client disconnects, although the process exits immediately.
    newest = service.journal_reader().calls(limit=1)[0]
    assert (newest.transport, newest.status, newest.client) == ("stdio", "complete", "mcp")
    whole = service.journal_reader().whole(newest.id)
    assert whole is not None
    assert whole.response == text


async def test_a_first_search_indexes_with_progress(base: Path, tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"module_{number}.py").write_text(f"def function_{number}():\n    return {number}\n" * 40)
    told: list[str] = []

    async def hear(_: float, __: float | None, message: str | None) -> None:
        told.append(message or "")

    # On a busy machine, indexing takes longer than a first search waits, so wait for it here.
    patient = (
        "import keyhole.mcp_server.freshness as freshness; freshness.FIRST_PATIENCE = 300; "
        "from keyhole.core.cli.main import main; main()"
    )
    transport = StdioTransport(
        sys.executable,
        ["-c", patient, "mcp", str(tmp_path)],
        env={**environment(base), "KEYHOLE_CACHE_DIR": str(tmp_path.parent / "cache-of-first")},
        keep_alive=False,
        log_file=base / "log.txt",
    )
    async with Client(transport) as client:
        result = await client.call_tool_mcp("search_code", {"query": "function_7"}, progress_handler=hear)
    assert "module_7.py" in result.content[0].text
    assert any(re.fullmatch(r"indexing: [\d,]+ of 300 files", message) for message in told)


async def test_a_slow_index_is_not_waited_for(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(base / "slow"))
    monkeypatch.setattr("keyhole.mcp_server.freshness.FIRST_PATIENCE", 0.3)
    (tmp_path / "one.py").write_text("def one(): ...\n")
    service = Service.open(tmp_path)
    service.index()
    going_on = threading.Event()

    def slow(**_: Any) -> None:
        with writer_lock(service.folder, wait=False):
            with Store(service.folder / INDEX_FILE) as store:
                store.announce(pending=41, total=1_200)
            going_on.wait(10)

    monkeypatch.setattr(service, "index", slow)
    async with Client(build_server(service)) as client:
        text, is_error = await call(client, "search_code", query="one")
        empty, _ = await call(client, "search_code", query="two", mode="keyword")
        broken, _ = await call(client, "find_broken_links")
        unknown, is_unknown = await call(client, "get_links", path="two.py")
        of_kind, _ = await call(client, "search_code", query="one", kind="class")
        going_on.set()
    assert not is_error
    progress = "the index is being built, 1,159 of 1,200 files so far"
    assert empty == f"Nothing found yet: {progress}.\n"
    assert broken == f"Nothing found yet: {progress}.\n"
    assert is_unknown
    later = f"{progress}; try again in a few seconds; index_status shows the progress"
    assert unknown == f"two.py is not an indexed file, so its links are unknown: {later}"
    assert of_kind == f"the index has no symbols of kind 'class': {later}"
    assert "Note: the index is being built, 1,159 of 1,200 files so far.\n" in text
    assert "one.py:1" in text


async def test_a_search_without_any_index_says_to_try_again(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(base / "none"))
    monkeypatch.setattr("keyhole.mcp_server.freshness.FIRST_PATIENCE", 0.1)
    service = Service.open(tmp_path)
    going_on = threading.Event()
    monkeypatch.setattr(service, "index", lambda **_: going_on.wait(10))
    async with Client(build_server(service)) as client:
        answer = await call(client, "search_code", query="one")
        going_on.set()
    assert answer == ("the index is being built; try again in a few seconds; index_status shows the progress", True)


async def test_an_index_that_cannot_be_built_is_not_called_under_way(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(base / "broken"))
    service = Service.open(tmp_path)

    def fail(**_: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(service, "index", fail)
    async with Client(build_server(service)) as client:
        answer = await call(client, "search_code", query="one")
    assert answer == ("the index could not be built; the log of the server says why", True)


def greet(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(HELLO).encode() + b"\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    assert isinstance(answer, dict)
    return answer


@pytest.mark.parametrize("end", ["eof", signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_clean_end(base: Path, end: str | signal.Signals) -> None:
    process = start(base)
    answer = greet(process)
    assert answer["result"]["serverInfo"]["name"] == "keyhole"
    if isinstance(end, signal.Signals):
        process.send_signal(end)
    rest, log = process.communicate(timeout=20)
    assert (rest, process.returncode) == (b"", 0)
    assert b"Traceback" not in log


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to see child processes")
@pytest.mark.parametrize("end", ["eof", signal.SIGTERM])
async def test_no_process_is_left_behind(base: Path, tmp_path: Path, end: str | signal.Signals) -> None:
    for number in range(800):
        (tmp_path / f"module_{number}.py").write_text(f"def function_{number}():\n    return {number}\n" * 600)
    process = start(base, str(tmp_path))
    greet(process)
    assert process.stdin is not None
    call_ = {"name": "search_code", "arguments": {"query": "function_7"}}
    for message in (
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call_},
    ):
        process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not (children := children_of(process)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert children, "the index was built without workers, so the test tests nothing"
    if isinstance(end, signal.Signals):
        process.send_signal(end)
    process.communicate(timeout=20)
    assert process.returncode == 0
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{child}").exists() for child in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [child for child in children if Path(f"/proc/{child}").exists()]


def children_of(process: subprocess.Popen[bytes]) -> list[str]:
    """Return the child processes of all threads of a process."""
    threads = Path(f"/proc/{process.pid}/task").iterdir()
    return [child for thread in threads for child in (thread / "children").read_text().split()]


async def test_initialize_comes_before_any_index(base: Path, tmp_path: Path) -> None:
    process = start(base, str(tmp_path))
    greet(process)
    cache = [path.name for path in (base / "cache").iterdir()]
    process.communicate(timeout=20)
    assert not any(tmp_path.name in name for name in cache)


# Real processes on HTTP


async def test_http_in_both_eras_with_a_token(base: Path, service: Service) -> None:
    begun = time.time()
    with over_http(base) as (address, authorization, process):
        assert re.fullmatch(r"Bearer [\w-]{20,}", authorization)
        for era in ERAS:
            async with http_client(address, authorization, era) as client:
                text, _ = await call(client, "search_code", query="RetryPolicy")
                assert text == service.search_view(SearchRequest("RetryPolicy")).text
        for headers, status in [
            ({}, 401),
            ({"Authorization": "Bearer wrong"}, 401),
            ({"Authorization": authorization, "Host": "evil.example"}, 421),
            ({"Authorization": authorization, "Origin": "http://evil.example"}, 403),
        ]:
            assert httpx2.post(address, json=HELLO, headers=headers).status_code == status, headers
        large = httpx2.post(address, content=b" " * 5_000_000, headers={"Authorization": authorization})
        assert large.status_code == 413
        process.send_signal(signal.SIGTERM)
        rest, log = process.communicate(timeout=20)
        assert process.returncode == 0
        token = authorization.removeprefix("Bearer ").encode()
        assert token not in rest + log
    # One of the calls may belong to another process, which ends after the first.
    for _ in range(100):
        recorded = [call for call in service.journal_reader().each(since=begun) if call.status != "pending"]
        if len(recorded) == 2:
            break
        time.sleep(0.1)
    assert [(call.transport, call.tool, call.status) for call in recorded] == [("http", "search_code", "complete")] * 2
    assert all(call.client not in ("", "unknown") for call in recorded)
    assert token not in b"".join(path.read_bytes() for path in service.folder.glob("journal*"))


async def test_http_without_a_token_on_this_machine_only(base: Path) -> None:
    with over_http(base, "--no-token") as (address, authorization, _):
        assert authorization == ""
        async with http_client(address, "") as client:
            assert not (await call(client, "search_code", query="RetryPolicy"))[1]
    done = start(base, "--http", "--host", "0.0.0.0", "--no-token")
    _, log = done.communicate(timeout=20)
    assert done.returncode == 2
    assert b"refusing to serve on 0.0.0.0 without a token" in log


def test_which_hosts_are_loopback() -> None:
    assert all(map(is_loopback, ["127.0.0.1", "127.9.9.9", "::1", "localhost"]))
    assert not any(map(is_loopback, ["0.0.0.0", "192.168.1.2", "::", "example.org", "localhost.evil.example"]))


def test_what_to_paste(check_golden: Any) -> None:
    check_golden("mcp-connect.txt", connect_text("http://127.0.0.1:7777/mcp", "TOKEN") + "\n")
