"""The shared server: one process for all clients of a user, behind `keyhole mcp` and the command line."""

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from served import HELLO

from keyhole.core import turns
from keyhole.core.cli.entry import session_request
from keyhole.core.cli.main import cli
from keyhole.core.journal.reader import JournalReader
from keyhole.core.service import Service
from keyhole.core.sharing import reach_server, share_address
from keyhole.core.sharing.reach_server import ServerStart, connect, connect_loopback
from keyhole.core.sharing.remote_command import SHARED_COMMANDS
from keyhole.core.sharing.share_address import VERSION, ShareAddress, UnsharedError, find_address, user_file_path
from keyhole.core.sharing.share_wire import SESSION, STATUS, pack
from keyhole.core.sharing.shared_status import SharedStatus, shared_status
from keyhole.core.sharing.unanswered import Unanswered
from keyhole.core.user_file import user_file
from keyhole.mcp_server.open_workspaces import OpenWorkspaces
from keyhole.mcp_server.shared_listener import SharedSocket, serve_connections

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs sockets in folders")

# The console script, with so much patience that a busy machine does not matter.
ENTRY = (
    "import sys; from keyhole.core.sharing import reach_server, remote_command; reach_server.PATIENCE = {}\n"
    "remote_command._PATIENCE = {}\n"
    "from keyhole.core.cli.entry import main; main()"
)
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Home:
    """A user with a workspace, a cache and a folder for sockets."""

    def __init__(self, folder: Path, runtime: Path) -> None:
        self.folder = folder
        self.runtime = runtime
        self.root = self.write("proj", {"src/retry.py": "class RetryPolicy:\n    def delay(self): ...\n"})
        for number in range(20):
            (self.root / f"src/part_{number}.py").write_text(f"def weigh_{number}(total):\n    return total\n")

    def write(self, name: str, files: dict[str, str]) -> Path:
        for path, text in files.items():
            (self.folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name / path).write_text(text)
        return self.folder / name

    def variables(self, **more: str) -> dict[str, str]:
        own = {"HOME": self.folder, "XDG_RUNTIME_DIR": self.runtime, "KEYHOLE_CACHE_DIR": self.folder / "cache"}
        return {
            "PATH": os.environ["PATH"],
            "KEYHOLE_INDEX_MODEL": "none",
            **{k: str(v) for k, v in own.items()},
            **more,
        }

    def start(self, *arguments: str, patience: float = 60, **more: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-c", ENTRY.format(patience, patience), *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, cwd=self.root, env=self.variables(**more), stdin=pipe, stdout=pipe, stderr=pipe
        )

    def run(self, *arguments: str, patience: float = 60, **more: str) -> tuple[int, bytes, bytes]:
        with self.start(*arguments, patience=patience, **more) as process:
            output, errors = process.communicate(timeout=60)
        return process.returncode, output, errors

    @contextmanager
    def session(self, *arguments: str, name: str = "test", patience: float = 60) -> Iterator["Session"]:
        with self.start("mcp", *arguments, patience=patience) as process:
            client = Session(process)
            hello = {**HELLO["params"], "clientInfo": {"name": name, "version": "1"}}  # type: ignore[dict-item]
            client.greeted = client.ask("initialize", hello)
            client.send(INITIALIZED)
            yield client
            client.close()
            assert process.stderr
            client.errors = process.stderr.read()

    @property
    def address(self) -> ShareAddress:
        """Where the server of this user is, as a program of this user computes it."""
        code = "from keyhole.core.sharing.share_address import find_address as f; print(f().folder, f().key)"
        command = [sys.executable, "-P", "-c", code]
        found = subprocess.run(command, env=self.variables(), capture_output=True, text=True, check=True).stdout.split()
        return ShareAddress(*found)


