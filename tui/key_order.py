"""Handling keys and pasted text one at a time, in the order in which they were typed.

Textual gives each key to the widget that has the focus when the key arrives. A line inserts letters at once, but every
other key first travels up to the app, and a new focus travels back. So letters would overtake Backspace, and what is
typed after Enter would end up in the line that Enter leaves. Here each key waits until the one before it is handled.
"""

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App
    from textual.events import Key, Paste
    from textual.message_pump import MessagePump
    from textual.screen import Screen
    from textual.widget import Widget

# A widget that was removed may never answer; typing must go on all the same. On a busy machine, a dialog that opens may
# take seconds to answer, and must not lose what is typed.
_LOOK_EVERY = 0.2
_MOST_LOOKS = 100
# Opening a dialog, filling it and moving the focus in it takes three rounds.
_MOST_ROUNDS = 8


class KeyOrder:
    """Keeps the keys that are not handled yet, and gives them to the app one by one."""

    def __init__(self, app: "App[Any]") -> None:
        self._app = app
        self._waiting: deque[Key | Paste] = deque()
        self._current: Key | Paste | None = None
        self._task: asyncio.Task[None] | None = None
        # The screen and the focus after the last key, once all was done that the key had caused.
        self._place: tuple[Screen[Any], Widget | None] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether all keys are handled."""
        return self._task is None

    def admits(self, event: "Key | Paste") -> bool:
        """Return whether a key may be handled now; otherwise, it is sent to the app again when it may."""
        if event is self._current:
            return True
        self._waiting.append(event)
        if self._task is None:
            self._task = asyncio.create_task(self._deliver(), name="keys")
        return False

    async def _deliver(self) -> None:
        try:
            while self._waiting:
                if self._place != self._place_now:
                    await self._settle()
                self._current = self._waiting.popleft()
                self._app.post_message(self._current)
                await self._handled(self._current)
        finally:
            self._current = self._task = None

    async def _handled(self, event: "Key | Paste") -> None:
        """Wait until a key, and all that it causes, is handled."""
        await self._passed(self._app)
        focused = self._app.focused
        if focused and _is_typed(event, focused):
            await self._passed(focused)
        else:
            # The key goes from the focused widget up to the app, which runs the command; then messages of the command,
            # such as that a line was submitted, go the same way.
            await self._round()
            await self._round()
            await self._settle()

    async def _settle(self) -> None:
        """Wait until the focus stays where it is: a dialog that opens gets the keys as soon as it has a focus."""
        for _ in range(_MOST_ROUNDS):
            self._place = self._place_now
            await self._round()
            if self._place == self._place_now:
                return

    @property
    def _place_now(self) -> "tuple[Screen[Any], Widget | None]":
        return self._app.screen, self._app.focused

    async def _round(self) -> None:
        """Wait until everything sent so far has gone from the focused widget up to the app."""
        for node in (self._app.focused or self._app.screen).ancestors_with_self:
            await self._passed(node)

    async def _passed(self, pump: "MessagePump") -> None:
        """Wait until a widget has handled what was sent to it before."""
        passed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if not pump.call_later(_finish, passed):
            return
        for _ in range(_MOST_LOOKS):
            await asyncio.wait({passed}, timeout=_LOOK_EVERY)
            if passed.done() or not (pump.is_attached or pump is self._app):
                break


def _is_typed(event: "Key | Paste", focused: "Widget") -> bool:
    """Return whether a key only adds a character to the focused line."""
    key = getattr(event, "key", None)
    return key is not None and focused.check_consume_key(key, getattr(event, "character", None))


def _finish(passed: "asyncio.Future[None]") -> None:
    if not passed.done():
        passed.set_result(None)
