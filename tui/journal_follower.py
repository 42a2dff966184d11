"""Following the journal: a thread reads new calls and posts them in batches, one at a time."""

import threading
from typing import TYPE_CHECKING

from textual.message_pump import MessagePump

from keyhole.core.errors import KeyholeError
from keyhole.tui.messages import CallsChanged, JournalFailed

if TYPE_CHECKING:
    from keyhole.core.journal.reader import JournalReader, Mark

_POLL_SECONDS = 0.1
_RETRY_SECONDS = 2.0
_STOP_SECONDS = 1.0


class JournalFollower:
    """Posts the calls of all servers on this workspace, in this process or another."""

    def __init__(self, reader: "JournalReader", listener: MessagePump) -> None:
        self._reader = reader
        self._listener = listener
        self._stopping = threading.Event()
        # The next batch waits until the last one is on the screen, so that calls never delay a key press.
        self._batch_done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keyhole-follow", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def batch_done(self) -> None:
        """Allow the next batch: the last one is on the screen."""
        self._batch_done.set()

    def stop(self) -> None:
        """Stop the thread."""
        self._stopping.set()
        self._batch_done.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        mark: Mark | None = None
        while not self._stopping.is_set():
            try:
                changes = self._reader.poll(mark)
            except KeyholeError as error:
                self._listener.post_message(JournalFailed(error))
                self._stopping.wait(_RETRY_SECONDS)
                continue
            if changes.calls or (changes.is_reset and mark):
                self._batch_done.clear()
                self._listener.post_message(CallsChanged(changes))
                self._batch_done.wait()
            mark = changes.mark
            if not changes.has_more:
                self._stopping.wait(_POLL_SECONDS)
        self._reader.close()
