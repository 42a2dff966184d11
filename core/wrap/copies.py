"""Takes copies of what passes, and has them parsed in another thread: calls never wait, and no error reaches them."""

import logging
import threading
import time
from enum import Enum
from queue import SimpleQueue

from keyhole.core.wrap.framing import CopiedStream

log = logging.getLogger("keyhole.wrap")

# Copies that wait to be parsed; beyond this, messages are not recorded.
_MOST_WAITING = 64_000_000


class _Sign(Enum):
    """What may come instead of bytes: some of them are missing here, or the stream has ended."""

    GAP = 1
    END = 2


_Item = tuple[CopiedStream, bytes | _Sign, float]


class Copies:
    """A queue of copies, and the thread that reads it."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[_Item | threading.Event] = SimpleQueue()
        self._waiting = 0
        self._counting = threading.Lock()
        self._with_gap: set[int] = set()
        self._thread: threading.Thread | None = None
        self._has_warned = False

    def saw(self, stream: CopiedStream, chunk: bytes, *, may_start: bool = True) -> None:
        """Take a copy of the next bytes of a stream; `may_start` is False while nothing should be slowed down yet."""
        with self._counting:
            is_full = self._waiting + len(chunk) > _MOST_WAITING
            has_gap = id(stream) in self._with_gap
            if is_full:
                self._with_gap.add(id(stream))
            else:
                self._with_gap.discard(id(stream))
                self._waiting += len(chunk)
        if not is_full:
            self._put(stream, chunk, may_start=may_start)
        elif not has_gap:
            self._put(stream, _Sign.GAP)

    def ended(self, stream: CopiedStream) -> None:
        """Say that a stream has ended."""
        self._put(stream, _Sign.END)

    def close(self, timeout: float) -> None:
        """Parse what is left, within the timeout."""
        if self._thread is not None or not self._queue.empty():
            self._start()
            done = threading.Event()
            self._queue.put(done)
            done.wait(timeout)

    def _put(self, stream: CopiedStream, chunk: bytes | _Sign, *, may_start: bool = True) -> None:
        self._queue.put((stream, chunk, time.time()))
        if may_start:
            self._start()

    def _start(self) -> None:
        if self._thread is not None:
            return
        with self._counting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="keyhole-copies", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            item = self._queue.get()
            if isinstance(item, threading.Event):
                item.set()
                continue
            try:
                self._parse(*item)
            except Exception as error:  # noqa: BLE001  # any error may lose the record, but never a message
                self._warn(error)

    def _parse(self, stream: CopiedStream, chunk: bytes | _Sign, at: float) -> None:
        if chunk is _Sign.GAP:
            stream.gap()
        elif chunk is _Sign.END:
            stream.end(at)
        else:
            with self._counting:
                self._waiting -= len(chunk)
            stream.feed(chunk, at)

    def _warn(self, error: Exception) -> None:
        if not self._has_warned:
            self._has_warned = True
            log.warning("some calls are not recorded: %s", str(error) or type(error).__name__)
