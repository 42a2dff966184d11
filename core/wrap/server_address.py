"""Talks to a server with an address: each message is a POST, and answers come as JSON or as server-sent events."""

import json
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from keyhole.core.errors import ServerError
from keyhole.core.wrap.framing import body_stream
from keyhole.core.wrap.http_bodies import body_pieces

_SESSION, _PROTOCOL = "Mcp-Session-Id", "MCP-Protocol-Version"
_SECONDS = 60.0
_REFUSED = (401, 403)
_SUCCESS = range(200, 300)


class ServerAddress:
    """A server over streamable HTTP; `headers` are sent with each request."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        parts = urlsplit(url)
        self._url = url
        self._path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = kind(parts.netloc.rpartition("@")[2], timeout=_SECONDS)
        self._headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        self._headers |= dict(headers or {})
        self._messages: deque[dict[str, Any]] = deque()

    def send(self, message: Mapping[str, object]) -> None:
        """Send a message, and read what is answered up to the answer itself."""
        try:
            self._connection.request("POST", self._path, json.dumps(message), self._headers)
            response = self._connection.getresponse()
            self._check(response)
            if session := response.headers.get(_SESSION):
                self._headers[_SESSION] = session
            self._read(response, message.get("id"))
        except (OSError, HTTPException) as error:
            raise ServerError(f"cannot reach {self._url} ({error})") from None

    def receive(self, seconds: float) -> dict[str, Any]:
        """Return the next message of the server."""
        if not self._messages:
            raise ServerError(f"{self._url} did not answer within {seconds:g} seconds")
        message = self._messages.popleft()
        result = message.get("result")
        if isinstance(result, dict) and isinstance(version := result.get("protocolVersion"), str):
            self._headers[_PROTOCOL] = version
        return message

    def close(self) -> None:
        """End the session."""
        with suppress(OSError, HTTPException):
            if _SESSION in self._headers:
                self._connection.request("DELETE", self._path, headers=self._headers)
        self._connection.close()

    def _check(self, response: HTTPResponse) -> None:
        if response.status in _REFUSED:
            raise ServerError(f"{self._url} refused access (HTTP {response.status}); give a token with --header")
        if response.status not in _SUCCESS:
            raise ServerError(f"{self._url} answered HTTP {response.status} {response.reason}")

    def _read(self, response: HTTPResponse, wanted: object) -> None:
        stream = body_stream(response.headers.get("Content-Type", ""), "", self._take)
        before = len(self._messages)
        for piece in body_pieces(response):
            if stream is not None:
                stream.feed(piece, 0.0)
            # A stream of events may go on after the answer.
            if wanted is not None and any(each.get("id") == wanted for each in list(self._messages)[before:]):
                break
        if stream is not None:
            stream.end(0.0)
        response.close()

    def _take(self, text: bytes, _: float) -> None:
        with suppress(ValueError, RecursionError):
            facts = json.loads(text)
            self._messages.extend(
                each for each in (facts if isinstance(facts, list) else [facts]) if isinstance(each, dict)
            )
