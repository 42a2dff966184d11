"""Pairs the requests of a client with the answers of a server, and records each pair as a call.

Tool calls are recorded under the name of the tool, and other requests under their method, such as `tools/list`.
"""

import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keyhole.core.journal.wrapped_answers import recorded_answer
from keyhole.core.journal.writer import Ended, Journal, Started
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.budget.tokens import estimate_tokens
from keyhole.core.view.text import name_text
from keyhole.core.wrap.shortening.answer_blocks import PAGE
from keyhole.core.wrap.tool_lists import MORE_TOOL

# Sent to see whether the other side is there; recording them would only hide the calls.
_NOT_RECORDED = ("ping",)
_LONGEST_NAME = 80
# A client that never gets an answer to thousands of requests is broken; the oldest are forgotten.
_MOST_PENDING = 4_096
# The writer of the journal keeps no more than 256 events; waiting for it here holds up no call.
_FLUSH_EVERY = 100
# Where clients of the stateless protocol send their name with each request.
_CLIENT_META = "io.modelcontextprotocol/clientInfo"
UNKNOWN = "unknown"


@dataclass(slots=True)
class ClientNames:
    """The name and version that a client has sent."""

    name: str = UNKNOWN
    version: str = ""


class CallWriter:
    """Writes the calls of one wrapped server to the journal, not faster than the journal can store them."""

    def __init__(self, journal: Journal, server: str, transport: str) -> None:
        self._journal = journal
        self.server = server
        self.transport = transport
        self._until_flush = _FLUSH_EVERY

    def started(self, call: Started) -> None:
        """Record the start of a call."""
        self._journal.started(call)
        self._counted()

    def ended(self, call: Started, outcome: Ended) -> None:
        """Record the outcome of a call."""
        self._journal.ended(call, outcome)
        self._counted()

    def _counted(self) -> None:
        self._until_flush -= 1
        if self._until_flush <= 0:
            self._until_flush = _FLUSH_EVERY
            self._journal.flush()


class Exchanges:
    """The requests of one conversation that have no answer yet."""

    def __init__(self, writer: CallWriter, client: ClientNames | None = None, *, has_session: bool = True) -> None:
        self._writer = writer
        self.client = client or ClientNames()
        self._session = secrets.token_hex(4) if has_session else ""
        self._pending: dict[object, Started] = {}

    def from_client(self, text: bytes, at: float) -> None:
        """Take what the client sent: requests, notifications, answers to the server, or no JSON at all."""
        for frame in _messages(text):
            method = frame.get("method")
            if not isinstance(method, str):
                continue
            if "id" in frame and method not in _NOT_RECORDED:
                self._start(method, frame, at)
            elif method == "notifications/cancelled":
                self._cancel(frame, at)

    def from_server(self, text: bytes, at: float) -> None:
        """Take what the server sent."""
        for frame in _messages(text):
            if "method" in frame or not ("result" in frame or "error" in frame):
                continue
            call = self._pending.pop(_id_key(frame.get("id")), None)
            if call is not None:
                self._end(call, frame, at)

    def _start(self, method: str, frame: Mapping[str, Any], at: float) -> None:
        parameters = frame.get("params")
        given = parameters if isinstance(parameters, dict) else {}
        self._learn_client(method, given)
        is_tool = method == "tools/call"
        tool = str(given.get("name", "")) if is_tool else method
        arguments = given.get("arguments") if is_tool else {key: given[key] for key in given if key != "_meta"}
        call = Started(
            transport=self._writer.transport,
            client=name_text(self.client.name, _LONGEST_NAME),
            client_version=name_text(self.client.version, _LONGEST_NAME),
            tool=name_text(tool, _LONGEST_NAME),
            arguments=arguments if isinstance(arguments, dict) else {},
            at=at,
            session=self._session,
            server=self._writer.server,
        )
        while len(self._pending) >= _MOST_PENDING:
            del self._pending[next(iter(self._pending))]
        self._pending[_id_key(frame["id"])] = call
        self._writer.started(call)

    def _learn_client(self, method: str, given: Mapping[str, Any]) -> None:
        meta = given.get("_meta")
        info = given.get("clientInfo") if method == "initialize" else None
        info = info or (meta.get(_CLIENT_META) if isinstance(meta, dict) else None)
        if isinstance(info, dict):
            self.client.name = str(info.get("name") or UNKNOWN)
            self.client.version = str(info.get("version") or "")

    def _cancel(self, frame: Mapping[str, Any], at: float) -> None:
        given = frame.get("params")
        call = self._pending.pop(_id_key(given.get("requestId")), None) if isinstance(given, dict) else None
        if call is not None:
            self._writer.ended(call, Ended(CallStatus.CANCELLED, "", (at - call.at) * 1e3))

    def _end(self, call: Started, frame: Mapping[str, Any], at: float) -> None:
        answer = recorded_answer(frame)
        status = CallStatus.ERROR if answer.is_error else _completeness(call, frame)
        self._writer.ended(call, Ended(status, answer.stored, (at - call.at) * 1e3, estimate_tokens(answer.text)))


def _completeness(call: Started, frame: Mapping[str, Any]) -> CallStatus:
    """Return whether `--budget` shortened an answer, or returned a part of one that it had shortened."""
    result = frame.get("result")
    meta = result.get("_meta") if isinstance(result, dict) else None
    if not isinstance(meta, dict) or PAGE not in meta:
        return CallStatus.COMPLETE
    return CallStatus.PARTIAL if call.tool.startswith(MORE_TOOL) else CallStatus.SHORTENED


def _messages(text: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield the messages in a text; older clients send several in one array."""
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError):
        return
    for frame in facts if isinstance(facts, list) else [facts]:
        if isinstance(frame, dict):
            yield frame


def _id_key(value: object) -> object:
    """Return what identifies a request: 1 and "1" are different ids."""
    return type(value).__name__, value if isinstance(value, str | int | float) else str(value)
