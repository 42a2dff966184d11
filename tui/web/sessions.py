"""The WebSockets of open pages: each gets an explorer of its own, which ends with it."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress

from aiohttp import WSCloseCode, WSMsgType, web

from keyhole.tui.web.app_process import AppProcess

# Each explorer is a process with a workspace open.
MOST_SESSIONS = 8
_LONGEST_MESSAGE = 1_000_000
# A browser that does not answer for so long is gone.
_HEARTBEAT_SECONDS = 15.0
_TOO_MANY = f"keyhole: {MOST_SESSIONS} explorers are open. Close a tab, then reload this one.\r\n"


class Sessions:
    """Opens an explorer for each page."""

    def __init__(self, commands: Sequence[Sequence[str]]) -> None:
        # The command that starts the explorer of each workspace.
        self._commands = commands
        self._sockets: set[web.WebSocketResponse] = set()

    async def open(self, request: web.Request) -> web.WebSocketResponse:
        """Run an explorer until its page is closed, or until it ends."""
        number = int(request.match_info["number"])
        if number > len(self._commands):
            raise web.HTTPNotFound
        socket = web.WebSocketResponse(heartbeat=_HEARTBEAT_SECONDS, max_msg_size=_LONGEST_MESSAGE, compress=False)
        await socket.prepare(request)
        if len(self._sockets) >= MOST_SESSIONS:
            await socket.send_bytes(_TOO_MANY.encode())
            await socket.close(code=WSCloseCode.TRY_AGAIN_LATER)
            return socket
        self._sockets.add(socket)
        try:
            await self._explore(socket, self._commands[number - 1], request)
        finally:
            self._sockets.discard(socket)
        return socket

    async def close_all(self, _: web.Application) -> None:
        """Close every page's socket, which ends its explorer."""
        await asyncio.gather(*(socket.close(code=WSCloseCode.GOING_AWAY) for socket in self._sockets))

    async def _explore(self, socket: web.WebSocketResponse, command: Sequence[str], request: web.Request) -> None:
        width, height = _number(request.query.get("width"), 80), _number(request.query.get("height"), 24)
        try:
            process = await AppProcess.start(command, width, height)
        except OSError as error:
            await socket.send_bytes(f"keyhole: the explorer could not start ({error.strerror})\r\n".encode())
            await socket.close()
            return
        drawing = asyncio.create_task(_draw(process, socket))
        try:
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    await _pass_on(message.data, process)
        finally:
            await process.stop()
            await drawing


async def _draw(process: AppProcess, socket: web.WebSocketResponse) -> None:
    """Show what an explorer draws until it ends; then its page has ended too."""

    async def show(drawn: bytes) -> None:
        # What a process draws is read to the end even if nobody sees it: it must not wait.
        with suppress(ConnectionError):
            await socket.send_bytes(drawn)

    await process.draw(show)
    await socket.close()


async def _pass_on(text: str, process: AppProcess) -> None:
    """Pass on one message of the page: a name and, for some, a value. Others are ignored."""
    try:
        sent = json.loads(text)
    except ValueError:
        return
    match sent:
        case ["stdin", str(typed)]:
            await process.type(typed)
        case ["resize", {"width": int(width), "height": int(height)}]:
            await process.resize(width, height)
        case ["focus" | "blur" as name, *_]:
            await process.focus(has_focus=name == "focus")


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 6 else default
