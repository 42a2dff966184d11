"""The rows of repositories on a PostgreSQL server: runs statements, returns named types, and copies rows in batches.

Every statement names the repository as `= %(repo)s`; for several repositories, that becomes `= ANY(%(repo)s)`. Writing
needs exactly one.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import starmap
from types import TracebackType
from typing import Any, Self, TypeVar

import psycopg
from psycopg.types.numeric import Int4

from keyhole.core.deadline import check_time, time_left
from keyhole.core.postgres.repository_set import RepositorySet, first_id
from keyhole.core.postgres.server_connection import Connection, connect_checked, explained

Row = TypeVar("Row")
_REPOSITORY = "%(repo)s"
# PostgreSQL stores neither zero bytes nor halves of characters.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_REPLACEMENT = "\ufffd"
# The number of the type `text`.
_TEXT = 25


class RepositoryRows:
    """A connection for some repositories; a subclass for each group of tables adds its statements."""

    _db: Connection

    def __init__(self, url: str, repositories: RepositorySet) -> None:
        self.url = url
        self.repositories = repositories
        self._open()
        # Whether the current transaction has changed indexed content. New times of files or trigrams are not content.
        self._has_changed = False
        # Whether everything is read from one state of the index.
        self._is_reading = False
        # Rows that are copied into their tables before the next statement that may need them.
        self._waiting: dict[str, list[Sequence[object]]] = defaultdict(list)
        self._waiting_paths: set[str] = set()
        # The paths that the current transaction has written.
        self._written_paths: set[str] = set()
        self._next_ids: dict[str, int] = {}
        self._types: dict[str, list[int]] = {}

    @property
    def repository(self) -> int:
        """The only repository; with several, nothing can be written."""
        (only,) = self.repositories.numbers
        return only

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> None:
        self._db = connect_checked(self.url)

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything inside from one state of the index, even while another process writes."""
        left = time_left()
        limit = "" if left is None else f"; SET LOCAL statement_timeout = {int(left * 1_000) + 1}"
        with explained(self.url):
            self._begin_reading(f"BEGIN READ ONLY, ISOLATION LEVEL REPEATABLE READ{limit}")
        self._is_reading = True
        try:
            yield
        finally:
            self._is_reading = False
            # After a ROLLBACK, psycopg would prepare all statements again.
            self._end("COMMIT")

    def _begin_reading(self, statement: str) -> None:
        """Begin a transaction, on a new connection if the server has ended the old one since the last answer."""
        try:
            self._db.execute(statement)
        except psycopg.OperationalError:
            self._db.close()
            self._db = connect_checked(self.url)
            self._db.execute(statement)

    def _end(self, statement: str) -> None:
        """End a transaction, unless the connection is gone and the transaction with it."""
        if not self._db.closed and self._db.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            with explained(self.url):
                self._db.execute(statement)

    def query(self, sql: str, /, **values: object) -> list[tuple[Any, ...]]:
        """Return rows as plain tuples, after what waits to be written; only this package relies on their cells."""
        self._write_waiting()
        return self._run(sql, values)

    def direct(self, sql: str, /, **values: object) -> list[tuple[Any, ...]]:
        """Run a statement that concerns no row that waits to be written, and return its rows."""
        return self._run(sql, values)

    def _run(self, sql: str, values: dict[str, object]) -> list[tuple[Any, ...]]:
        check_time()
        storable = {name: _storable(value) for name, value in values.items()}
        if _REPOSITORY in sql:
            numbers = self.repositories.narrowed(storable)
            # PostgreSQL plans better for one value than for a list.
            sql = sql if len(numbers) == 1 else sql.replace(f"= {_REPOSITORY}", f"= ANY({_REPOSITORY})")
            storable["repo"] = Int4(numbers[0]) if len(numbers) == 1 else list(map(Int4, numbers))
        with explained(self.url), self._db.cursor(binary=True) as cursor:
            # Readers run the same statements again and again; a writer's are planned for its repository.
            cursor.execute(sql, storable, prepare=self._is_reading)
            # Its description would be made for each result; whether there are rows is known without.
            has_rows = cursor.pgresult is not None and cursor.pgresult.status == psycopg.pq.ExecStatus.TUPLES_OK
            return cursor.fetchall() if has_rows else []

    def rows(self, kind: Callable[..., Row], sql: str, /, **values: object) -> list[Row]:
        """Return each row as an instance of `kind`, made from its cells in order."""
        return list(starmap(kind, self.query(sql, **values)))

    def column(self, sql: str, /, **values: object) -> list[Any]:
        """Return the first cell of each row."""
        return [row[0] for row in self.query(sql, **values)]

    def value(self, sql: str, /, **values: object) -> Any:
        """Return the first cell of the first row, or None."""
        rows = self.query(sql, **values)
        return rows[0][0] if rows else None

    # Writing

    def _add(self, table: str, rows: Sequence[Sequence[object]]) -> None:
        """Add rows, given in the order of the table's columns, with those of other files."""
        self._waiting[table] += rows

    def _settle(self, path: str) -> None:
        """Make sure that no row about a path waits to be written, and expect some."""
        if path in self._waiting_paths:
            self._write_waiting()
        self._waiting_paths.add(path)

    def _write_waiting(self) -> None:
        self._waiting_paths.clear()
        waiting, self._waiting = self._waiting, defaultdict(list)
        for table, rows in waiting.items():
            if rows:
                self._copy(table, rows)

    def _copy(self, table: str, rows: Sequence[Sequence[object]]) -> None:
        with explained(self.url), self._db.cursor() as cursor:
            types, repository = self._types_of(table), self.repository
            # The first column is the repository.
            texts = [place - 1 for place, kind in enumerate(types) if kind == _TEXT]
            with cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types(types)
                for row in rows:
                    cells = [*row]
                    for place in texts:
                        cells[place] = _storable(cells[place])
                    copy.write_row([repository, *cells])

    def _types_of(self, table: str) -> list[int]:
        if table not in self._types:
            of_columns = """SELECT atttypid FROM pg_attribute WHERE attrelid = %(table)s::regclass AND attnum > 0
                AND NOT attisdropped ORDER BY attnum"""
            self._types[table] = [int(oid) for (oid,) in self._run(of_columns, {"table": table})]
        return self._types[table]

    def _new_ids(self, table: str, count: int) -> range:
        """Return the next ids of a table; only one process writes a repository at a time."""
        if table not in self._next_ids:
            # The row with the highest id may be one that waits to be written.
            highest = f"SELECT max(id) FROM {table} WHERE repo = %(repo)s"  # noqa: S608
            self._next_ids[table] = int(self.value(highest) or first_id(self.repository)) + 1
        first = self._next_ids[table]
        self._next_ids[table] += count
        return range(first, first + count)


def storable_text(text: str) -> str:
    """Return a text with a replacement for what PostgreSQL can't store."""
    return text if text.isascii() and "\0" not in text else _UNSTORABLE.sub(_REPLACEMENT, text)


def _storable(value: object) -> object:
    """Return a value with a replacement for what PostgreSQL can't store."""
    if isinstance(value, str):
        return storable_text(value)
    is_texts = isinstance(value, list) and value and isinstance(value[0], str)
    return [_storable(part) for part in value] if is_texts else value  # type: ignore[attr-defined]  # a list of texts
