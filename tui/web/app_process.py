"""One explorer process, and what goes through its pipes.

Both directions consist of packets: a letter, the length in four bytes, and the content. `D` is for a terminal, drawn or
typed; `M` is JSON that is not (textual/drivers/web_driver.py). The process writes a line before its first packet.
"""

import asyncio
import json
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from keyhole.core.processes import end_session

_FIRST_LINE = b"__GANGLION__\n"
_DRAWN = b"D"
# What a process that fails to start may say.
_LONGEST_PROBLEM = 4_000
# How long an explorer may take to end by itself, and then after a signal.
_PATIENCE = (5.0, 2.0)
_WIDEST, _HIGHEST = 500, 200


class AppProcess:
    """Runs the explorer for one page."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._problem = asyncio.create_task(_read_problem(process))

    @classmethod
    async def start(cls, command: Sequence[str], width: int, height: int) -> "AppProcess":
        """Start the explorer, without a shell, in a session of its own: only this server ends it."""
        width, height = _within_limits(width, height)
        environment = {
            **os.environ,
            "COLUMNS": str(width),
            "ROWS": str(height),
            "TEXTUAL_COLOR_SYSTEM": "truecolor",
        }
        return cls(
            await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, start_new_session=True
            )
        )

    async def type(self, text: str) -> None:
        """Pass on what was typed, or what the mouse did."""
        await self._send(_DRAWN, text.encode(errors="replace"))

    async def resize(self, width: int, height: int) -> None:
        """Pass on the size of the page, in cells."""
        width, height = _within_limits(width, height)
        await self._send_fact(type="resize", width=width, height=height)

    async def focus(self, *, has_focus: bool) -> None:
        """Pass on whether the page has the focus."""
        await self._send_fact(type="focus" if has_focus else "blur")

    async def draw(self, show: Callable[[bytes], Awaitable[None]]) -> None:
        """Show what the explorer draws until it ends, and then what went wrong if it could not start."""
        has_started = False
        with suppress(asyncio.IncompleteReadError):
            has_started = await self._stdout.readuntil() == _FIRST_LINE
            while has_started:
                kind, content = await self._read_packet()
                # The other kinds ask to open an address or to store a file, which a browser must not do here.
                if kind == _DRAWN:
                    await show(content)
        if problem := await self._problem:
            await show(problem)
        elif not has_started:
            await show(b"keyhole: the explorer could not start\r\n")

    async def stop(self) -> None:
        """End the explorer, by force if it does not end by itself."""
        await self._send_fact(type="quit")
        if self._process.stdin:
            self._process.stdin.close()
        for patience, by_force in zip(_PATIENCE, (False, True), strict=True):
            try:
                await asyncio.wait_for(self._process.wait(), patience)
            except TimeoutError:
                # Its workers are in the same session.
                end_session(self._process, by_force=by_force)
            else:
                return
        await self._process.wait()

    @property
    def _stdout(self) -> asyncio.StreamReader:
        assert self._process.stdout  # noqa: S101  # it was started with a pipe
        return self._process.stdout

    async def _read_packet(self) -> tuple[bytes, bytes]:
        head = await self._stdout.readexactly(5)
        return head[:1], await self._stdout.readexactly(int.from_bytes(head[1:], "big"))

    async def _send_fact(self, **fact: str | int) -> None:
        await self._send(b"M", json.dumps(fact).encode())

    async def _send(self, kind: bytes, content: bytes) -> None:
        if self._process.stdin is None or self._process.stdin.is_closing():
            return
        with suppress(ConnectionError):  # the explorer has ended
            self._process.stdin.write(kind + len(content).to_bytes(4, "big") + content)
            await self._process.stdin.drain()


async def _read_problem(process: Process) -> bytes:
    """Return the start of what a process prints as an error, for a terminal; all of it is read, so that it can end."""
    said = b""
    while process.stderr and (part := await process.stderr.read(_LONGEST_PROBLEM)):
        said += part[: _LONGEST_PROBLEM - len(said)]
    return said.replace(b"\n", b"\r\n")


def _within_limits(width: int, height: int) -> tuple[int, int]:
    return min(max(width, 1), _WIDEST), min(max(height, 1), _HIGHEST)
