"""Keeps the index up to date for agents: in the background, with progress, and without failing an answer."""

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable

from keyhole.core.errors import ErrorKind, KeyholeError, StoreError
from keyhole.core.service import Service
from keyhole.core.types.inventory import Progress

log = logging.getLogger("keyhole.mcp")

# Seconds that the first search waits for the index, and that later ones wait for the check for changed files.
FIRST_PATIENCE = 5.0
LATER_PATIENCE = 0.5
# Checking more often would find nothing that the check of the hits does not find.
_PAUSE = 2.0
_POLL = 0.1

Report = Callable[[Progress], Awaitable[None]]


class Freshness:
    """Runs at most one update at a time."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._thread: threading.Thread | None = None
        self._progress = Progress(0, 0, 0, "")
        self._ended = float("-inf")
        self._has_ended = False
        # Whether all that is left to do is reading files again that an older version of keyhole indexed.
        self._is_renewing = False
        self._failure: KeyholeError | None = None
        self._logged = ""

    async def catch_up(self, report: Report) -> None:
        """Start an update if one is due, and wait for it, but not longer than the limits above.

        A call does not wait for an update that another call started: that update may already be past the files this
        call is about, and with many agents all of them would stop whenever one of them started an update.
        """
        is_due = self._thread is None and time.monotonic() - self._ended > _PAUSE
        if is_due:
            self._thread = threading.Thread(target=self._update, name="keyhole-index", daemon=True)
            self._thread.start()
        if not self._has_ended:
            await self._wait(FIRST_PATIENCE, report)
        elif is_due:
            await self._wait(LATER_PATIENCE, report)
        if not self._service.has_index():
            raise self._failure or StoreError("the index is being built", ErrorKind.BUILDING)

    async def _wait(self, patience: float, report: Report) -> None:
        deadline = time.monotonic() + patience
        reported = None
        while self._thread is not None and not self._is_renewing and time.monotonic() < deadline:
            await asyncio.sleep(_POLL if reported else 0.005)
            if self._progress != reported and self._progress.total:
                reported = self._progress
                await report(reported)

    def _update(self) -> None:
        self._failure = None
        try:
            report = self._service.index(renew=False, on_progress=self._keep_progress, on_message=log.info)
            if report.outdated:
                # Nothing is missing from the index any more, so no call waits for the rest.
                self._is_renewing = self._has_ended = True
                self._service.index(on_message=log.info)
        except KeyholeError as error:
            # The same problem, such as a full disk, is logged once, and not for every call.
            if str(error) != self._logged:
                self._logged = str(error)
                log.warning("could not update the index: %s", error)
            self._failure = error
        except Exception:
            log.exception("could not update the index")
            self._failure = StoreError("the index could not be built; the log of the server says why")
        finally:
            self._has_ended, self._is_renewing = True, False
            self._ended = time.monotonic()
            self._thread = None

    def _keep_progress(self, progress: Progress) -> None:
        self._progress = progress
