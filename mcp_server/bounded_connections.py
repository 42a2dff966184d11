"""HTTP connections with limits, so that slow or silent ones never lock out the others.

A process can have only so many open files, often 256. Without limits, a few hundred connections that never finish their
request would use them up. So headers and body have to arrive in time, and only a few connections may be open that have
not sent a complete request with a valid token: if there are more, the oldest of them is closed, so that a new client is
always served.
"""

import asyncio
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from keyhole.mcp_server.checked_http import IS_TRUSTED

# A model may think for a minute before its next call.
KEEP_ALIVE_SECONDS = 75
_PAUSE = object()
_TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class BoundedConnection(H11Protocol):
    """One connection; the limits are for each process."""

    # Seconds for the headers from the moment the connection is open or idle, and then for the body.
    header_seconds: ClassVar[float] = 10
    # A client that has sent a valid token may pause before its next request; uvicorn ends the pause a little earlier.
    pause_seconds: ClassVar[float] = KEEP_ALIVE_SECONDS + 5
    body_seconds: ClassVar[float] = 20
    most_untrusted: ClassVar[int] = 64

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.opened = self.loop.time()
        self._awaited: type[h11.Event] | object = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_trusted(self) -> bool:
        """Whether the latest request was complete and allowed."""
        return self.scope is not None and IS_TRUSTED in self.scope

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base class
        """Start the time for the first request, and make room if there are too many connections."""
        super().connection_made(transport)
        self._watch()
        untrusted = [
            other for other in self.connections if isinstance(other, BoundedConnection) and not other.is_trusted
        ]
        if len(untrusted) > self.most_untrusted:
            oldest = min(untrusted, key=lambda other: other.opened)
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in part of a request."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Start the time for the next request."""
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        """Start the time when the connection starts to wait for headers or for a body, and stop it when they are in."""
        awaited: object = self.conn.their_state
        if awaited is h11.IDLE and self.is_trusted and not self.conn.trailing_data[0]:
            awaited = _PAUSE
        # Each part that arrives must not start the time again, or a client could send one byte at a time.
        if awaited is self._awaited:
            return
        self._stop_timer()
        self._awaited = awaited
        limits = {_PAUSE: self.pause_seconds, h11.IDLE: self.header_seconds, h11.SEND_BODY: self.body_seconds}
        seconds = limits.get(awaited)
        if seconds is not None and not self.transport.is_closing():
            self._timer = self.loop.call_later(seconds, self._give_up)

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(_TIMED_OUT)
        self.transport.close()
