"""Standard streams for the server on stdio: a bad message gets an answer here and never reaches the library.

The library reads lines without a limit and gives no answer to what is not a JSON-RPC message. It takes its streams from
`sys.stdin` and `sys.stdout`, so these are replaced: reading skips and answers bad lines, and every write is one whole
message, so that answers from two threads never mix.
"""

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import BinaryIO

from keyhole.mcp_server.request_check import MAX_REQUEST_BYTES, check_request, refuse_large

# Enough to find the id of a request of which the rest is dropped.
_END_KEPT = 1_000


class CheckedInput(io.BufferedIOBase):
    """Reads from a stream; returns the good lines, and answers the others."""

    def __init__(self, source: BinaryIO, answer: Callable[[bytes], None]) -> None:
        self._source = source
        self._answer = answer

    def readable(self) -> bool:
        """Return that this stream can be read."""
        return True

    def read1(self, size: int = -1, /) -> bytes:
        """Return the next good line, whatever size is asked for: a text stream keeps what it does not use yet."""
        del size
        while line := self._source.readline(MAX_REQUEST_BYTES + 1):
            if len(line) > MAX_REQUEST_BYTES and not line.endswith(b"\n"):
                self._answer(refuse_large(line[:_END_KEPT], self._end_of_line(line)).to_json())
            # Empty lines are no messages; a person may press Enter.
            elif line.strip():
                refusal = check_request(line)
                if refusal is None:
                    # The library's text stream would end a line at a carriage return too, which JSON allows as a space.
                    return line.replace(b"\r", b" ").rstrip(b"\n") + b"\n"
                self._answer(refusal.to_json())
        return b""

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next good line."""
        return self.read1(-1 if size is None else size)

    def _end_of_line(self, line: bytes) -> bytes:
        """Read up to the end of a line that is too long, and return its last part."""
        while line and not line.endswith(b"\n"):
            end = line[-_END_KEPT:]
            line = self._source.readline(MAX_REQUEST_BYTES)
        return (end + line)[-_END_KEPT:]


class WholeWrites(io.BufferedIOBase):
    """Writes to a stream, one message at a time."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self._lock = Lock()

    def writable(self) -> bool:
        """Return that this stream can be written."""
        return True

    def write(self, data: "bytes | bytearray | memoryview", /) -> int:  # type: ignore[override]  # any buffer is meant
        """Write a message and send it."""
        with self._lock:
            self._target.write(data)
            self._target.flush()
        return len(data)

    def answer(self, message: bytes) -> None:
        """Write one line."""
        self.write(message + b"\n")


@contextmanager
def checked_streams() -> Iterator[None]:
    """Replace the standard streams while the server runs.

    Meanwhile, descriptor 0 is empty and 1 is stderr, so that nothing else reads requests or writes between answers.
    """
    wire_in, wire_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    before = sys.stdin, sys.stdout
    # Not closed at the end: a thread may still wait for the next line.
    output = WholeWrites(os.fdopen(wire_out, "wb", closefd=False))
    source = os.fdopen(wire_in, "rb", closefd=False)
    sys.stdin = io.TextIOWrapper(CheckedInput(source, output.answer), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(output, encoding="utf-8", write_through=True)
    try:
        yield
    finally:
        os.dup2(wire_in, 0)
        os.dup2(wire_out, 1)
        sys.stdin, sys.stdout = before
