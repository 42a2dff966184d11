"""keyhole wrap with an address: bodies and events pass byte for byte, and a copy of each call is recorded."""

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from keyhole.core.index.location import index_folder
from keyhole.core.journal.reader import JournalReader
from keyhole.core.types.calls import Call
from keyhole.core.types.completeness import CallStatus
from keyhole.core.wrap.http_pump import HttpPump
from keyhole.core.wrap.http_recording import HttpRecording
from keyhole.core.wrap.rewriting import Reply, ToServer
from keyhole.core.wrap.wrap_recording import WrapRecording

RESULT = {"content": [{"type": "text", "text": "grüße"}]}
EVENTS = [
    b": a comment\n\n",
    b'event: message\nid: 7\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n',
    b'data: {"jsonrpc":"2.0","id":3,\r\ndata: "result":' + json.dumps(RESULT).encode() + b"}\r\n\r\n",
    b"data: not JSON \xff\n\n",
]
PATH = "/mcp?key=1"


class Upstream(BaseHTTPRequestHandler):
    """A server that says what it was asked, in the way that the path names."""

    protocol_version = "HTTP/1.1"
    server: "Origin"

    def log_message(self, *_: object) -> None: ...

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append((self.path, dict(self.headers.items()), body))
        wanted = json.loads(body) if body.startswith(b"{") else {}
        way = wanted.get("params", {}).get("arguments", {}).get("way", "json")
        if way == "events":
            self._events()
            return
        status, kind, answer = 200, "application/json", self._answer(wanted)
        if way == "gzip":
            answer = gzip.compress(answer)
        elif "id" not in wanted:
            status, answer = 202, b""
        self.send_response(status, "Fine")
        self.send_header("Content-Type", kind)
        self.send_header("X-Twice", "1")
        self.send_header("X-Twice", "2")
        if way == "gzip":
            self.send_header("Content-Encoding", "gzip")
        if wanted.get("method") == "initialize":
            self.send_header("Mcp-Session-Id", "secret-session")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def do_GET(self) -> None:
        """A stream that stays open until the other side leaves."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(EVENTS[0])
        self.connection.recv(1)
        self.server.left.set()

    def do_PUT(self) -> None:
        """Say what came in chunks."""
        got = b""
        while size := int(self.rfile.readline(), 16):
            got += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        self.send_response(200)
        self.send_header("Content-Length", str(len(got)))
        self.end_headers()
        self.wfile.write(got)

    def do_DELETE(self) -> None:
        self.send_error(405)

    @staticmethod
    def _answer(wanted: dict[str, object]) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": wanted.get("id"), "result": RESULT}, indent=3).encode()

    def _events(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in EVENTS:
            # Each comes only after the client has the one before: nothing may be held back.
            assert self.server.may_go_on.acquire(timeout=20)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        self.wfile.write(b"0\r\n\r\n")


class Origin(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Upstream)
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        self.may_go_on = threading.Semaphore(0)
        self.left = threading.Event()


@pytest.fixture(scope="module")
def origin() -> Iterator[Origin]:
    made = Origin()
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


class Wrap:
    """A wrap of the origin, and what it recorded."""

    def __init__(self, origin: Origin, folder: Path, new_rewriter: object = None) -> None:
        self.recording = WrapRecording(folder, "origin", url=f"http://127.0.0.1:{origin.server_port}{PATH}")
        self.folder = folder
        url = f"http://127.0.0.1:{origin.server_port}{PATH}"
        self.pump = HttpPump(url, 0, HttpRecording(self.recording), new_rewriter)  # type: ignore[arg-type]
        threading.Thread(target=self.pump.serve_forever, args=(0.02,), daemon=True).start()
        self.connection = HTTPConnection("127.0.0.1", self.pump.server_port, timeout=20)

    def post(self, message: dict[str, object] | bytes, **headers: str) -> HTTPResponse:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request("POST", PATH, body, {"User-Agent": "codex/0.1 (x)", **names})
        return self.connection.getresponse()

    def calls(self, cache: Path) -> list[Call]:
        self.recording.close()
        return list(JournalReader(index_folder(cache, self.folder.resolve())).each())

    def close(self) -> None:
        self.connection.close()
        self.pump.shutdown()
        self.pump.server_close()


@pytest.fixture
def wrap(origin: Origin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wrap]:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    made = Wrap(origin, tmp_path)
    yield made
    made.close()


def tool_call(number: int, way: str, method: str = "tools/call") -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {"name": "look", "arguments": {"way": way}}}


def test_bodies_and_events_pass_unchanged_and_at_once(wrap: Wrap, origin: Origin, tmp_path: Path) -> None:
    origin.seen.clear()
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"clientInfo": {"name": "claude-code"}}}
    first = wrap.post(hello, Authorization="Bearer own", Accept_Encoding="br, gzip;q=0.5")
    assert (first.status, first.reason, first.headers.get_all("X-Twice")) == (200, "Fine", ["1", "2"])
    assert first.read() == Upstream._answer(hello)
    path, headers, body = origin.seen[0]
    assert (path, body) == (PATH, json.dumps(hello).encode())
    assert (headers["Authorization"], headers["Accept-Encoding"].strip()) == ("Bearer own", "gzip;q=0.5")
    assert headers["Host"] == f"127.0.0.1:{origin.server_port}"
    session = {"Mcp_Session_Id": "secret-session"}
    packed = wrap.post(tool_call(2, "gzip"), **session)
    assert gzip.decompress(packed.read()) == Upstream._answer({"id": 2})
    streamed, got = wrap.post(tool_call(3, "events"), **session), b""
    for event in EVENTS:
        origin.may_go_on.release()
        while len(event) > 0 and not (got := got + streamed.read1()).endswith(event):
            pass
    assert got + streamed.read() == b"".join(EVENTS)
    told = wrap.post(b'{"jsonrpc":"2.0","method":"notifications/initialized"}', **session)
    assert (told.status, told.read()) == (202, b"")
    broken = b"\xff no JSON"
    assert wrap.post(broken).read() == b""
    assert origin.seen[-1][2] == broken
    calls = wrap.calls(tmp_path / "cache")
    assert [(call.tool, call.client, call.status) for call in calls] == [
        (tool, "claude-code", CallStatus.COMPLETE) for tool in ("initialize", "look", "look")
    ]
    # The id of a session is a credential.
    assert len({call.session for call in calls}) == 1
    assert "secret-session" not in {call.session for call in calls}


def test_a_client_without_a_session_is_told_apart_by_its_program(wrap: Wrap, tmp_path: Path) -> None:
    assert wrap.post(tool_call(1, "json")).read()
    [call] = wrap.calls(tmp_path / "cache")
    assert (call.client, call.client_version, call.session, call.transport) == ("codex", "0.1", "", "http")


def test_requests_in_chunks_pass(wrap: Wrap) -> None:
    pieces = [b'{"jsonrpc":"2.0",', b'"id":9,"method":"x"}']
    wrap.connection.request("PUT", PATH, iter(pieces), {"Transfer-Encoding": "chunked"}, encode_chunked=True)
    assert wrap.connection.getresponse().read() == b"".join(pieces)
    wrap.connection.request("DELETE", PATH)
    assert wrap.connection.getresponse().status == 405


def test_a_stream_ends_on_both_sides_when_the_client_leaves(wrap: Wrap, origin: Origin) -> None:
    wrap.connection.request("GET", PATH, headers={"Accept": "text/event-stream"})
    response = wrap.connection.getresponse()
    assert response.read1() == EVENTS[0]
    response.close()
    wrap.connection.close()
    assert origin.left.wait(20)


def test_pages_in_a_browser_are_refused(wrap: Wrap) -> None:
    for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
        wrap.connection.request("POST", PATH, b"{}", headers)
        refused = wrap.connection.getresponse()
        assert (refused.status, refused.read().startswith(b"keyhole wrap: ")) == (403, True)
        wrap.connection.close()
    assert wrap.post(tool_call(1, "json"), Origin="http://localhost:6274").status == 200


def test_a_server_that_is_not_there_is_said_to_be_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    pump = HttpPump(f"http://127.0.0.1:{port}/mcp", 0)
    threading.Thread(target=pump.serve_forever, args=(0.02,), daemon=True).start()
    connection = HTTPConnection("127.0.0.1", pump.server_port, timeout=20)
    connection.request("POST", "/mcp", b"{}")
    response = connection.getresponse()
    assert (response.status, b"cannot reach" in response.read()) == (502, True)
    connection.close()
    pump.shutdown()
    pump.server_close()


class Shouting:
    """Answers `write` itself, and makes every answer loud."""

    def request(self, message: bytes) -> ToServer | Reply:
        if b'"write"' in message:
            return Reply(b'{"jsonrpc":"2.0","id":5,"result":{}}')
        return ToServer(message.replace(b"look", b"LOOK"))

    def response(self, message: bytes) -> bytes:
        if b"notifications/progress" in message:
            raise ValueError("not mine")
        return message.replace(b'"result"', b'"RESULT"')


def test_a_rewriter_changes_messages_or_answers_them(
    origin: Origin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    origin.seen.clear()
    wrap = Wrap(origin, tmp_path, Shouting)
    try:
        own = wrap.post(b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"write"}}')
        assert json.loads(own.read()) == {"jsonrpc": "2.0", "id": 5, "result": {}}
        assert origin.seen == []
        assert b'"RESULT"' in wrap.post(tool_call(2, "json"), Accept_Encoding="gzip").read()
        assert b'"LOOK"' in origin.seen[0][2]
        for _ in EVENTS:
            origin.may_go_on.release()
        events = wrap.post(tool_call(3, "events")).read()
        assert events.startswith(EVENTS[0] + EVENTS[1])
        assert events.endswith(EVENTS[3])
        assert b'data: "RESULT":' in events
    finally:
        wrap.close()
