"""Asks a server as a client does: connect, list its tools, call one. For `keyhole cost` and for replays."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, Protocol

from keyhole.core.errors import ServerError

_PROTOCOL = "2025-11-25"
# npx and uvx may have to download the server first.
_START_SECONDS = 120.0
_ANSWER_SECONDS = 60.0
_MOST_PAGES = 100
_NO_METHOD = -32601


class Transport(Protocol):
    """How messages get to a server and back."""

    def send(self, frame: Mapping[str, object]) -> None:
        """Send a message."""

    def receive(self, seconds: float) -> dict[str, Any]:
        """Return the next message of the server."""

    def close(self) -> None:
        """End the connection."""


class ServerSession:
    """A connection to a server that has introduced itself."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._number = 0
        self.introduction: dict[str, Any] = {}

    @property
    def instructions(self) -> str:
        """The server's instructions."""
        return str(self.introduction.get("instructions") or "")

    @property
    def title(self) -> str:
        """The name and version of the server."""
        info = self.introduction.get("serverInfo")
        facts = info if isinstance(info, dict) else {}
        return f"{facts.get('name', 'server')} {facts.get('version', '')}".strip()

    def introduce(self) -> None:
        """Connect as a client does first."""
        client = {"name": "keyhole", "version": version("keyhole")}
        asked = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": client}
        self.introduction = self._result(self.request("initialize", asked, _START_SECONDS))
        self._transport.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def tools(self) -> list[dict[str, Any]]:
        """Return the definitions of all tools, page by page."""
        found: list[dict[str, Any]] = []
        given: dict[str, object] = {}
        for _ in range(_MOST_PAGES):
            page = self._result(self.request("tools/list", given))
            listed = page.get("tools")
            found += [tool for tool in (listed if isinstance(listed, list) else []) if isinstance(tool, dict)]
            if not page.get("nextCursor"):
                break
            given = {"cursor": page["nextCursor"]}
        return found

    def request(self, method: str, given: Mapping[str, object], seconds: float = _ANSWER_SECONDS) -> dict[str, Any]:
        """Send a request and return its response, a result or an error; answer what the server asks meanwhile."""
        self._number += 1
        number = self._number
        self._transport.send({"jsonrpc": "2.0", "id": number, "method": method, "params": dict(given)})
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            frame = self._transport.receive(left)
            if frame.get("id") == number and "method" not in frame:
                return frame
            if "id" in frame and "method" in frame:
                self._transport.send(_answer_to(frame))
        raise ServerError(f"the server did not answer {method} within {seconds:g} seconds")

    @staticmethod
    def _result(frame: Mapping[str, Any]) -> dict[str, Any]:
        if isinstance(result := frame.get("result"), dict):
            return result
        error = frame.get("error")
        told = error.get("message") if isinstance(error, dict) else error
        raise ServerError(f"the server answered with an error: {told}")


def _answer_to(frame: Mapping[str, Any]) -> dict[str, object]:
    """Answer what a server asks its client: only that it is there."""
    if frame["method"] == "ping":
        return {"jsonrpc": "2.0", "id": frame["id"], "result": {}}
    error = {"code": _NO_METHOD, "message": f"{frame['method']} is not supported here"}
    return {"jsonrpc": "2.0", "id": frame["id"], "error": error}


@contextmanager
def connected(transport: Transport) -> Iterator[ServerSession]:
    """Introduce ourselves to a server, and end the connection afterwards."""
    session = ServerSession(transport)
    try:
        session.introduce()
        yield session
    finally:
        transport.close()
