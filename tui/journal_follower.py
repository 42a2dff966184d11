"""Following the journal: a thread looks for new calls, and hands them over in batches, one at a time."""

import threading
from typing import TYPE_CHECKING

from textual.message_pump import MessagePump

from keyhole.core.errors import KeyholeError
from keyhole.tui.messages import CallsChanged, JournalFailed

if TYPE_CHECKING:
    from keyhole.core.journal.reader import JournalReader, Mark

_LOOK_EVERY = 0.1
# After a failure there is no hurry.
_RETRY_EVERY = 2.0
_PATIENCE = 1.0


class JournalFollower:
    """Tells of every call of every server on this workspace, whatever process it lives in."""

    def __init__(self, reader: "JournalReader", listener: MessagePump) -> None:
        self._reader = reader
        self._listener = listener
        self._stopping = threading.Event()
        # The next batch waits until the last one is on the screen: calls never pile up in front of a keystroke.
        self._is_taken = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keyhole-follow", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def taken(self) -> None:
        """Take note that the last batch is dealt with."""
        self._is_taken.set()

    def stop(self) -> None:
        """Look no more."""
        self._stopping.set()
        self._is_taken.set()
        if self._thread.is_alive():
            self._thread.join(_PATIENCE)

    def _run(self) -> None:
        mark: Mark | None = None
        while not self._stopping.is_set():
            try:
                changes = self._reader.poll(mark)
            except KeyholeError as error:
                self._listener.post_message(JournalFailed(error))
                self._stopping.wait(_RETRY_EVERY)
                continue
            if changes.calls or (changes.is_reset and mark):
                self._is_taken.clear()
                self._listener.post_message(CallsChanged(changes))
                self._is_taken.wait()
            mark = changes.mark
            if not changes.has_more:
                self._stopping.wait(_LOOK_EVERY)
        self._reader.close()
