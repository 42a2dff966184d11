"""Writes the journal in its own thread, so that no answer waits for the disk and no error reaches a caller."""

import json
import logging
import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue

import apsw

from keyhole.core.index.connection import transaction
from keyhole.core.journal.file import Identity, delete, identity, open_for_writing
from keyhole.core.masking import mask_text
from keyhole.core.types.calls import ShownLines, WrappedServer
from keyhole.core.types.completeness import CallStatus

log = logging.getLogger("keyhole.journal")

LONGEST_ARGUMENTS = 100_000
# Enough files of an answer to find out which calls follow it.
_MOST_SHOWN = 200
# The queue is limited; calls beyond this are not recorded.
_MOST_WAITING = 256
_MOST_AT_ONCE = 64
_BUSY_MS = 2_000
_PRUNE_EVERY = 64
_WARN_EVERY = 60.0


@dataclass(frozen=True, slots=True, eq=False)
class Started:
    """A call that has started."""

    transport: str
    client: str
    client_version: str
    tool: str
    arguments: Mapping[str, object]
    at: float = field(default_factory=time.time)
    session: str = ""
    server: str = ""
    # The name of the token, on the server of a team.
    caller: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """The outcome of a call; `response` is the exact text that was sent, `truncation` is the effect of the budget."""

    status: CallStatus
    response: str
    ms: float
    tokens: int = 0
    budget: int = 0
    utilisation: float = 0.0
    note: str = ""
    truncation: Mapping[str, object] | None = None
    shown: Sequence[ShownLines] = ()


_Event = tuple[Started, Ended | None] | WrappedServer


class Journal:
    """Writes the journal of one workspace; only `flush` and `close` wait, and no method raises."""

    def __init__(self, folder: Path, *, max_bytes: int, max_seconds: float) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._max_seconds = max_seconds
        # Unlike a bounded queue, a SimpleQueue is safe in a signal handler that interrupts a put or get.
        self._queue: SimpleQueue[_Event | threading.Event] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._db: apsw.Connection | None = None
        self._opened: Identity | None = None
        self._ids: dict[Started, int] = {}
        self._until_prune = 0
        self._warned = float("-inf")
        self._reason = ""

    def started(self, call: Started) -> None:
        """Record the start of a call."""
        self._put((call, None))

    def ended(self, call: Started, outcome: Ended) -> None:
        """Record the outcome of a call."""
        self._put((call, outcome))

    def wraps(self, server: WrappedServer) -> None:
        """Record how a wrapped server is started."""
        self._put(server)

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait until the queue is written or dropped; return False on a timeout."""
        if self._thread is None:
            return True
        done = threading.Event()
        self._queue.put(done)
        return done.wait(timeout)

    def close(self, timeout: float = 1.0) -> None:
        """Write the rest of the queue, within the timeout."""
        self.flush(timeout)

    def _put(self, event: _Event) -> None:
        if self._queue.qsize() >= _MOST_WAITING:
            self._warn("too many calls are waiting to be written")
            return
        self._queue.put(event)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="keyhole-journal", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            events, waiting = self._next()
            if events:
                self._try_to_write(events)
            for done in waiting:
                done.set()

    def _next(self) -> tuple[list[_Event], list[threading.Event]]:
        """Wait for an event, and take all others that are in the queue."""
        events: list[_Event] = []
        waiting: list[threading.Event] = []
        item = self._queue.get()
        while True:
            if isinstance(item, threading.Event):
                waiting.append(item)
            else:
                events.append(item)
            if len(events) >= _MOST_AT_ONCE:
                return events, waiting
            try:
                item = self._queue.get_nowait()
            except Empty:
                return events, waiting

    def _try_to_write(self, events: list[_Event]) -> None:
        try:
            self._write(events)
        except (apsw.CorruptError, apsw.NotADBError):
            self._recreate(events)
        except Exception as error:  # noqa: BLE001  # any error may lose the record, but never the answer
            self._give_up(error)
        for event in events:
            if not isinstance(event, WrappedServer) and event[1]:
                self._ids.pop(event[0], None)

    def _recreate(self, events: list[_Event]) -> None:
        """Replace a damaged journal with a new one, and write to that."""
        try:
            self._disconnect()
            delete(self._folder, only=self._opened)
            self._write(events)
            log.warning("the journal was damaged; started a new one")
        except Exception as error:  # noqa: BLE001  # as above
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        self._warn(str(error) or type(error).__name__)
        self._disconnect()

    def _write(self, events: list[_Event]) -> None:
        db = self._connected()
        should_prune = self._until_prune <= 0
        ids = dict(self._ids)
        with transaction(db):
            _write(db, events, ids)
            if should_prune:
                prune(db, max_bytes=self._max_bytes, before=time.time() - self._max_seconds)
        self._ids = ids
        self._until_prune = (_PRUNE_EVERY if should_prune else self._until_prune) - len(events)
        if should_prune:
            db.execute("PRAGMA incremental_vacuum").fetchall()

    def _connected(self) -> apsw.Connection:
        """Return the open journal; reopen it if another process has deleted it."""
        if self._db is None or identity(self._folder) != self._opened:
            self._disconnect()
            self._ids.clear()
            self._opened = identity(self._folder)
            self._db = open_for_writing(self._folder, busy_ms=_BUSY_MS)
            self._opened = identity(self._folder)
        return self._db

    def _disconnect(self) -> None:
        if self._db is not None:
            self._db.close(True)
        self._db = None

    def _warn(self, reason: str) -> None:
        """Log that calls are not recorded: each reason once, and at most one a minute."""
        if reason != self._reason and time.monotonic() - self._warned > _WARN_EVERY:
            self._warned, self._reason = time.monotonic(), reason
            log.warning("calls are not recorded: %s", reason)


def prune(db: apsw.Connection, *, max_bytes: int, before: float) -> None:
    """Delete calls that are too old, then the oldest until the journal is small enough."""
    db.execute("DELETE FROM call WHERE started < ?", (before,))
    while _used_bytes(db) > max_bytes and (count := db.execute("SELECT count(*) FROM call").get):
        oldest = max(1, int(count) // 20)
        db.execute("DELETE FROM call WHERE id IN (SELECT id FROM call ORDER BY id LIMIT ?)", (oldest,))


def _used_bytes(db: apsw.Connection) -> int:
    pages = int(db.pragma("page_count")) - int(db.pragma("freelist_count"))
    return pages * int(db.pragma("page_size"))


def _write(db: apsw.Connection, events: Iterable[_Event], ids: dict[Started, int]) -> None:
    change = int(db.execute("SELECT value FROM counter").get)
    for event in events:
        if isinstance(event, WrappedServer):
            _write_server(db, event)
            continue
        call, outcome = event
        change += 1
        call_id = ids.get(call)
        # The call may have been deleted by `prune`, or never written.
        if call_id is None or not db.execute("SELECT 1 FROM call WHERE id = ?", (call_id,)).get:
            call_id = ids[call] = _insert(db, call, change)
        if outcome:
            _finish(db, call_id, outcome, change)
    db.execute("UPDATE counter SET value = ?", (change,))


def _insert(db: apsw.Connection, call: Started, change: int) -> int:
    # A query may contain a secret; the answer is recorded as it was sent.
    arguments = json.dumps(masked_value(call.arguments))
    kept = arguments if len(arguments) <= LONGEST_ARGUMENTS else ""
    names = map(mask_text, (call.client, call.client_version, call.tool))
    facts = (change, call.at, os.getpid(), call.transport, *names, kept, call.session)
    db.execute(
        """INSERT INTO call (change, started, process, transport, client, client_version, tool, arguments, session,
            server, caller, status, ms, tokens, budget, utilisation, response_bytes, note)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', 0, 0, 0, 0, 0, '')""",
        (*facts, mask_text(call.server), mask_text(call.caller)),
    )
    return db.last_insert_rowid()


