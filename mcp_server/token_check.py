"""Requests that are turned away for want of the right token: their client is told what to do, and so is who serves."""

import json
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


_UNAUTHORIZED = 401
_ADVICE = "Keyhole makes a new token for each run; put the configuration that this run shows into the client again."


class TokenProblem(StrEnum):
    """Why a request is turned away; the value is what people are told."""

    MISSING = "no token"
    WRONG = "a wrong token"


OnRejection = Callable[[TokenProblem], None]


class TokenCheck:
    """Stands around an ASGI application, and puts its own words into what it refuses.

    The library's words are about logging in anew, which there is nothing of here.
    """

    def __init__(self, app: "ASGIApp", on_rejection: OnRejection) -> None:
        self._app = app
        self._on_rejection = on_rejection

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass on everything but refusals."""
        refused = False

        async def send_or_refuse(message: "Message") -> None:
            nonlocal refused
            if message["type"] == "http.response.start" and message["status"] == _UNAUTHORIZED:
                refused = True
                has_token = any(name == b"authorization" for name, _ in scope["headers"])
                problem = TokenProblem.WRONG if has_token else TokenProblem.MISSING
                self._on_rejection(problem)
                for part in _refusal(problem):
                    await send(part)
            elif not refused:
                await send(message)

        await self._app(scope, receive, send_or_refuse)


def _refusal(problem: TokenProblem) -> "tuple[Message, Message]":
    """Make the two parts of the answer."""
    # Who sent no token may not know that one is needed, and is given no error code: RFC 6750, section 3.1.
    error = {"error": "invalid_token"} if problem == TokenProblem.WRONG else {}
    body = json.dumps({**error, "error_description": f"This request has {problem}. {_ADVICE}"}).encode()
    challenge = b'Bearer error="invalid_token"' if error else b"Bearer"
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"www-authenticate", challenge),
    ]
    start = {"type": "http.response.start", "status": _UNAUTHORIZED, "headers": headers}
    return start, {"type": "http.response.body", "body": body}
