"""The tables on a PostgreSQL server: their version, the reason for each change, and the migrations.

Version  Why it changed
1        the index of many repositories
2        repositories and groups of a team, jobs, tokens, and the text of files
3        a row for each word of a block of files instead of each chunk, a sixth of the room: the tables of the index
         are created again, and workers index every repository again

All tables but the list of repositories have the repository's number in front, and are split by its hash into
partitions: a question about one repository touches one partition of each table, and an operator can move partitions to
other disks or machines with PostgreSQL's own means.

The order of columns matters: rows are copied into tables in this order. `TEXT` sorts by bytes, as SQLite does.
"""

from collections.abc import Callable
from typing import Any

import psycopg

from keyhole.core.errors import ErrorKind, StoreError
from keyhole.core.postgres.team_tables import TEAM_TABLES

PARTITIONS = 16
SCHEMA = "keyhole"
# The key of the lock that `migrate` holds, so that two processes never change the tables at the same time.
_MIGRATION_LOCK = 0x4B68_6F6C

_REPOSITORIES = """
CREATE TABLE version (version integer NOT NULL);
INSERT INTO version VALUES (0);

CREATE TABLE repository (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    host TEXT NOT NULL,
    root TEXT NOT NULL,
    created timestamptz NOT NULL DEFAULT now()
);
"""

# Every table with rows of a repository, without its first column, `repo`.
TABLES = {
    # Facts about the whole index of a repository, as JSON.
    "fact": "name TEXT NOT NULL, value jsonb NOT NULL, PRIMARY KEY (repo, name)",
    "file": """
        id bigint NOT NULL,
        path TEXT NOT NULL,
        size bigint NOT NULL,
        mtime_ns bigint NOT NULL,
        ctime_ns bigint NOT NULL,
        inode bigint NOT NULL,
        digest TEXT NOT NULL,
        encoding TEXT NOT NULL,
        language TEXT NOT NULL,
        lines integer NOT NULL,
        has_errors boolean NOT NULL,
        has_trigrams boolean NOT NULL,
        masked TEXT NOT NULL,        -- JSON: first line, last line and kind of each masked secret
        content_hint TEXT NOT NULL,  -- what the text says about the role
        role TEXT NOT NULL,          -- empty until all files are indexed
        analysis integer NOT NULL,
        PRIMARY KEY (repo, id),
        UNIQUE (repo, path)""",
    "skip": """
        path TEXT NOT NULL,
        reason TEXT NOT NULL,
        detail TEXT NOT NULL,
        is_dir boolean NOT NULL,
        size bigint,      -- of a file that was skipped for its content: until one of these four
        mtime_ns bigint,  -- changes, it is not read again
        ctime_ns bigint,
        inode bigint,
        PRIMARY KEY (repo, path)""",
    # The ignore files that the last run used.
    "rule_file": """
        path TEXT NOT NULL,
        size bigint NOT NULL,
        mtime_ns bigint NOT NULL,
        ctime_ns bigint NOT NULL,
        inode bigint NOT NULL,
        PRIMARY KEY (repo, path)""",
    "chunk": """
        id bigint NOT NULL,
        file_id bigint NOT NULL,
        start_line integer NOT NULL,
        end_line integer NOT NULL,
        start integer NOT NULL,   -- offset in characters of the decoded file
        length integer NOT NULL,
        definitions TEXT NOT NULL,
        words integer NOT NULL,   -- in the path, the definitions and the text
        PRIMARY KEY (repo, id)""",
    # The words of a block of files, packed (word_postings.py). A word may have several rows in a block. There is no
    # primary key: an index in which the same key is often repeated is much smaller than one without repetitions.
    "block_word": """
        block integer NOT NULL,
        is_wide boolean NOT NULL,
        word TEXT NOT NULL,
        postings bytea NOT NULL,
        places bytea NOT NULL""",
    "chunk_signs": "chunk_id bigint NOT NULL, signs varbit NOT NULL, PRIMARY KEY (repo, chunk_id)",
    "chunk_vector": "chunk_id bigint NOT NULL, vector bytea NOT NULL, PRIMARY KEY (repo, chunk_id)",
    "chunk_tokens": "chunk_id bigint NOT NULL, tokens bytea NOT NULL, PRIMARY KEY (repo, chunk_id)",
    "symbol": """
        id bigint NOT NULL,
        file_id bigint NOT NULL,
        depth integer NOT NULL,
        name TEXT NOT NULL,
        kind TEXT NOT NULL,
        signature TEXT NOT NULL,
        doc TEXT NOT NULL,
        returns TEXT NOT NULL,
        start_line integer NOT NULL,
        end_line integer NOT NULL,
        name_line integer NOT NULL,
        parent TEXT NOT NULL,
        exported boolean NOT NULL,
        modifiers TEXT NOT NULL,
        PRIMARY KEY (repo, id)""",
    "file_document": """
        file_id bigint NOT NULL,
        words bytea NOT NULL,
        vector bytea NOT NULL,
        PRIMARY KEY (repo, file_id)""",
    # One record per file with all its names (syntax/occurrences.py), and the files that contain a name.
    "file_occurrences": "file_id bigint NOT NULL, names bytea NOT NULL, PRIMARY KEY (repo, file_id)",
    "file_name": "name TEXT NOT NULL, file_id bigint NOT NULL, PRIMARY KEY (name, repo, file_id)",
    # The trigrams of a file as hashes, and one of the repository, so that an index lookup can find only its files.
    # No other index has the repository: the server would use that one, and unpack the trigrams of every file.
    "file_trigrams": "file_id bigint NOT NULL, trigrams integer[] NOT NULL",
    # Links as written, and what they resolve to; `state` is NULL until a link is resolved.
    "link": """
        id bigint NOT NULL,
        file_id bigint NOT NULL,
        line integer NOT NULL,
        kind TEXT NOT NULL,
        target TEXT NOT NULL,
        part TEXT NOT NULL,
        is_fixed boolean NOT NULL,   -- external by its text alone, independent of other files
        state TEXT,
        path TEXT NOT NULL,
        reason TEXT NOT NULL,
        site TEXT NOT NULL,
        PRIMARY KEY (repo, id)""",
    # The text of a file as it was indexed, with secrets masked, compressed; only of a team's repositories.
    "file_text": "file_id bigint NOT NULL, text bytea NOT NULL, PRIMARY KEY (repo, file_id)",
    "declared": """
        id bigint NOT NULL,
        file_id bigint NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (repo, id)""",
}
_INDEXES = """
CREATE INDEX ON chunk (repo, file_id);
CREATE INDEX ON block_word (word, repo);
CREATE INDEX ON block_word (repo, block);
CREATE INDEX ON symbol (lower(name), repo);
CREATE INDEX ON symbol (repo, file_id, depth);
CREATE INDEX ON file_name (repo, file_id);
CREATE INDEX ON file_trigrams USING gin (trigrams);
CREATE INDEX ON file_trigrams (file_id);
CREATE INDEX ON file (repo) WHERE NOT has_trigrams;
CREATE INDEX ON link (repo, file_id);
CREATE INDEX ON link (repo, path) WHERE path <> '';
CREATE INDEX ON link (repo, reason) WHERE reason <> '';
CREATE INDEX ON link (repo, site) WHERE site <> '';
CREATE INDEX ON declared (repo, file_id);
-- It is compressed already.
ALTER TABLE file_text ALTER COLUMN text SET STORAGE EXTERNAL;
"""
# The tables of the index before version 3.
_OLD_TABLES = (*(table for table in TABLES if table != "block_word"), "chunk_word")