class Session:
    """A client on stdio."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.number = 0
        self.greeted: dict[str, Any] = {}
        self.heard: list[dict[str, Any]] = []
        self.errors = b""

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def start(self, method: str, parameters: dict[str, Any]) -> int:
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters})
        return self.number

    def answer(self, number: int) -> dict[str, Any]:
        assert self.process.stdout
        while line := self.process.stdout.readline():
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == number:
                return message
            self.heard.append(message)
        raise AssertionError("the server ended")

    def ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        return self.answer(self.start(method, parameters))

    def call(self, tool: str, **arguments: object) -> str:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return str(result["content"][0]["text"])

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(30)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    runtime = Path(tempfile.mkdtemp(prefix="kh", dir="/tmp"))
    made = Home(tmp_path_factory.mktemp("sharing"), runtime)
    yield made
    made.run("mcp", "--stop")
    shutil.rmtree(runtime)


@pytest.fixture(scope="module")
def address(home: Home) -> ShareAddress:
    return home.address


def status(address: ShareAddress) -> SharedStatus:
    found = shared_status(address)
    assert found
    return found


def until(is_true: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, "it never became true"
        time.sleep(0.01)


def is_running(process: int) -> bool:
    """Whether a process runs; one that has ended but was not waited for does not."""
    with_state = Path(f"/proc/{process}/stat")
    return with_state.exists() and with_state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_facts_with_two_homes_agree(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert version("keyhole") == VERSION
    assert set(cli.commands) > SHARED_COMMANDS
    assert Path(user_file_path()) == user_file()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert Path(user_file_path()) == user_file()


def test_the_entry_imports_almost_nothing() -> None:
    code = (
        "import sys; before = set(sys.modules); import keyhole.core.cli.entry as e\n"
        "from keyhole.core.sharing import reach_server, relay, share_address; share_address.find_address()\n"
        "e.session_request(['.']); print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if not name.startswith("keyhole")}
    assert loaded <= {"_socket", "_blake2", "__future__"}


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


def test_commands_print_the_same_bytes(home: Home) -> None:
    with home.session():
        # The first command starts the runner.
        home.run("search", "RetryPolicy")
        for command in (
            ["search", "RetryPolicy"],
            ["search", "RetryPolicy", "--json"],
            ["search", "nothing-like-it", "--mode", "symbol"],
            ["map", "src/retry.py"],
            ["read", "src/retry.py", "src/part_1.py"],
            ["refs", "RetryPolicy"],
            ["tree"],
            ["map", "gone.py"],
            ["search", "/(/"],
            ["search", "--limit", "x"],
            ["map", "retry.py", "--root", "src"],
        ):
            shared, alone = home.run(*command), home.run(*command, KEYHOLE_SHARE="0")
            assert _without_times(shared) == _without_times(alone), command


def _without_times(result: tuple[int, bytes, bytes]) -> tuple[int, bytes, bytes]:
    return result[0], re.sub(rb'"latency_\w+": [\d.e+-]+', b"", result[1]), result[2]


def test_a_command_runs_where_it_was_called(home: Home) -> None:
    code = (
        "import sys; from keyhole.core.sharing import remote_command as r, share_address as a\n"
        "r._PATIENCE = 60; sys.exit(r.run_remotely(a.find_address(), sys.argv[1:]))"
    )
    with home.session():
        for folder, text in (("src", b"class RetryPolicy"), (".", b"")):
            done = subprocess.run(
                [sys.executable, "-P", "-c", code, "map", "retry.py"],
                cwd=home.root / folder,
                env=home.variables(COLUMNS="50"),
                capture_output=True,
                check=False,
            )
            assert text in done.stdout
            assert done.returncode == (0 if text else 2), done.stderr
        piped = subprocess.run(
            f"{sys.executable} -P -c '{code}' tree | head -1",
            shell=True,
            cwd=home.root,
            env=home.variables(),
            capture_output=True,
            check=False,
        )
        assert piped.stderr == b""
        assert piped.stdout.count(b"\n") == 1


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


def test_a_workspace_cannot_decide_whether_to_share(home: Home) -> None:
    from keyhole.core.config import load_settings
    from keyhole.core.errors import ConfigError

    own = home.write("own", {"keyhole.toml": "share = false\n"})
    with pytest.raises(ConfigError, match="share"):
        load_settings(own)


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
    code, _, errors = home.run("mcp", "--stop")
    assert (code, errors) == (0, f"keyhole: stopped the shared server (process {process})\n".encode())
    until(lambda: not is_running(process))
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


def test_beside_a_newer_server_an_older_client_is_served_alone() -> None:
    runtime = Path(tempfile.mkdtemp(prefix="kh", dir="/tmp"))
    try:
        ours, newer = ShareAddress(str(runtime), "key", "0.9.0"), ShareAddress(str(runtime), "key", "0.10.0")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(newer.socket)
            assert [found.version for found in ours.newer()] == ["0.10.0"]
            assert newer.newer() == []
            listener.listen()
            start = ServerStart(ours)
            start.try_once()
            with pytest.raises(UnsharedError, match=r"0\.10\.0 runs"):
                start.try_once()
            start.release()
    finally:
        shutil.rmtree(runtime)


def test_only_a_folder_of_ones_own_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    base = Path(tempfile.mkdtemp(prefix="kh", dir="/tmp"))
    try:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(base))
        assert Path(find_address().folder) == base / "keyhole"
        assert (base / "keyhole").stat().st_mode & 0o777 == 0o700
        (base / "keyhole").chmod(0o755)
        assert base not in Path(find_address().folder).parents
        (base / "keyhole").rmdir()
        (base / "keyhole").symlink_to(base)
        assert base not in Path(find_address().folder).parents
        (base / "keyhole").unlink()
        base.chmod(0o777)
        assert base not in Path(find_address().folder).parents
        base.chmod(0o700)
        deep = base / ("d" * 60) / ("e" * 60)
        deep.mkdir(parents=True)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
        assert len(os.fsencode(find_address().socket)) < 104
    finally:
        shutil.rmtree(base)


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


def test_on_the_loopback_address_both_sides_know_a_token(tmp_path: Path) -> None:
    path = tmp_path / "port"
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readline())
        writer.write(b"answer\n")
        writer.close()

    def talk() -> bytes:
        connection = connect_loopback(str(path))
        assert connection
        connection.sendall(b"question\n")
        answer = connection.recv(100)
        connection.close()
        return answer

    async def run() -> None:
        place = SharedSocket(str(path), uses_loopback=True)
        async with serve_connections(place, serve):
            assert path.stat().st_mode & 0o777 == 0o600
            assert await asyncio.to_thread(talk) == b"answer\n"
            port, ours, theirs = path.read_text().split()
            path.write_text(f"{port} {theirs} {ours}")
            assert await asyncio.to_thread(connect_loopback, str(path)) is None
            place.give_up()
        assert not place.is_ours()

    asyncio.run(run())
    assert heard == [b"question\n"]


def test_idle_workspaces_are_closed(home: Home) -> None:
    workspaces = OpenWorkspaces()
    flags: dict[str, object] = {"cache_dir": home.folder / "cache-of-idle", "index.model": "none"}
    with workspaces.lend(home.root, force=False, flags=flags) as first:
        with workspaces.lend(home.root, force=False, flags=flags) as second:
            assert first is second
        assert isinstance(first.service, Service)
        workspaces.close_idle(0)
        assert workspaces.roots() == [home.root]
    workspaces.close_idle(1_000)
    assert workspaces.roots() == [home.root]
    workspaces.close_idle(0)
    assert workspaces.roots() == []


def test_a_long_call_pauses_for_a_short_one_of_another_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_QUANTUM", 0)
    monkeypatch.setattr(turns, "_LONGEST_PAUSE", 60)
    order: list[str] = []
    is_short_started, is_long_at_work = threading.Event(), threading.Event()

    def long() -> None:
        with turns.taking_turns("a"):
            is_long_at_work.set()
            is_short_started.wait()
            turns.give_way()
            order.append("long")

    thread = threading.Thread(target=long)
    thread.start()
    is_long_at_work.wait()
    with turns.taking_turns("b"):
        is_short_started.set()
        time.sleep(0.05)
        turns.give_way()
        order.append("short")
    thread.join()
    assert order == ["short", "long"]
    with turns.taking_turns("a"), turns.taking_turns("a"):
        turns.give_way()


def test_what_was_not_answered_is_asked_again() -> None:
    def line(**message: object) -> bytes:
        return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"

    hello, ready = line(id=0, method="initialize"), line(method="notifications/initialized")
    one, two, three = (line(id=number, method="tools/call") for number in (1, "two", 3))
    kept = Unanswered()
    kept.add(hello)
    assert kept.to_repeat() == ([], hello)
    kept.remove(b'{"jsonrpc":"2.0","id":0,"result":{}}\n')
    kept.add(ready + one + two[:9])
    kept.add(two[9:] + three + b"{half")
    kept.remove(b'{"jsonrpc":"2.0","method":"x"}\n{"jsonrpc":"2.0","id":"two","error":{}}\n')
    assert kept.to_repeat() == ([hello, ready], one + three + b"{half")
    kept.add(b"\n" + line(method="notifications/cancelled", params={"requestId": 3}) + b"x" * 3_000_000)
    assert kept.to_repeat()[1].startswith(one + b"x")
    assert len(kept.to_repeat()[1]) < 1_100_000


def test_the_key_depends_on_settings_but_not_on_the_token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    before = share_address.settings_key()
    monkeypatch.setenv("KEYHOLE_TOKEN", "secret")
    assert share_address.settings_key() == before
    (tmp_path / "keyhole").mkdir()
    (tmp_path / "keyhole/config.toml").write_text("share = false\n")
    changed = share_address.settings_key()
    assert changed != before
    monkeypatch.setenv("KEYHOLE_VIEW_MAX_TOKENS", "3000")
    assert share_address.settings_key() not in (before, changed)
    monkeypatch.delenv("KEYHOLE_SHARE")
    assert not share_address.is_share_wanted()
    monkeypatch.setenv("KEYHOLE_SHARE", "1")
    assert share_address.is_share_wanted()


@pytest.mark.parametrize(
    ("arguments", "rest"),
    [
        (["a"], [b""]),
        (["--tools", "core", "a", "--no-journal"], [b"core", b"--no-journal"]),
        (["a", "--tools=all", "--force"], [b"all", b"--force"]),
        (["a", "b"], None),
        (["a", "--http"], None),
        (["a", "--no-share"], None),
        (["a", "--tools"], None),
        (["a", "--tools="], None),
        (["a", "--tools", "few"], None),
    ],
)
def test_options_that_the_server_does_not_know_are_left_to_the_command_line(
    arguments: list[str], rest: list[bytes] | None
) -> None:
    expected = None if rest is None else [SESSION, os.fsencode(Path.cwd() / "a"), *rest]
    assert session_request(arguments) == expected
