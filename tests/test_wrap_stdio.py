"""keyhole wrap on stdio: bytes pass unchanged, it ends as the server does, and a copy of each call is recorded."""

import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from canaries import text_of

from keyhole.core.index.location import JOURNAL_FILE, index_folder
from keyhole.core.journal.reader import JournalReader
from keyhole.core.journal.wrapped_answers import answer_parts
from keyhole.core.processes import is_running
from keyhole.core.types.calls import Call
from keyhole.core.types.completeness import CallStatus
from keyhole.core.wrap.framing import LONGEST_MESSAGE, CopiedLines, Events, body_stream
from keyhole.core.wrap.server_name import server_name

KEYHOLE = [sys.executable, "-m", "keyhole"]
SERVER = [sys.executable, str(Path(__file__).parent / "wrapped_server.py")]
INITIALIZE = {"clientInfo": {"name": "claude-code", "version": "2.1"}, "protocolVersion": "2025-11-25"}


def request(number: int | str, method: str, **parameters: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}


def call(number: int | str, tool: str = "look", **arguments: object) -> dict[str, object]:
    return request(number, "tools/call", name=tool, arguments=arguments)


def lines(*messages: object) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


class Wrapped:
    """Runs wraps in a folder of their own, and reads what they recorded."""

    def __init__(self, folder: Path) -> None:
        self.root, self.cache = folder / "work", folder / "cache"
        self.root.mkdir()
        self.environment = os.environ | {"KEYHOLE_CACHE_DIR": str(self.cache)}

    def start(self, command: Sequence[str], *options: str) -> "subprocess.Popen[bytes]":
        pipe = subprocess.PIPE
        arguments = [*KEYHOLE, "wrap", *options, "--", *command]
        return subprocess.Popen(arguments, cwd=self.root, env=self.environment, stdin=pipe, stdout=pipe, stderr=pipe)

    def run(self, command: Sequence[str], sent: bytes, *options: str) -> "subprocess.CompletedProcess[bytes]":
        started = self.start(command, *options)
        got, told = started.communicate(sent, timeout=60)
        return subprocess.CompletedProcess(command, started.returncode, got, told)

    @property
    def folder(self) -> Path:
        return index_folder(self.cache, self.root.resolve())

    def calls(self) -> list[Call]:
        return list(JournalReader(self.folder).each())

    def stored(self, number: int) -> str:
        whole = JournalReader(self.folder).whole(number)
        assert whole
        return whole.response


@pytest.fixture
def wrapped(tmp_path: Path) -> Wrapped:
    return Wrapped(tmp_path)


def wait_until(is_so: Callable[[], bool]) -> None:
    for _ in range(600):
        if is_so():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen")


def strange_bytes() -> bytes:
    """Return what no parser likes: other encodings, broken JSON, huge and empty lines, and no line end."""
    chance = random.Random(7)
    parts = [b"\xff\xfe\x00", b"\r\n", b"", b"[" * 5_000, b'{"id":1', b"x" * 300_000, chance.randbytes(100_000)]
    parts += [json.dumps({"jsonrpc": "2.0", "method": "unknown/thing", "id": None}).encode(), b"\n\n"]
    parts += [chance.randbytes(chance.randrange(200)) for _ in range(2_000)]
    return b"\n".join(parts) + b"no end"


def test_every_byte_passes_in_both_directions(wrapped: Wrapped) -> None:
    sent = strange_bytes()
    done = wrapped.run(["cat"], sent)
    assert done.stdout == sent
    assert (done.returncode, done.stderr) == (0, b"")


def test_exit_code_and_errors_of_the_server_reach_the_client(wrapped: Wrapped) -> None:
    done = wrapped.run(SERVER, lines(request(1, "ping")), "--no-journal")
    assert (done.returncode, done.stderr) == (7, b"bye\n")
    assert json.loads(done.stdout)["error"]["message"] == "no method ping"
    killed = wrapped.run(SERVER, lines(call(1, dies=True)), "--no-journal")
    assert killed.returncode == -signal.SIGKILL
    missing = wrapped.run(["no-such-server"], b"")
    assert missing.returncode == 127
    assert b"cannot start no-such-server" in missing.stderr