def _create(db: psycopg.Connection, _partitions: int) -> None:
    _run(db, _REPOSITORIES)


def _add_teams(db: psycopg.Connection, _partitions: int) -> None:
    _run(db, TEAM_TABLES)


def _create_index(db: psycopg.Connection, partitions: int) -> None:
    """Create the tables of the index, and let workers fill them again if there were others."""
    partitions = _partitions_in(db) or partitions
    _run(db, f"DROP TABLE IF EXISTS {', '.join(_OLD_TABLES)}")
    for table, columns in TABLES.items():
        _run(db, f"CREATE TABLE {table} (repo integer NOT NULL, {columns}) PARTITION BY HASH (repo)")
        for number in range(partitions):
            part = f"CREATE TABLE {table}_{number} PARTITION OF {table}"
            _run(db, f"{part} FOR VALUES WITH (MODULUS {partitions}, REMAINDER {number})")
    _run(db, _INDEXES)
    _run(db, "UPDATE repository SET revision = ''")
    asked = "INSERT INTO job (repo) SELECT id FROM repository WHERE source <> ''"
    _run(db, f"{asked} ON CONFLICT (repo) DO UPDATE SET asked = now(), not_before = now()")


def _partitions_in(db: psycopg.Connection) -> int:
    """Return into how many partitions the tables are split; 0 if there are none yet."""
    (found,) = _one(db, "SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass('keyhole.fact')")
    return int(found)


# What each version changes; the last number is the version that this Keyhole reads and writes.
MIGRATIONS: dict[int, Callable[[psycopg.Connection, int], None]] = {1: _create, 2: _add_teams, 3: _create_index}


def newest_version() -> int:
    """Return the version of the tables that this Keyhole reads and writes."""
    return max(MIGRATIONS)


def version_of(db: psycopg.Connection) -> int:
    """Return the version of the tables; 0 if there are none."""
    (found,) = _one(db, "SELECT to_regclass('keyhole.version') IS NOT NULL")
    return int(_one(db, "SELECT version FROM keyhole.version")[0]) if found else 0


def migrate(db: psycopg.Connection, partitions: int = PARTITIONS) -> tuple[int, int]:
    """Create the tables or bring them up to date, all or nothing; return the versions before and after.

    `partitions` counts only when the tables are created.
    """
    with db.transaction():
        _run(db, f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
        before = version_of(db)
        if before > newest_version():
            raise newer_error(before)
        _run(db, f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        for version in sorted(version for version in MIGRATIONS if version > before):
            MIGRATIONS[version](db, partitions)
            _run(db, f"UPDATE version SET version = {version}")  # noqa: S608
    return before, newest_version()


def check_version(db: psycopg.Connection) -> None:
    """Raise StoreError unless the tables have the version that this Keyhole reads and writes."""
    found = version_of(db)
    if found > newest_version():
        raise newer_error(found)
    if not found:
        raise StoreError("the database has no tables of keyhole yet", ErrorKind.NO_TABLES)
    if found < newest_version():
        text = f"the tables in the database have version {found}, and this keyhole needs version {newest_version()}"
        raise StoreError(text, ErrorKind.OLD_TABLES)


def newer_error(found: int) -> StoreError:
    """Return the error for tables that a newer Keyhole made."""
    text = f"the tables in the database have version {found}, and this keyhole knows only {newest_version()}"
    return StoreError(text, ErrorKind.NEWER_TABLES)


def _run(db: psycopg.Connection, sql: str) -> None:
    db.execute(sql.replace("TEXT", 'text COLLATE "C"'))


def _one(db: psycopg.Connection, sql: str) -> tuple[Any, ...]:
    row = db.execute(sql).fetchone()
    assert row is not None  # noqa: S101  # each of these statements gives one row
    return row
