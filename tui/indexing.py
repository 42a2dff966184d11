"""Keeping the index current behind the interface: runs in a thread of its own, and a watch on the files."""

import asyncio
import sys
import threading
from contextlib import redirect_stderr
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING

from textual.message_pump import MessagePump

from keyhole.core.errors import KeyholeError
from keyhole.core.notes import IndexMessage
from keyhole.core.types import Progress
from keyhole.tui.messages import FilesChanged, Indexed, Indexing, IndexingFailed, IndexNotice, WatchingFailed

if TYPE_CHECKING:
    from keyhole.core.service import Service

# A bar that moves more often than this costs more than it tells.
_TELL_EVERY = 20
_DEBOUNCE_MS = 500
_PATIENCE_SECONDS = 1


class _StoppedError(Exception):
    """The explorer is closing: what is indexed so far stays."""


class IndexRuns:
    """Runs the index, one run at a time; what is asked for during a run is one more run after it.

    The thread is a daemon of its own and not one of Textual's workers: a run that waits for another process's lock
    must not keep the explorer from closing.
    """

    def __init__(self, service: "Service", listener: MessagePump) -> None:
        self._service = service
        self._listener = listener
        self._thread: threading.Thread | None = None
        self._again = False
        self._stopping = threading.Event()

    def start(self) -> None:
        """Bring the index up to date, now or as soon as the present run ends."""
        if self._thread is not None:
            self._again = True
            return
        self._thread = threading.Thread(target=self._run, name="keyhole-index", daemon=True)
        self._thread.start()

    def ended(self) -> None:
        """Take note, in the interface's thread, that the run has ended; start the next if one is wanted."""
        self._thread = None
        if self._again:
            self._again = False
            self.start()

    def stop(self) -> None:
        """Ask the run to end, and give it a moment to close what it has open."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(_PATIENCE_SECONDS)

    def _run(self) -> None:
        try:
            _start_resource_tracker()
            report = self._service.index(on_progress=self._tell, on_message=self._say)
            inventory, status = self._service.inventory(), self._service.status()
            self._listener.post_message(Indexed(report, inventory, status))
        except _StoppedError:
            pass
        except KeyholeError as error:
            self._listener.post_message(IndexingFailed(error))

    def _tell(self, progress: Progress) -> None:
        if self._stopping.is_set():
            raise _StoppedError
        if progress.done % _TELL_EVERY == 0 or progress.done == progress.total:
            self._listener.post_message(Indexing(progress))

    def _say(self, message: IndexMessage) -> None:
        self._listener.post_message(IndexNotice(message))


def _start_resource_tracker() -> None:
    """Start what multiprocessing needs before the workers: it wants a real stderr, and Textual's has no file."""
    with redirect_stderr(sys.__stderr__):
        resource_tracker.ensure_running()


async def watch_files(service: "Service", listener: MessagePump) -> None:
    """Tell whenever files of the workspace change."""
    from watchfiles import awatch

    try:
        async for _ in awatch(service.root, debounce=_DEBOUNCE_MS, recursive=True):
            listener.post_message(FilesChanged())
    except (OSError, RuntimeError) as error:
        # Mostly a limit of the system on how many folders can be watched.
        listener.post_message(WatchingFailed(str(error)))
    except asyncio.CancelledError:
        pass
