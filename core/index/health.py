"""Whether SQLite and its extensions work here, and whether a file of Keyhole is sound."""

from collections.abc import Iterator
from pathlib import Path

import apsw

from keyhole.core.errors import ErrorKind, UnwritableStoreError
from keyhole.core.index.connection import connect_frozen, explained, system_problem
from keyhole.core.index.extension import load_vectors

# Each must give 1: what the index and the search need from SQLite.
_ABILITIES = {
    "full-text search (FTS5)": (
        "CREATE VIRTUAL TABLE temp.words USING fts5(text, content='', contentless_delete=1);"
        "INSERT INTO words (text) VALUES ('retry backoff');"
        "SELECT count(*) FROM words WHERE words MATCH 'backoff'"
    ),
    "substring search (trigrams)": (
        "CREATE VIRTUAL TABLE temp.parts USING fts5(text, tokenize='trigram');"
        "INSERT INTO parts (text) VALUES ('retry backoff');"
        "SELECT count(*) FROM parts WHERE parts MATCH '\"ackof\"'"
    ),
    "JSON": "SELECT json_extract('[1]', '$[0]')",
}
_VECTORS = "vectors (sqlite-vec)"
_DISTANCE = "SELECT vec_distance_hamming(vec_bit(x'01'), vec_bit(x'00')) = 1"


def sqlite_version() -> str:
    """Return the version of the SQLite that Keyhole uses, which is not Python's own."""
    return apsw.sqlite_lib_version()


def sqlite_abilities() -> Iterator[tuple[str, str]]:
    """Yield each ability that Keyhole needs, with what is wrong with it; empty if it works."""
    db = apsw.Connection(":memory:")
    try:
        for ability, sql in _ABILITIES.items():
            yield ability, _problem_with(db, sql)
        yield _VECTORS, _problem_with(db, _DISTANCE) if load_vectors(db) else "the extension can't be loaded"
    finally:
        db.close()


def _problem_with(db: apsw.Connection, sql: str) -> str:
    try:
        return "" if db.execute(sql).get == 1 else "it gives a wrong result"
    except apsw.Error as error:
        return str(error)


def damage_of(path: Path) -> str:
    """Return what SQLite finds wrong with the file of an index or a journal, without changing it; empty if nothing."""
    with explained(path):
        db = connect_frozen(path)
        if db is None:
            reason = system_problem(path) or _reason_not_to_open(path)
            raise UnwritableStoreError(f"cannot open {path} ({reason})", ErrorKind.UNUSABLE_FOLDER)
        try:
            # One row says that all is well, or there is a row for each problem; the first is enough.
            found = str(next(iter(db.execute("PRAGMA quick_check(1)")))[0])
        finally:
            db.close(True)
    return "" if found == "ok" else " ".join(found.split())


def _reason_not_to_open(path: Path) -> str:
    """Open a file that could not be opened once more, for the reason; a damaged one raises its own error."""
    try:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        db.pragma("user_version")
    except (apsw.CorruptError, apsw.NotADBError):
        raise
    except apsw.Error as error:
        return str(error)
    return "unknown reason"
