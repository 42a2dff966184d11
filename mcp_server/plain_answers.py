"""Answers over HTTP as one JSON object where nothing can be told on the way.

A stream of events costs the server about twice as much as the call of a short tool, and is needed only by a client that
asks to hear of progress.
"""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastmcp.server.http import StarletteWithLifespan
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_CALL, _WANTS_PROGRESS = b'"tools/call"', b'"progressToken"'


class PlainAnswers:
    """Stands around the application that streams, and hands calls that need no stream to the one that does not."""

    def __init__(self, app: "ASGIApp", plain: "StarletteWithLifespan") -> None:
        self._app = app
        self._plain = plain

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Choose by the body of a request."""
        if scope["type"] == "lifespan":
            async with self._plain.lifespan(self._plain):
                await self._app(scope, receive, send)
            return
        # A request that does not come in one piece is none of the short ones.
        first = await receive()
        body = first.get("body", b"")
        if not first.get("more_body") and _CALL in body and _WANTS_PROGRESS not in body:
            await _until_gone(self._plain, scope, first, receive, send)
        else:
            await self._app(scope, _after(first, receive), send)


def _after(first: "Message", receive: "Receive") -> "Receive":
    """Give a message out again before those that follow."""
    waiting = [first]

    async def next_message() -> "Message":
        return waiting.pop() if waiting else await receive()

    return next_message


async def _until_gone(app: "ASGIApp", scope: "Scope", first: "Message", receive: "Receive", send: "Send") -> None:
    """Answer as long as the client waits: the next it says, after the whole request, is that it has gone."""
    gone = asyncio.ensure_future(receive())
    answer = asyncio.ensure_future(app(scope, _after(first, lambda: asyncio.shield(gone)), send))
    try:
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()
        if not answer.done():
            answer.cancel()
            with suppress(asyncio.CancelledError):
                await answer
    answer.result()
