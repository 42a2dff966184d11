"""Answers over HTTP as one JSON object, unless the client asks for progress.

A stream of events costs the server about twice as much as a short tool call, and only a client that asks for progress
needs it.
"""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastmcp.server.http import StarletteWithLifespan
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_CALL, _WANTS_PROGRESS = b'"tools/call"', b'"progressToken"'


class PlainAnswers:
    """Wraps the streaming application, and passes calls that need no stream to the plain one."""

    def __init__(self, app: "ASGIApp", plain: "StarletteWithLifespan") -> None:
        self._app = app
        self._plain = plain

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Choose the application by the body of the request."""
        if scope["type"] == "lifespan":
            async with self._plain.lifespan(self._plain):
                await self._app(scope, receive, send)
            return
        # The first message has the whole body: the check of requests has collected its parts.
        first = await receive()
        body = first.get("body", b"")
        if _CALL in body and _WANTS_PROGRESS not in body:
            await _answer_until_disconnect(self._plain, scope, first, receive, send)
        else:
            await self._app(scope, _after(first, receive), send)


def _after(first: "Message", receive: "Receive") -> "Receive":
    """Return a receive function that gives this message first and then the following ones."""
    waiting = [first]

    async def next_message() -> "Message":
        return waiting.pop() if waiting else await receive()

    return next_message


async def _answer_until_disconnect(
    app: "ASGIApp", scope: "Scope", first: "Message", receive: "Receive", send: "Send"
) -> None:
    """Answer until the client disconnects: after the whole request, the next message can only be that."""
    disconnect = asyncio.ensure_future(receive())
    answer = asyncio.ensure_future(app(scope, _after(first, lambda: asyncio.shield(disconnect)), send))
    try:
        await asyncio.wait({answer, disconnect}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        disconnect.cancel()
        if not answer.done():
            answer.cancel()
            with suppress(asyncio.CancelledError):
                await answer
    answer.result()