def test_calls_are_recorded_with_secrets_masked(wrapped: Wrapped) -> None:
    secret = "gh" + "p_" + text_of(36)
    sent = lines(
        request(1, "initialize", **INITIALIZE),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request("1", "tools/list"),
        call(2, text=f"the token {secret}\n", structured={"token": secret}),
        call(3, fails=True),
        call(4, image="A" * 5_000),
        call(5, waits=True),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}},
        request(6, "nonsense"),
        request(7, "ping"),
    )
    done = wrapped.run(SERVER, sent, "--name", "small")
    assert secret.encode() in done.stdout
    calls = wrapped.calls()
    assert {(each.server, each.transport, each.client) for each in calls} == {("small", "stdio", "claude-code")}
    statuses = [(each.tool, each.status) for each in calls]
    ok, failed = CallStatus.COMPLETE, CallStatus.ERROR
    names = [("initialize", ok), ("tools/list", ok), ("look", ok), ("look", failed), ("look", ok)]
    assert statuses == [*names, ("look", CallStatus.CANCELLED), ("nonsense", failed)]
    assert [each.problem for each in calls if each.status == failed] == ["It failed.", "no method nonsense"]
    assert secret not in "".join(wrapped.stored(each.id) + each.arguments for each in calls)
    answer = answer_parts(wrapped.stored(3))
    assert answer.text == "the token [secret: github-token]\n"
    assert answer.structured == {"token": "[secret: github-token]"}
    assert "AAAA" not in wrapped.stored(5)
    assert stat.S_IMODE((wrapped.folder / JOURNAL_FILE).stat().st_mode) == 0o600
    [known] = JournalReader(wrapped.folder).servers()
    assert (known.name, known.command, known.folder) == ("small", tuple(SERVER), str(wrapped.root.resolve()))


def test_calls_pass_if_they_cannot_be_recorded(wrapped: Wrapped) -> None:
    wrapped.cache.write_text("a file where the folder should be")
    done = wrapped.run(SERVER, lines(call(1, text="hello")))
    assert json.loads(done.stdout)["result"]["content"][0]["text"] == "hello"
    assert done.returncode == 7
    assert b"not recorded" in done.stderr


@pytest.mark.parametrize("way", ["signal", "no reader"])
def test_nothing_of_a_stubborn_server_is_left(wrapped: Wrapped, way: str) -> None:
    with wrapped.start([*SERVER, "stubborn"], "--no-journal") as started:
        assert started.stdout
        pids = json.loads(started.stdout.readline())["pids"]
        if way == "signal":
            started.send_signal(signal.SIGTERM)
            started.stdout.read()
        else:
            started.stdout.close()
    assert started.returncode == -signal.SIGKILL
    wait_until(lambda: not any(map(is_running, pids)))


def test_starting_imports_nothing_slow() -> None:
    code = "import sys; import keyhole.core.cli.entry, keyhole.core.wrap.run_wrap; print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert not loaded & {"click", "fastmcp", "mcp", "pydantic", "apsw", "json", "http", "platformdirs", "asyncio"}


def test_a_gap_or_a_long_line_costs_only_that_line() -> None:
    found: list[bytes] = []
    copied = CopiedLines(lambda line, _: found.append(line))
    copied.feed(b"one\ntw", 0)
    copied.gap()
    copied.feed(b"o\nthree\n", 0)
    for _ in range(LONGEST_MESSAGE // 1_000_000 + 1):
        copied.feed(b"x" * 1_000_000, 0)
    copied.feed(b"\nfour", 0)
    copied.end(0)
    assert found == [b"one", b"three", b"four"]


def test_events_are_found_whatever_ends_their_lines() -> None:
    text = b": hi\r\n\r\nevent: message\r\nid: 1\r\ndata: {\r\ndata: }\r\n\r\ndata:a\n\ndata: b\r\rid: 2\n\ndata: lost"
    for size in (1, 2, 7, 1_000):
        found: list[bytes] = []
        events = Events(lambda data, _, kept=found: kept.append(data))  # type: ignore[misc]
        for start in range(0, len(text), size):
            events.feed(text[start : start + size], 0)
        events.end(0)
        assert found == [b"{\n}", b"a", b"b"], size
    assert body_stream("text/html", "", lambda *_: None) is None
    assert body_stream("application/json", "br", lambda *_: None) is None


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("npx -y @modelcontextprotocol/server-filesystem@2026.1 /tmp", "server-filesystem"),
        ("uvx mcp-server-git==1.0 --repository .", "mcp-server-git"),
        ("uv run my-server --verbose", "my-server"),
        ("node /opt/github-mcp/dist/index.js", "github-mcp"),
        ("/usr/bin/python3.11 -m my_server", "my_server"),
        ("docker run -i --rm ghcr.io/github/github-mcp-server", "github-mcp-server"),
        ("https://api.example.com/mcp", "api.example.com"),
        ("npx", "npx"),
    ],
)
def test_a_server_gets_a_telling_name(command: str, name: str) -> None:
    assert server_name(command.split()) == name