def _write_server(db: apsw.Connection, server: WrappedServer) -> None:
    command = json.dumps([mask_text(part) for part in server.command])
    db.execute(
        "INSERT OR REPLACE INTO server (name, command, url, folder) VALUES (?, ?, ?, ?)",
        (mask_text(server.name), command, mask_text(server.url), server.folder),
    )


def masked_value(value: object) -> object:
    """Return a value for JSON with its tokens masked; JSON's escapes would hide where a token starts."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {mask_text(str(key)): masked_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [masked_value(item) for item in value]
    return mask_text(str(value))


def _finish(db: apsw.Connection, call_id: int, outcome: Ended, change: int) -> None:
    response = outcome.response.encode("utf-8", "surrogatepass")
    db.execute(
        """UPDATE call SET change = ?, status = ?, ms = ?, tokens = ?, budget = ?, utilisation = ?, response_bytes = ?,
            note = ?, shown = ? WHERE id = ?""",
        (
            change,
            str(outcome.status),
            outcome.ms,
            outcome.tokens,
            outcome.budget,
            outcome.utilisation,
            len(response),
            outcome.note,
            _shown_json(outcome.shown),
            call_id,
        ),
    )
    truncation = json.dumps(outcome.truncation) if outcome.truncation else ""
    db.execute(
        "INSERT OR REPLACE INTO answer (call_id, response, truncation) VALUES (?, ?, ?)",
        (call_id, response, truncation),
    )


def _shown_json(shown: Sequence[ShownLines]) -> str:
    rows = [(mask_text(part.path), *((part.first, part.last, part.version) if part.last else ())) for part in shown]
    return json.dumps(rows[:_MOST_SHOWN]) if rows else ""
