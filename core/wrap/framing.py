"""Finds the messages in copies of what passes: lines on stdio, bodies and events over HTTP.

Only copies come here, so a message that is too long or cut off is skipped, and the next one is found again.
"""

import zlib
from collections.abc import Callable
from typing import Protocol

# A longer message is forwarded, but not recorded: parsing it would hold up the messages behind it.
LONGEST_MESSAGE = 16_000_000

Take = Callable[[bytes, float], None]


class CopiedStream(Protocol):
    """A copy of a stream of bytes: `feed` gets the next ones and when they passed, `gap` says that some are missing."""

    def feed(self, chunk: bytes, at: float) -> None:
        """Take the next bytes."""

    def gap(self) -> None:
        """Forget the message that was begun."""

    def end(self, at: float) -> None:
        """Take what is left at the end of the stream."""


class CopiedLines:
    """Passes on each line of a stream; empty ones only if they mean something."""

    def __init__(self, take: Take, *, keeps_empty: bool = False) -> None:
        self._take = take
        self._keeps_empty = keeps_empty
        self._parts: list[bytes] = []
        self._size = 0
        self._skips = False

    def feed(self, chunk: bytes, at: float) -> None:
        """Take the next bytes."""
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._add(piece)
            self.end(at)
        self._add(rest)

    def gap(self) -> None:
        """Skip the rest of the line."""
        self._parts, self._size, self._skips = [], 0, True

    def end(self, at: float) -> None:
        """Pass on the line."""
        line = b"".join(self._parts)
        was_skipped, self._parts, self._size, self._skips = self._skips, [], 0, False
        if (line or self._keeps_empty) and not was_skipped:
            self._take(line, at)

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > LONGEST_MESSAGE:
            self.gap()
        elif piece and not self._skips:
            self._parts.append(piece)


class Body:
    """Passes on the body of an HTTP message when it has ended."""

    def __init__(self, take: Take) -> None:
        self._take = take
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes, _: float) -> None:
        """Take the next bytes."""
        self._size += len(chunk)
        if self._size > LONGEST_MESSAGE:
            self._parts = []
        else:
            self._parts.append(chunk)

    def gap(self) -> None:
        """Skip this body."""
        self._size = LONGEST_MESSAGE + 1
        self._parts = []

    def end(self, at: float) -> None:
        """Pass on the body."""
        if self._parts:
            self._take(b"".join(self._parts), at)


class Events:
    """Passes on the data of each server-sent event."""

    def __init__(self, take: Take) -> None:
        self._take = take
        self._data: list[bytes] = []
        self._lines = CopiedLines(self._line, keeps_empty=True)
        self._pending = b""

    def feed(self, chunk: bytes, at: float) -> None:
        """Take the next bytes."""
        text = self._pending + chunk
        # A carriage return may be half of a line end whose other half comes later.
        self._pending = b"\r" if text.endswith(b"\r") else b""
        text = text[: len(text) - len(self._pending)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._lines.feed(text, at)

    def gap(self) -> None:
        """Skip the rest of the event."""
        self._data = []
        self._lines.gap()

    def end(self, at: float) -> None:
        """Forget an event that has not ended: the standard says so."""

    def _line(self, line: bytes, at: float) -> None:
        if not line:
            if self._data:
                self._take(b"\n".join(self._data), at)
            self._data = []
        elif line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))


class Unpacked:
    """Decompresses a body (gzip or deflate) for another stream."""

    def __init__(self, inner: CopiedStream) -> None:
        self._inner = inner
        # 32 more than the largest window: the header says which of both formats it is.
        self._unzip = zlib.decompressobj(zlib.MAX_WBITS + 32)
        self._is_broken = False

    def feed(self, chunk: bytes, at: float) -> None:
        """Take the next bytes."""
        if self._is_broken:
            return
        try:
            self._inner.feed(self._unzip.decompress(chunk, LONGEST_MESSAGE), at)
            # What would be longer than any message: a bomb, or nothing that could be recorded.
            self._is_broken = bool(self._unzip.unconsumed_tail)
        except zlib.error:
            self.gap()

    def gap(self) -> None:
        """Nothing after missing bytes can be decompressed."""
        self._is_broken = True
        self._inner.gap()

    def end(self, at: float) -> None:
        """End the other stream."""
        self._inner.end(at)


def body_stream(content_type: str, encoding: str, take: Take) -> CopiedStream | None:
    """Return what finds the messages in an HTTP body; None if it holds none, or can't be decompressed."""
    kind = content_type.partition(";")[0].strip().casefold()
    if kind not in ("application/json", "text/event-stream"):
        return None
    inner: CopiedStream = Events(take) if kind == "text/event-stream" else Body(take)
    packed = encoding.strip().casefold()
    if packed in ("", "identity"):
        return inner
    return Unpacked(inner) if packed in ("gzip", "x-gzip", "deflate") else None
