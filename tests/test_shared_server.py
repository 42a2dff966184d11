"""The shared server: one process for all clients of a user on stdio."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served import HELLO
from sharing_home import Home, Session, is_running, sharing_home, status, until

from keyhole.core.cli.entry import session_request
from keyhole.core.journal.reader import JournalReader
from keyhole.core.sharing import reach_server
from keyhole.core.sharing.reach_server import connect
from keyhole.core.sharing.share_address import ShareAddress
from keyhole.core.sharing.share_wire import STATUS, pack
from keyhole.mcp_server.shared_guardian import _SHORTEST_LIFE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs sockets in folders")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    with sharing_home(tmp_path_factory.mktemp("sharing")) as home:
        yield home


@pytest.fixture(scope="module")
def address(home: Home) -> ShareAddress:
    return home.address


def test_clients_share_one_server_which_tells_them_apart(home: Home, address: ShareAddress) -> None:
    with home.session(name="first") as first, home.session(name="second") as second:
        assert first.greeted["result"]["serverInfo"]["name"] == "keyhole"
        assert "RetryPolicy" in first.call("search_code", query="RetryPolicy")
        assert "RetryPolicy" in second.call("map_file", path="src/retry.py")
        found = status(address)
        assert (found.sessions, found.roots) == (2, (str(home.root),))
    until(lambda: not status(address).sessions)
    folder = next((home.folder / "cache").glob("proj-*"))

    def sessions() -> set[tuple[str, str, str]]:
        calls = JournalReader(folder).calls()
        return {(call.client, call.transport, call.session) for call in calls}

    until(lambda: len(sessions()) == 2)
    assert {(client, transport) for client, transport, _ in sessions()} == {("first", "stdio"), ("second", "stdio")}
    assert len({session for *_, session in sessions()}) == 2


def test_answers_are_those_of_a_server_alone(home: Home) -> None:
    requests: list[tuple[str, dict[str, Any]]] = [
        ("tools/list", {}),
        ("resources/templates/list", {}),
        ("prompts/list", {}),
    ]
    calls = [("map_file", {"path": "src/retry.py"}), ("map_file", {"path": "gone.py"}), ("nothing", {})]
    requests += [("tools/call", {"name": name, "arguments": arguments}) for name, arguments in calls]
    with home.session() as shared, home.session("--no-share") as alone:
        assert shared.greeted == alone.greeted
        for method, parameters in requests:
            assert shared.ask(method, parameters) == alone.ask(method, parameters)
        for line in (b"{broken\n", b"[]\n", b'{"id": 7, "x": "' + b"y" * 2_000_000 + b'"}\n'):
            answers = []
            for client in (shared, alone):
                assert client.process.stdin
                assert client.process.stdout
                client.process.stdin.write(line)
                client.process.stdin.flush()
                answers.append(client.process.stdout.readline())
            assert answers[0] == answers[1]


def test_progress_and_cancelling_pass_through(home: Home) -> None:
    fresh = home.write("fresh", {f"part_{n}.py": f"def f_{n}(): ...\n" for n in range(60)})
    with home.session(str(fresh)) as client:
        asked = {"name": "search_code", "arguments": {"query": "f_7"}, "_meta": {"progressToken": "p"}}
        client.ask("tools/call", asked)
        assert {"notifications/progress"} == {message["method"] for message in client.heard}
        number = client.start("tools/call", {"name": "search_code", "arguments": {"query": "/f_/"}})
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        assert "f_9" in client.call("search_code", query="f_9")


def test_a_killed_server_is_replaced_and_calls_are_answered(home: Home, address: ShareAddress) -> None:
    with home.session() as first, home.session() as second:
        process = status(address).process
        # Its calls can't end, so the kill comes in the middle of them.
        os.kill(process, signal.SIGSTOP)
        asked = [
            client.start("tools/call", {"name": "map_file", "arguments": {"path": "src/retry.py"}})
            for client in (first, second)
        ]
        os.kill(process, signal.SIGKILL)
        for client, number in zip((first, second), asked, strict=True):
            assert "RetryPolicy" in json.dumps(client.answer(number))
            assert "RetryPolicy" in client.call("search_code", query="RetryPolicy")
        found = status(address)
        assert found.sessions == 2
        assert found.process != process
    until(lambda: not status(address).sessions)


def test_the_guardian_replaces_a_killed_server_with_what_it_has_loaded(home: Home, address: ShareAddress) -> None:
    with home.session() as client:
        killed = status(address).process
        guardian = parent_of(killed)
        # A server that ends sooner after its start is not replaced.
        until(lambda: age_of(killed) > _SHORTEST_LIFE)
        os.kill(killed, signal.SIGKILL)
        assert "RetryPolicy" in client.call("map_file", path="src/retry.py")
        server = status(address).process
        assert parent_of(server) == guardian
    with home.session(longest_wait=0) as client:
        # Without its guardian, the next one is started by the client, which takes longer than calls wait.
        os.kill(server, signal.SIGSTOP)
        before = bytes_read(client.process.pid)
        number = client.start("tools/call", {"name": "map_file", "arguments": {"path": "src/retry.py"}})
        until(lambda: bytes_read(client.process.pid) > before)
        time.sleep(0.05)
        os.kill(guardian, signal.SIGKILL)
        os.kill(server, signal.SIGKILL)
        assert "Try again" in client.answer(number)["error"]["message"]
        assert "RetryPolicy" in client.call("map_file", path="src/retry.py")
        assert parent_of(status(address).process) not in (guardian, server)
    until(lambda: not status(address).sessions)


def bytes_read(process: int) -> int:
    return int(Path(f"/proc/{process}/io").read_text().split()[1])


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def age_of(process: int) -> float:
    started = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19])
    return float(Path("/proc/uptime").read_text().split()[0]) - started / os.sysconf("SC_CLK_TCK")


def test_clients_that_start_at_once_start_one_server(home: Home, address: ShareAddress) -> None:
    home.run("mcp", "--stop")
    running = [home.start("mcp") for _ in range(4)]
    clients = [Session(process) for process in running]
    for client in clients:
        client.start("initialize", HELLO["params"])  # type: ignore[arg-type]
    for client in clients:
        client.answer(1)
    assert status(address).sessions == 4
    for client in clients:
        client.close()
        assert client.process.stderr
        assert client.process.stderr.read() == b""
        client.process.stderr.close()
        client.process.stdout.close()  # type: ignore[union-attr]


def test_a_folder_that_cannot_be_opened_is_explained_as_always(home: Home) -> None:
    shared, alone = home.run("mcp", "/nowhere"), home.run("mcp", "/nowhere", "--no-share")
    assert shared == alone
    assert shared[0] == 2


def test_settings_of_one_workspace_stay_there(home: Home) -> None:
    odd = home.write("odd", {"keyhole.toml": "[mcp]\ntools = 'core'\n", "a.py": "def found(): ...\n"})
    with home.session(str(odd)) as other, home.session() as client:
        few, many = (len(session.ask("tools/list", {})["result"]["tools"]) for session in (other, client))
        assert few < many
        assert "found" in other.call("map_file", path="a.py")
        assert "outside the workspace" in client.call("read_file", path="../odd/a.py")


def test_two_hundred_sessions_leave_nothing_behind(home: Home, address: ShareAddress) -> None:
    def visit(count: int) -> tuple[int, int]:
        request = session_request([str(home.root)])
        assert request
        for _ in range(count):
            found = reach_server.ask(address, request, 60)
            assert found
            assert found[0] == b"+"
            found[1].sendall(json.dumps(HELLO).encode() + b"\n")
            assert found[1].recv(1 << 16)
            found[1].close()
        until(lambda: not status(address).sessions)
        proc = Path(f"/proc/{status(address).process}")
        return len(list((proc / "fd").iterdir())), int((proc / "statm").read_text().split()[1])

    with home.session():
        pass
    files, pages = visit(20)
    files_then, pages_then = visit(180)
    assert files_then <= files + 2
    # 10 MB, where 180 servers that stay would take several times as much.
    assert pages_then - pages < 2_560


def test_the_server_stops(home: Home, address: ShareAddress) -> None:
    with home.session():
        process = status(address).process
        guardian = parent_of(process)
    code, _, errors = home.run("mcp", "--stop")
    assert (code, errors) == (0, f"keyhole: stopped the shared server (process {process})\n".encode())
    until(lambda: not is_running(process) and not is_running(guardian))
    assert home.run("mcp", "--stop") == (0, b"", b"keyhole: no shared server is running\n")
    assert connect(address.socket) is None


def test_an_idle_server_ends_and_takes_its_sockets_along(home: Home) -> None:
    code = "from keyhole.mcp_server import shared_server as s; s.IDLE = s.SWEEP = 0.1; s.main()"  # as the module itself
    key = "idle"
    address = ShareAddress(str(home.runtime), key)
    command = [sys.executable, "-P", "-c", code, address.folder, key, "-1"]  # no lock
    done = subprocess.run(command, env=home.variables(), stderr=subprocess.PIPE, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert [path.name for path in home.runtime.iterdir() if path.name.startswith(key)] == []


def test_a_server_that_hangs_does_not_hang_the_client(home: Home, address: ShareAddress) -> None:
    home.run("mcp", "--stop")
    until(lambda: not Path(address.socket).exists())
    silent = socket.socket(socket.AF_UNIX)
    silent.bind(address.socket)
    silent.listen()
    try:
        with home.session(patience=0.2) as client:
            assert "RetryPolicy" in client.call("map_file", path="src/retry.py")
        assert client.errors == b"keyhole: the shared server does not answer; serving this client alone\n"
    finally:
        silent.close()
    # Its socket is still there, but nobody listens: the next client replaces it.
    with home.session():
        assert status(address).sessions == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_cannot_connect(home: Home, address: ShareAddress) -> None:
    code = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
        f"s.sendall({pack([STATUS])!r}); print(s.recv(100).decode())"
    )

    def ask_as_nobody() -> subprocess.CompletedProcess[bytes]:
        command = ["/usr/bin/env", "python3", "-I", "-S", "-c", code, address.socket]
        return subprocess.run(command, user=65534, group=65534, extra_groups=[], capture_output=True, check=False)

    with home.session():
        assert b"PermissionError" in ask_as_nobody().stderr
        # Even if the folders were open: the server asks the system who is there.
        places = [home.runtime, Path(address.folder), Path(address.socket)]
        for place in places:
            place.chmod(0o777)
        done = ask_as_nobody()
        for place in places:
            place.chmod(0o700)
        assert done.stdout.strip() == b""
        assert b"PermissionError" not in done.stderr
