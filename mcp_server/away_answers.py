"""Answers that the database of a team can't be reached: the client may try again, and its token may well be right."""

from typing import TYPE_CHECKING

from keyhole.mcp_server.team_access import IS_AWAY

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_UNAVAILABLE = 503
_TEXT = b"The database of this server can't be reached. Try again in a few seconds.\n"
_SECONDS = b"5"


class AwayAnswers:
    """Wraps an ASGI application; a request whose token could not be looked up does not reach it."""

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer, or pass the request on."""
        token = getattr(scope.get("user"), "access_token", None)
        if token is None or not token.claims.get(IS_AWAY):
            await self._app(scope, receive, send)
            return
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(_TEXT)).encode()),
            (b"retry-after", _SECONDS),
        ]
        await send({"type": "http.response.start", "status": _UNAVAILABLE, "headers": headers})
        await send({"type": "http.response.body", "body": _TEXT})
