"""A model on loopback that only follows a plan: it calls the probe's tools one by one and keeps what comes back."""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from adapters import Launch
from wire_formats import FORMATS, ToolCall, WireFormat

Facts = dict[str, Any]
# What is asked of the model: the name of a probe's tool, and its arguments.
Plan = Sequence[tuple[str, Facts]]
# The number of the call before the first one of the plan.
_LOADING = -1
# What the server is called in every client's configuration.
_SERVER = "keyhole"


class FakeModel:
    """Answers requests by the plan.

    `results` has what the model got for each call, and `request` is the first one that offers tools.
    """

    def __init__(self, plan: Plan, hold: float = 0) -> None:
        self.plan = plan
        # Nothing is answered before this time, so that a server that starts slowly can still join.
        self._not_before = time.monotonic() + hold
        self.results: dict[int, Any] = {}
        self.request: Facts | None = None
        # The tools on offer at first, and in the end, when those that were asked for are loaded.
        self.first_tools: list[Facts] = []
        self.tools: list[Facts] = []
        self.seen: list[str] = []
        # When the first question came, and when each result did, by the number of the call; seconds since 1970.
        self.asked_at = 0.0
        self.answered_at: dict[int, float] = {}
        # The prefix and the namespace of tools that the client does not list, but loads on demand.
        self.deferred = ("", "")
        self._own_tools: set[str] = set()
        self._loading: tuple[str, Mapping[str, object]] | None = None
        self.is_done = threading.Event()
        self._lock = threading.Lock()

    def prepare(self, launch: Launch) -> None:
        """Tell how the client names tools that it does not list, and which tools of its own load or find them."""
        self.deferred, self._loading = launch.deferred, launch.loading
        self._own_tools = {call[0] for call in (launch.loading, launch.lookup) if call}

    def next_call(self, wire: WireFormat, request: Facts) -> ToolCall | None:
        """Keep the results in a request, and return the next call of the plan."""
        offered = wire.tools(request)
        with self._lock:
            results = wire.results(request)
            for number, result in results.items():
                self.results.setdefault(number, result)
                self.answered_at.setdefault(number, time.time())
            # Clients also ask for titles and summaries, without tools.
            if not offered:
                return None
            self.asked_at = self.asked_at or time.time()
            self.request = self.request or request
            self.first_tools = self.first_tools or offered
            self.tools = offered
            number = max(results, default=_LOADING - bool(self._loading)) + 1
            if number < len(self.plan):
                return self._call(number, offered)
            self.is_done.set()
            return None

    def wait(self) -> None:
        """Wait until questions are answered."""
        time.sleep(max(0.0, self._not_before - time.monotonic()))

    def _call(self, number: int, offered: list[Facts]) -> ToolCall:
        tool, arguments = (self._loading or ("", {})) if number == _LOADING else self.plan[number]
        for offer in offered:
            # A tool that the API itself defines has a type only.
            name, space = str(offer.get("name") or offer.get("type", "")), str(offer.get("namespace", ""))
            is_ours = name.endswith(tool) and _SERVER in space + name
            if is_ours or (tool in self._own_tools and name == tool):
                return ToolCall(number, name, {**arguments}, space)
        prefix, namespace = self.deferred
        return ToolCall(number, prefix + tool, {**arguments}, namespace)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def do_GET(self) -> None:
        """Answer anything that is not a question to the model."""
        self.server.model.seen.append(f"GET {self.path}")
        self._send(b'{"data":[],"models":[]}')

    def do_HEAD(self) -> None:
        """Answer a check whether the model is there."""
        self.do_GET()

    def do_POST(self) -> None:
        """Answer a question to the model."""
        body = self._body()
        path = self.path.partition("?")[0]
        self.server.model.seen.append(f"POST {path} {len(body)}")
        if path.endswith(("count_tokens", ":countTokens")):
            self._send(b'{"input_tokens":10,"totalTokens":10}')
            return
        wire = next((wire for wire in FORMATS if path.lower().endswith(wire.path.lower())), None)
        if wire is None:
            self._send(b"{}")
            return
        request = json.loads(body)
        call = self.server.model.next_call(wire, request)
        self.server.model.wait()
        if "streamGenerate" in path or request.get("stream"):
            self._stream(wire, call)
        elif hasattr(wire, "whole"):
            self._send(json.dumps(wire.whole(call)).encode())
        else:
            self._send(json.dumps(next(iter(wire.stream(call)))[1]).encode())

    def _stream(self, wire: WireFormat, call: ToolCall | None) -> None:
        parts = []
        for name, event in wire.stream(call):
            line = {"type": name, **event} if name else event
            parts.append(f"event: {name}\n" * bool(name) + f"data: {json.dumps(line)}\n\n")
        if wire.path == "/chat/completions":
            parts.append("data: [DONE]\n\n")
        self._send("".join(parts).encode(), "text/event-stream")

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().strip() or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _send(self, body: bytes, kind: str = "application/json") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: FakeModel) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model

    def handle_error(self, *_: object) -> None:
        """Ignore connections that a client drops."""


def serve(model: FakeModel) -> tuple[_Server, str]:
    """Start the model on a free port; return the server and its address."""
    server = _Server(model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}"
