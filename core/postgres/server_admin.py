"""What an administrator does with the database: create the tables, bring them up to date, and look at them."""

from dataclasses import dataclass
from typing import Any

from keyhole.core.masking import mask_address
from keyhole.core.postgres.postgres_schema import PARTITIONS, migrate, newest_version, version_of
from keyhole.core.postgres.server_connection import Connection, connect, create_extension, explained


@dataclass(frozen=True, slots=True)
class Migrated:
    """The versions of the tables before and after a migration; 0 if there were none."""

    database: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class RepositoryState:
    """One repository on the server, when it was last indexed and how many files are still to be indexed."""

    name: str
    root: str
    files: int
    chunks: int
    updated: str
    pending: int


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """What is on the server; without tables, `version` is 0 and there are no repositories."""

    database: str
    server: str
    vector: str
    version: int
    newest: int
    bytes: int
    repositories: tuple[RepositoryState, ...]


def create_tables(url: str, partitions: int = PARTITIONS) -> Migrated:
    """Create the extension and the tables, or bring the tables up to date."""
    with explained(url), connect(url) as db:
        create_extension(db)
        return Migrated(mask_address(url), *migrate(db, partitions))


def migrate_tables(url: str) -> Migrated:
    """Bring existing tables up to date."""
    with explained(url), connect(url) as db:
        return Migrated(mask_address(url), *migrate(db))


def database_state(url: str) -> DatabaseState:
    """Return what is on the server."""
    with explained(url), connect(url) as db:
        version = version_of(db)
        is_current = version == newest_version()
        return DatabaseState(
            database=mask_address(url),
            server=str(_value(db, "SELECT current_setting('server_version')")),
            vector=str(_value(db, "SELECT extversion FROM pg_extension WHERE extname = 'vector'") or ""),
            version=version,
            newest=newest_version(),
            bytes=int(_value(db, _BYTES) or 0) if version else 0,
            repositories=tuple(RepositoryState(*row) for row in db.execute(_REPOSITORIES)) if is_current else (),
        )


_BYTES = """SELECT sum(pg_total_relation_size(pg_class.oid))::bigint FROM pg_class
    JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = 'keyhole' AND relkind = 'r'"""
_REPOSITORIES = """SELECT repository.name, root,
        (SELECT count(*) FROM file WHERE repo = repository.id),
        coalesce((SELECT value::integer FROM fact WHERE repo = repository.id AND fact.name = 'chunk_count'), 0),
        coalesce((SELECT value #>> '{}' FROM fact WHERE repo = repository.id AND fact.name = 'updated'), ''),
        coalesce((SELECT value::integer FROM fact WHERE repo = repository.id AND fact.name = 'pending'), 0)
    FROM repository ORDER BY repository.name"""


def _value(db: Connection, sql: str) -> Any:
    row = db.execute(sql).fetchone()
    return row[0] if row else None
