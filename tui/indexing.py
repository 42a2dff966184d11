"""Keeping the index current in the background: index runs in their own thread, and a file watcher."""

import asyncio
import sys
import threading
from contextlib import redirect_stderr, suppress
from typing import TYPE_CHECKING

from textual.message_pump import MessagePump

from keyhole.core.errors import KeyholeError
from keyhole.core.notes import IndexMessage
from keyhole.core.types.inventory import Inventory, Progress
from keyhole.tui.messages import (
    FilesChanged,
    FilesFound,
    Indexed,
    Indexing,
    IndexingFailed,
    IndexNotice,
    WatchingFailed,
)

if TYPE_CHECKING:
    from keyhole.core.service import Service

# Updating the progress bar for every file would slow the run down.
_FILES_PER_UPDATE = 20
_DEBOUNCE_MS = 500
_STOP_SECONDS = 1


class _StoppedError(Exception):
    """The explorer is closing; files indexed so far stay in the index."""


class IndexRuns:
    """Runs the indexer, one run at a time; requests during a run lead to one more run after it.

    The thread is a daemon and not one of Textual's workers: a run that waits for another process's lock must not
    keep the explorer from closing.
    """

    def __init__(self, service: "Service", listener: MessagePump) -> None:
        self._service = service
        self._listener = listener
        self._thread: threading.Thread | None = None
        self._again = False
        self._retries_next = False
        self._stopping = threading.Event()
        # Until the first run has ended, the explorer only knows the paths that this run finds.
        self._has_ended = False

    def start(self, *, retry: bool = False) -> None:
        """Start an index run, now or as soon as the current one ends; `retry` parses again what could not be parsed."""
        if self._thread is not None:
            self._again = True
            self._retries_next |= retry
            return
        self._thread = threading.Thread(target=self._run, args=(retry,), name="keyhole-index", daemon=True)
        self._thread.start()

    def ended(self) -> None:
        """Mark the run as ended and start the next one if requested; called in the interface's thread."""
        self._thread = None
        if self._again:
            retry, self._again, self._retries_next = self._retries_next, False, False
            self.start(retry=retry)

    def stop(self) -> None:
        """Ask the run to stop, and give it a moment to close its files."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def _run(self, retry: bool) -> None:
        try:
            _start_resource_tracker()
            if not self._has_ended:
                self._post_known()
            report = self._service.index(
                retry=retry,
                on_progress=self._post_progress,
                on_message=self._post_notice,
                on_found=None if self._has_ended else self._post_found,
            )
            inventory, status = self._service.inventory(), self._service.status()
            samples = None if self._has_ended else self._service.sample_queries()
            self._has_ended = True
            self._listener.post_message(Indexed(report, inventory, status, samples))
        except _StoppedError:
            pass
        except KeyholeError as error:
            self._listener.post_message(self._failed(error))

    def _failed(self, error: KeyholeError) -> IndexingFailed:
        """Return the failure of a run, with what can still be searched, as on a full disk."""
        try:
            return IndexingFailed(error, self._service.inventory(), self._service.status())
        except KeyholeError:
            return IndexingFailed(error)

    def _post_progress(self, progress: Progress) -> None:
        if self._stopping.is_set():
            raise _StoppedError
        if progress.done % _FILES_PER_UPDATE == 0 or progress.done == progress.total:
            self._listener.post_message(Indexing(progress))

    def _post_known(self) -> None:
        """Post what an index from before knows: another process may hold its lock for long."""
        with suppress(KeyholeError):
            if self._service.has_index():
                self._post_found(self._service.inventory())

    def _post_found(self, inventory: Inventory) -> None:
        from keyhole.core.search.sample_queries import sample_file_queries

        samples = sample_file_queries(file.path for file in inventory.files)
        self._listener.post_message(FilesFound(inventory, samples))

    def _post_notice(self, message: IndexMessage) -> None:
        self._listener.post_message(IndexNotice(message))


def _start_resource_tracker() -> None:
    """Start multiprocessing's resource tracker before the workers: it needs a real stderr, which Textual replaces."""
    if sys.platform == "win32":  # It has none.
        return
    from multiprocessing import resource_tracker

    with redirect_stderr(sys.__stderr__):
        resource_tracker.ensure_running()


async def watch_files(service: "Service", listener: MessagePump) -> None:
    """Post a message whenever files of the workspace change."""
    from watchfiles import awatch

    try:
        async for _ in awatch(service.root, debounce=_DEBOUNCE_MS, recursive=True):
            listener.post_message(FilesChanged())
    except (OSError, RuntimeError) as error:
        # Usually the system's limit on watched folders.
        listener.post_message(WatchingFailed(str(error)))
    except asyncio.CancelledError:
        pass
