"""An open index file: runs statements, returns rows as named types, and converts SQLite's errors to Keyhole's."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import starmap
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from keyhole.core.index.connection import connect, explained

Row = TypeVar("Row")

# Lines of files, given as pairs of path and line. As a table, because SQLite would take each pair apart for each row
# that it is compared with.
LINES_WANTED = """WITH wanted AS MATERIALIZED (
    SELECT key, value ->> 0 AS path, value ->> 1 AS line FROM json_each(?))"""


class Database:
    """A connection to an index; a subclass for each group of tables adds its statements."""

    def __init__(self, path: Path, *, vfs: str | None = None, is_reader: bool = False) -> None:
        self.path = path
        self._db = connect(path, vfs=vfs, is_reader=is_reader)
        # Whether the current transaction has changed indexed content. New times of files or trigrams are not content.
        self._has_changed = False

    @property
    def is_frozen(self) -> bool:
        """Whether the index is open without the right to write; such a reader must not be kept."""
        return self._db.readonly("main")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; when the last connection closes, SQLite merges the write-ahead log into it."""
        with explained(self.path):
            self._db.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything inside from one state of the index, even while another process writes."""
        with explained(self.path):
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                # After some errors SQLite has already ended the transaction.
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return rows as plain tuples; only table modules may rely on the order of the cells."""
        try:
            with explained(self.path):
                return list(self._db.execute(sql, values))
        except UnicodeEncodeError:
            # A shell passes bytes that are not UTF-8 as halves of characters.
            return self.query(sql, *map(_storable, values))

    @contextmanager
    def stepped(self, sql: str, *values: object) -> Iterator[Iterator[tuple[Any, ...]]]:
        """Provide rows one by one, for callers that stop early."""
        with explained(self.path):
            cursor = self._db.cursor()
            try:
                yield cursor.execute(sql, values)
            finally:
                cursor.close(force=True)

    def rows(self, kind: Callable[..., Row], sql: str, *values: object) -> list[Row]:
        """Return each row as an instance of `kind`, made from its cells in order."""
        return list(starmap(kind, self.query(sql, *values)))

    def column(self, sql: str, *values: object) -> list[str]:
        """Return the first cell of each row, which is text."""
        return [row[0] for row in self.query(sql, *values)]

    def value(self, sql: str, *values: object) -> Any:
        """Return the first cell of the first row, or None."""
        rows = self.query(sql, *values)
        return rows[0][0] if rows else None

    def _next_id(self, table: str) -> int:
        return int(self._db.execute(f"SELECT ifnull(max(id), 0) + 1 FROM {table}").get)  # noqa: S608


def json_ids(ids: Iterable[int]) -> str:
    """Return ids as a JSON list for `json_each`."""
    # One parameter holds any number of ids, so the statement is always the same and SQLite prepares it once.
    return f"[{','.join(map(str, ids))}]"


def _storable(value: object) -> object:
    """Return a value with zero bytes, which are in no path and no word, in place of halves of characters."""
    return re.sub("[\\ud800-\\udfff]", "\\0", value) if isinstance(value, str) else value
