"""Reads the journal while other processes write it."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from keyhole.core.errors import ErrorKind, StoreError, UnwritableStoreError
from keyhole.core.index.connection import system_problem
from keyhole.core.index.location import JOURNAL_FILE
from keyhole.core.journal.file import CALL_COLUMNS, VERSION, Identity, identity, open_for_reading
from keyhole.core.processes import is_running
from keyhole.core.types.calls import Call, WrappedServer
from keyhole.core.types.completeness import CallStatus

_BUSY_MS = 1_000
_MOST_AT_ONCE = 1_000
# The version that has the table of wrapped servers.
_WITH_SERVERS = 3
# No call takes this long, so the process of one that is still pending has ended, even if its number is in use again.
_LOST_AFTER = 600.0
# Journals of 0.1.0 know only `ok`, `truncated` and `error`. What their answers lack is in the facts kept with each: the
# answer is looked up for such rows only.
_OLD_ANSWER = """(SELECT CASE
        WHEN facts ->> '$.detail_applied' = 'columns' THEN 'clipped'
        WHEN facts ->> '$.reason' IS NOT NULL AND facts ->> '$.returned_count' < facts ->> '$.original_count'
            THEN 'left out'
        WHEN facts ->> '$.reason' IS NOT NULL THEN 'shortened'
        WHEN facts ->> '$.next' = '' THEN 'complete'
        WHEN facts ->> '$.detail_requested' = 'lines' THEN 'partial'
        ELSE 'more pages' END
    FROM (SELECT nullif(truncation, '') AS facts FROM answer WHERE call_id = call.id) WHERE facts IS NOT NULL)"""
_STATUS = f"""CASE
    WHEN status = 'ok' THEN coalesce({_OLD_ANSWER}, 'complete')
    WHEN status = 'truncated' THEN coalesce({_OLD_ANSWER}, 'left out')
    WHEN status = 'error' AND note = 'cancelled' THEN 'cancelled'
    ELSE status END"""
# The message of a failed call is its answer; lists need only the start of it.
_OWN_PROBLEM = """CASE WHEN status = 'error'
    THEN (SELECT substr(response, 1, 1000) FROM answer WHERE call_id = call.id) END"""
# The answers of wrapped servers are JSON.
_WRAPPED_PROBLEM = """(SELECT CAST(substr(coalesce(
        facts ->> '$.error.message', facts ->> '$.content[0].text', facts), 1, 1000) AS BLOB)
    FROM (SELECT CAST(response AS TEXT) AS facts FROM answer WHERE call_id = call.id) WHERE json_valid(facts))"""
_PROBLEM = f"""CASE WHEN status = 'error' AND server != '' THEN {_WRAPPED_PROBLEM} ELSE {_OWN_PROBLEM} END"""
_COMPUTED = {"status": _STATUS, "problem": _PROBLEM}
# A journal that can't be written stays as it is, without these columns.
_SINCE = {2: {"session": "''", "shown": "''"}, 3: {"server": "''", "problem": _OWN_PROBLEM}, 4: {"caller": "''"}}
_ANSWER = "SELECT response, truncation FROM answer WHERE call_id = ?"
_SERVERS = "SELECT name, command, url, folder FROM server ORDER BY name"


@dataclass(frozen=True, slots=True)
class Mark:
    """A position in a journal, by its identifying number and the last change read."""

    journal: int = 0
    change: int = 0


@dataclass(frozen=True, slots=True)
class Changes:
    """The calls that started or ended after a mark, in that order; the next poll continues from `mark`."""

    calls: tuple[Call, ...]
    mark: Mark
    is_reset: bool = False
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class WholeCall:
    """A call with all its details; `response` is the exact text that was sent."""

    call: Call
    response: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    truncation: Mapping[str, object] = field(default_factory=dict)


def status_now(call: Call) -> CallStatus:
    """Return the status to show: a pending call whose process is gone is lost."""
    return CallStatus.LOST if is_lost(call) else call.status


def is_lost(call: Call) -> bool:
    """Return whether a pending call will never end because its process has ended."""
    if call.status != CallStatus.PENDING:
        return False
    return time.time() - call.started > _LOST_AFTER or not is_running(call.process)


class JournalReader:
    """Reads the journal of one workspace."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._db: apsw.Connection | None = None
        self._opened: Identity | None = None
        self._journal = 0
        self._select = ""
        # The last mark without anything after it, and the version of the file at that time.
        self._end: tuple[Mark, int] | None = None

    def poll(self, since: Mark | None = None) -> Changes:
        """Return the changes after a mark, or the newest calls without one."""
        with self._reading() as db:
            is_reset = since is None or since.journal != self._journal
            if db is None:
                return Changes((), Mark(), is_reset)
            version = int(db.pragma("data_version"))
            if since is not None and (since, version) == self._end:
                return Changes((), since)
            after = since.change if since is not None and not is_reset else self._beginning(db)
            found = self._calls(db, "WHERE change > ? ORDER BY change LIMIT ?", after, _MOST_AT_ONCE)
            mark = Mark(self._journal, found[-1].change if found else after)
            has_more = len(found) == _MOST_AT_ONCE
            if not has_more:
                self._end = mark, version
            return Changes(tuple(found), mark, is_reset, has_more)

    def calls(
        self, admits: Callable[[Call], bool] = lambda _: True, *, before: int | None = None, limit: int = 200
    ) -> list[Call]:
        """Return calls that a filter admits, newest first, starting before an id."""
        found: list[Call] = []
        for call in self._each("WHERE id < ? ORDER BY id DESC", 2**62 if before is None else before):
            if admits(call):
                found.append(call)
                if len(found) == limit:
                    break
        return found

    def each(self, *, since: float = 0.0) -> Iterator[Call]:
        """Stream the calls that started since a time, oldest first."""
        return self._each("WHERE started >= ? ORDER BY id", since)

    def whole(self, call_id: int) -> WholeCall | None:
        """Return one call with its answer, or None if it was deleted."""
        with self._reading() as db:
            found = self._calls(db, "WHERE id = ?", call_id) if db else []
            if db is None or not found:
                return None
            response, truncation = next(iter(db.execute(_ANSWER, (call_id,))), (b"", ""))
        facts = json.loads(truncation) if truncation else {}
        return WholeCall(found[0], response.decode("utf-8", "surrogatepass"), found[0].parameters, facts)

    def servers(self) -> list[WrappedServer]:
        """Return the wrapped servers, by name."""
        with self._reading() as db:
            if db is None or int(db.pragma("user_version")) < _WITH_SERVERS:
                return []
            rows = list(db.execute(_SERVERS))
        return [WrappedServer(name, tuple(json.loads(command)), url, folder) for name, command, url, folder in rows]

    def close(self) -> None:
        """Close the file, if it is open."""
        if self._db is not None:
            self._db.close(True)
        self._db = None
        self._journal = 0
        self._end = None

    def _each(self, where: str, value: float) -> Iterator[Call]:
        with self._reading() as db:
            for row in db.execute(self._select + where, (value,)) if db else ():
                yield _call(row)

    def _calls(self, db: apsw.Connection, where: str, *values: int) -> list[Call]:
        return [_call(row) for row in db.execute(self._select + where, values)]

    def _beginning(self, db: apsw.Connection) -> int:
        """Return the change to start after, so that one poll returns the newest calls."""
        newest = "SELECT change FROM call ORDER BY change DESC LIMIT 1 OFFSET ?"
        return int(db.execute(newest, (_MOST_AT_ONCE - 1,)).get or 0)

    @contextmanager
    def _reading(self) -> Iterator[apsw.Connection | None]:
        """Yield the open journal, or None if there is none."""
        try:
            yield self._connected()
        except (apsw.BusyError, apsw.LockedError) as error:
            raise StoreError("another process is writing the journal", ErrorKind.BUSY) from error
        except (OSError, apsw.CantOpenError, apsw.IOError, apsw.ReadOnlyError, apsw.FullError) as error:
            self.close()
            reason = getattr(error, "strerror", None) or system_problem(self._folder / JOURNAL_FILE) or error
            text = f"cannot read the journal in {self._folder} ({reason})"
            raise UnwritableStoreError(text, ErrorKind.UNUSABLE_FOLDER) from error
        except (apsw.Error, ValueError) as error:
            self.close()
            raise StoreError(f"cannot read the journal ({error})", ErrorKind.DAMAGED_JOURNAL) from error
        if self._db is not None and self._db.readonly("main"):
            # Nothing protects this connection from a writer, so it is not kept.
            self.close()

    def _connected(self) -> apsw.Connection | None:
        now = identity(self._folder)
        if now is None or now != self._opened:
            self.close()
        if now is not None and self._db is None:
            self._db = open_for_reading(self._folder, busy_ms=_BUSY_MS)
            self._journal = int(self._db.execute("SELECT journal FROM counter").get)
            self._select = _selection(int(self._db.pragma("user_version")))
        self._opened = now
        return self._db


def _selection(version: int) -> str:
    """Return the start of a statement that reads calls from a journal of a version."""
    computed = dict(_COMPUTED)
    for added in range(version + 1, VERSION + 1):
        computed |= _SINCE[added]
    columns = ", ".join(computed.get(column, column) for column in CALL_COLUMNS)
    return f"SELECT {columns} FROM call "  # noqa: S608  # the columns are ours


def _call(row: tuple[Any, ...]) -> Call:
    facts = dict(zip(CALL_COLUMNS, row, strict=True))
    problem = (facts["problem"] or b"").decode("utf-8", "replace")
    return Call(**facts | {"status": CallStatus(facts["status"]), "problem": problem})
