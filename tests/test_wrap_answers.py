"""Asking servers (keyhole cost, replay), what clients deliver of their answers, and their figures."""

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner
from recorded_wraps import ISSUES, record_wrapped
from wrapped_server import INSTRUCTIONS, result

from keyhole.core.cli.main import cli
from keyhole.core.clients import profiles
from keyhole.core.delivery import ToolResult, deliver_result
from keyhole.core.errors import ServerError
from keyhole.core.service import Service
from keyhole.core.types.calls import WrappedServer
from keyhole.core.wrap.client_deliveries import default_client, deliveries_text, lost_lines
from keyhole.core.wrap.recorded_tools import declared_size, is_read_only, recorded_instructions, recorded_tools
from keyhole.core.wrap.replay_call import _transport, replay_call
from keyhole.core.wrap.server_address import ServerAddress
from keyhole.core.wrap.server_process import ServerProcess
from keyhole.core.wrap.server_session import connected
from keyhole.core.wrap.server_statistics import ServerCounter, server_facts, servers_text

SERVER = [sys.executable, str(Path(__file__).parent / "wrapped_server.py")]


@pytest.fixture
def service(unasked_service: Service) -> Service:
    record_wrapped(unasked_service, SERVER)
    return unasked_service


def test_cost_of_a_server_for_each_client() -> None:
    done = CliRunner().invoke(cli, ["cost", "--json", "--name", "small", "--", *SERVER])
    assert done.exit_code == 0, done.output
    facts = json.loads(done.output)
    # Its list has two pages, and the longest description is first.
    assert [tool["name"] for tool in facts["tools"]] == ["look", "write"]
    assert facts["instructions_characters"] == len(INSTRUCTIONS)
    assert {client["client"] for client in facts["clients"]} == set(profiles())
    for client in facts["clients"]:
        tokens = sum(tool["tokens"][client["client"]] for tool in facts["tools"])
        assert client["total"] == tokens + client["instructions"] > client["instructions"] > 0


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["no-such-program"], "cannot start no-such-program"),
        ([sys.executable, "-c", "import sys; sys.exit('no token given')"], "ended with exit code 1: no token given"),
        (["http://127.0.0.1:9/mcp"], "cannot reach http://127.0.0.1:9/mcp"),
    ],
)
def test_a_server_that_does_not_answer_is_an_error_with_its_last_words(command: list[str], told: str) -> None:
    done = CliRunner().invoke(cli, ["cost", "--", *command])
    assert told in str(done.exception)


class _Address(BaseHTTPRequestHandler):
    """The same server over HTTP: its list comes as events, after a question to the client, all else as JSON."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None: ...

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("Authorization") != "Bearer own":
            self.send_error(401)
            return
        if "method" not in message or "id" not in message:
            self._send(202, "text/plain", b"")
            return
        answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], **result(message)}).encode()
        if message["method"] == "tools/list":
            answer = b'data: {"jsonrpc":"2.0","id":"q","method":"ping"}\n\ndata: ' + answer + b"\n\n"
        self._send(200, "text/event-stream" if message["method"] == "tools/list" else "application/json", answer)

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Mcp-Session-Id", "one")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_DELETE(self) -> None:
        self._send(200, "text/plain", b"")


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Address)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/mcp"
    server.shutdown()
    server.server_close()


def test_a_server_with_an_address_is_asked_with_headers(address: str) -> None:
    with connected(ServerAddress(address, {"Authorization": "Bearer own"})) as session:
        assert [tool["name"] for tool in session.tools()] == ["look", "write"]
        assert (session.title, session.instructions) == ("small 1", INSTRUCTIONS)
    with (
        pytest.raises(ServerError, match=r"refused access \(HTTP 401\); give a token with --header"),
        connected(ServerAddress(address)),
    ):
        pass


def test_a_replay_starts_the_server_again(service: Service) -> None:
    reader = service.journal_reader()
    calls = {call.id: call for call in reader.each()}
    tools = recorded_tools(reader, "github")
    assert sorted(tools) == ["create_issue", "search_issues"]
    assert recorded_instructions(reader, "github") == "Search before you open an issue."
    assert [is_read_only(call, tools) for call in calls.values()] == [True, True, True, False, True]
    assert {declared_size(call, tools) for call in calls.values()} == {0}
    answer = json.loads(replay_call(reader, service.root, calls[5], {"text": "now", "size": 2}))
    assert answer["content"] == [{"type": "text", "text": "nowxx"}]
    assert "tools" in json.loads(replay_call(reader, service.root, calls[2], {}))
    secret = WrappedServer("s", ("x", "--token", "[secret: github-token]"), folder=str(service.root))
    with pytest.raises(ServerError, match="started with a secret"):
        _transport(secret, service.root)
    with pytest.raises(ServerError, match="no longer exists"):
        _transport(WrappedServer("s", ("x",), folder="/no/such/folder"), service.root)
    reader.close()


def test_the_server_ends_with_its_process_group(tmp_path: Path) -> None:
    process = ServerProcess([*SERVER, "stubborn"], tmp_path)
    pids = process.receive(20)["pids"]
    process.close()
    # The group is killed, so its leader is gone at once.
    assert not Path(f"/proc/{pids[0]}").exists()


def test_figures_of_a_wrapped_server(service: Service) -> None:
    reader, counter = service.journal_reader(), ServerCounter()
    [figures] = counter.count(reader)
    assert [(tool.tool, tool.calls) for tool in figures.tools][:1] == [("search_issues", 2)]
    assert server_facts(figures)["tools"][0]["over_limit"]["claude"] == 1  # type: ignore[index]
    assert figures.tools[0].shares()[0] == 0.5
    assert counter.count(reader) == [figures]
    assert "50%" in servers_text([figures])
    assert servers_text([]) == ""
    reader.close()


def test_what_is_lost_is_marked_and_nothing_else() -> None:
    answer = "\n".join(ISSUES)
    for name in ("claude", "codex", "copilot", "gemini", "opencode", "qwen"):
        delivery = deliver_result(ToolResult((answer,)), profiles()[name], declared_chars=0)
        lost = lost_lines(answer, delivery)
        kept = [line for line in ISSUES if line not in lost]
        assert len(lost) > 100
        assert kept
        assert all(line in delivery.text or json.dumps(line)[1:-1] in delivery.text for line in kept), name
    assert lost_lines("short", deliver_result(ToolResult(("short",)), profiles()["claude"])) == []


def test_structured_content_and_unknown_clients_are_explained() -> None:
    result = ToolResult(("text",), {"a": 1})
    assert "instead of the text" in deliveries_text(result, 0, profiles()["claude"])
    assert "does not show the structured content" in deliveries_text(result, 0, profiles()["gemini"])
    assert default_client(ToolResult(("x" * 60_000,)), 0, profiles()["raw"]).id == "claude"
    assert default_client(ToolResult(("x",)), 0, profiles()["raw"]).id == "raw"
