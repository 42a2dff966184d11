"""Explains rejected requests: the client learns how to get the right token, and the server's user is notified."""

import json
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


_UNAUTHORIZED = 401
ADVICE = (
    "Copy the configuration that the running server shows into the client."
    " If the server was given a token, use that one; otherwise each run makes a new one."
)


class TokenProblem(StrEnum):
    """Why a request is rejected; the value is shown to people."""

    MISSING = "no token"
    WRONG = "wrong token"


OnRejection = Callable[[TokenProblem], None]


class TokenCheck:
    """Wraps an ASGI application and replaces the text of its 401 responses.

    The library's text asks the user to log in again, but there is no login here.
    """

    def __init__(self, app: "ASGIApp", on_rejection: OnRejection, advice: str = ADVICE) -> None:
        self._app = app
        self._advice = advice
        self._on_rejection = on_rejection

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass on every response except rejections."""
        is_rejected = False

        async def send_or_reject(message: "Message") -> None:
            nonlocal is_rejected
            if message["type"] == "http.response.start" and message["status"] == _UNAUTHORIZED:
                is_rejected = True
                has_token = any(name == b"authorization" for name, _ in scope["headers"])
                problem = TokenProblem.WRONG if has_token else TokenProblem.MISSING
                self._on_rejection(problem)
                for part in _rejection(problem, self._advice):
                    await send(part)
            elif not is_rejected:
                await send(message)

        await self._app(scope, receive, send_or_reject)


def _rejection(problem: TokenProblem, advice: str) -> "tuple[Message, Message]":
    """Return the two messages of the response."""
    # RFC 6750, section 3.1: a request without a token gets no error code.
    error = {"error": "invalid_token"} if problem == TokenProblem.WRONG else {}
    body = json.dumps({**error, "error_description": f"Rejected: {problem}. {advice}"}).encode()
    challenge = b'Bearer error="invalid_token"' if error else b"Bearer"
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"www-authenticate", challenge),
    ]
    start = {"type": "http.response.start", "status": _UNAUTHORIZED, "headers": headers}
    return start, {"type": "http.response.body", "body": body}
