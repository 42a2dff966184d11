"""Checks requests over HTTP before the library reads them, and rejects the body of a client without a valid token."""

from typing import TYPE_CHECKING

from keyhole.mcp_server.request_check import MAX_REQUEST_BYTES, RefusedRequest, check_request, refuse_large

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_BAD_REQUEST, _TOO_LARGE = 400, 413
# Set in the scope of a request once it is known to be sent by a client; the connection is then safe from being closed
# to make room.
IS_TRUSTED = "keyhole.is_trusted"


class CheckedRequests:
    """Wraps an ASGI application, which gets only whole requests that pass the checks."""

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Read and check the body of a request, then pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif not _is_authenticated(scope):
            # The answer is a rejection, whatever the body says, so nobody waits for it.
            await self._app(scope, _whole(b"", receive), send)
        elif scope["method"] != "POST":
            scope[IS_TRUSTED] = True
            await self._app(scope, receive, send)
        else:
            await self._check(scope, receive, send)

    async def _check(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        body = refuse_large() if _stated_length(scope) > MAX_REQUEST_BYTES else await _read_body(receive)
        if body is None:
            return
        refusal = body if isinstance(body, RefusedRequest) else check_request(body)
        if refusal:
            await _send_refusal(refusal, send)
        elif isinstance(body, bytes):
            scope[IS_TRUSTED] = True
            await self._app(scope, _whole(body, receive), send)


def _is_authenticated(scope: "Scope") -> bool:
    """Return whether the token is right or none is needed; the library has checked it before."""
    user = scope.get("user")
    return user is None or bool(user.is_authenticated)


def _stated_length(scope: "Scope") -> int:
    stated = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    # The HTTP parser has accepted the header, so it is a number; a body in chunks states none.
    return int(stated)


async def _read_body(receive: "Receive") -> bytes | RefusedRequest | None:
    """Read a body up to the limit; None if the client disconnects first."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        part = message.get("body", b"")
        parts.append(part)
        size += len(part)
        if size > MAX_REQUEST_BYTES:
            return refuse_large(parts[0])
        if not message.get("more_body"):
            return b"".join(parts)


def _whole(body: bytes, receive: "Receive") -> "Receive":
    """Return a receive function that gives the whole body first; after it, a client can only disconnect."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> "Message":
        return waiting.pop() if waiting else await receive()

    return next_message


async def _send_refusal(refusal: RefusedRequest, send: "Send") -> None:
    body = refusal.to_json()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    status = _TOO_LARGE if refusal.is_too_large else _BAD_REQUEST
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
