"""The repositories and groups of a team: adding, removing and listing them."""

import platform
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import starmap
from pathlib import Path

from psycopg import errors

from keyhole.core.errors import TeamError
from keyhole.core.files.walk import examine
from keyhole.core.postgres.postgres_home import delete_repository
from keyhole.core.postgres.repository_lock import repository_lock
from keyhole.core.postgres.server_connection import Connection
from keyhole.core.team.job_queue import ask_for
from keyhole.core.team.repository_source import RepositorySource
from keyhole.core.team.team_database import (
    NamedRepository,
    check_name,
    group_numbers,
    named_repository,
    team_database,
)
from keyhole.core.types.source_files import Skip

_UNUSABLE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class TeamRepository:
    """A repository as the administrator sees it; `state` is indexed, waiting, working or failed."""

    name: str
    source: str
    branch: str
    revision: str
    indexed: datetime | None
    chunks: int
    groups: Sequence[str]
    state: str
    worker: str
    failures: int
    problem: str
    next_try: datetime | None


@dataclass(frozen=True, slots=True)
class TeamGroup:
    """A group, its repositories, and the tokens that give access to them."""

    name: str
    repositories: tuple[str, ...]
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddedRepository:
    """A repository that was added; its revision will be indexed by the next free worker."""

    name: str
    source: str
    branch: str
    revision: str
    groups: tuple[str, ...]


def add_repository(url: str, source: RepositorySource, name: str = "", groups: Sequence[str] = ()) -> AddedRepository:
    """Add a repository, to some groups if any are named, and ask for it to be indexed; groups are made if new."""
    if not source.is_there:
        raise TeamError(f"{source.folder} is not a folder on this machine")
    name = name or _name_of(source.folder)
    _check_repository_name(name)
    for group in groups:
        check_name("group", group)
    if source.branch and not source.is_git:
        raise TeamError(f"{source.folder} is not a git repository, so it has no branch {source.branch}")
    revision = source.revision()
    with team_database(url) as db, db.transaction():
        number = _insert(db, name, source)
        for group in groups:
            _put_into(db, group, [NamedRepository(number, name)])
        ask_for(db, number)
    return AddedRepository(name, str(source.folder), source.branch, revision, tuple(dict.fromkeys(groups)))


def remove_repository(url: str, name: str) -> None:
    """Delete a repository with everything that is indexed of it; a worker that is at it stops."""
    with team_database(url) as db:
        number, _ = named_repository(db, name)
        # Without its job, a worker ends as soon as it notices, and can't write.
        db.execute("DELETE FROM job WHERE repo = %s", [number])
        with repository_lock(url, number, wait=True):
            delete_repository(db, number)


def list_repositories(url: str) -> list[TeamRepository]:
    """Return all repositories of the team, sorted by name."""
    with team_database(url) as db:
        return list(starmap(TeamRepository, db.execute(_LIST)))


def list_groups(url: str) -> list[TeamGroup]:
    """Return all groups, sorted by name."""
    with team_database(url) as db:
        return [
            TeamGroup(name, tuple(repositories), tuple(tokens)) for name, repositories, tokens in db.execute(_GROUPS)
        ]


def add_to_group(url: str, group: str, names: Sequence[str]) -> None:
    """Put repositories into a group, which is made if it is new."""
    check_name("group", group)
    with team_database(url) as db, db.transaction():
        _put_into(db, group, [named_repository(db, name) for name in names])


def remove_from_group(url: str, group: str, names: Sequence[str]) -> None:
    """Take repositories out of a group; without names, delete the group itself, not its repositories."""
    with team_database(url) as db, db.transaction():
        (number,) = group_numbers(db, [group])
        if not names:
            db.execute("DELETE FROM team_group WHERE id = %s", [number])
        for name in names:
            repository, _ = named_repository(db, name)
            taken = "DELETE FROM group_repository WHERE group_id = %s AND repo = %s"
            if not db.execute(taken, [number, repository]).rowcount:
                raise TeamError(f"{name} is not in the group {group}")


def _name_of(folder: Path) -> str:
    """Return the name of a folder as that of a repository: `acme.git` is `acme`."""
    return _UNUSABLE.sub("-", folder.name.removesuffix(".git")).strip("-._")


def _check_repository_name(name: str) -> None:
    """Raise TeamError for a name that can't be the first folder of all paths, or that an index always skips."""
    check_name("repository", name)
    with tempfile.TemporaryDirectory() as empty:
        found = examine(Path(empty), f"{name}/file", max_bytes=1)
    if isinstance(found, Skip) and found.path == name:
        text = f"folders called '{name}' are never indexed ({found.reason}), so it can't be the name of a repository"
        raise TeamError(f"{text}; choose another name with --name")


def _insert(db: Connection, name: str, source: RepositorySource) -> int:
    folder = str(source.folder)
    try:
        folder.encode()
    except UnicodeEncodeError:
        raise TeamError("the path of the folder is not valid UTF-8") from None
    values = [name, platform.node(), folder, folder, source.branch]
    try:
        with db.transaction():
            row = db.execute(_INSERT, values).fetchone()
    except errors.UniqueViolation:
        (taken,) = db.execute("SELECT source FROM repository WHERE name = %s", [name]).fetchone() or ("",)
        text = f"the name '{name}' is taken by {taken or 'another repository'}; choose another name with --name"
        raise TeamError(text) from None
    assert row is not None  # noqa: S101  # an insert returns its row
    return int(row[0])


def _put_into(db: Connection, group: str, repositories: Sequence[NamedRepository]) -> None:
    db.execute("INSERT INTO team_group (name) VALUES (%s) ON CONFLICT (name) DO NOTHING", [group])
    (number,) = group_numbers(db, [group])
    for repository in repositories:
        put = "INSERT INTO group_repository (group_id, repo) VALUES (%s, %s) ON CONFLICT DO NOTHING"
        db.execute(put, [number, repository.id])


_INSERT = "INSERT INTO repository (name, host, root, source, branch) VALUES (%s, %s, %s, %s, %s) RETURNING id"
_LIST = """SELECT repository.name, source, branch, revision, indexed,
        coalesce((SELECT value::integer FROM fact WHERE fact.repo = repository.id AND fact.name = 'chunk_count'), 0),
        ARRAY(SELECT team_group.name FROM group_repository JOIN team_group ON team_group.id = group_id
            WHERE group_repository.repo = repository.id ORDER BY team_group.name),
        CASE WHEN job.repo IS NULL THEN 'indexed' WHEN lease > now() THEN 'working'
            WHEN not_before > now() THEN 'failed' ELSE 'waiting' END,
        coalesce(worker, ''), coalesce(failures, 0), coalesce(problem, ''),
        CASE WHEN not_before > now() THEN not_before END
    FROM repository LEFT JOIN job ON job.repo = repository.id
    WHERE source <> '' ORDER BY repository.name"""
_GROUPS = """SELECT name,
        ARRAY(SELECT repository.name FROM group_repository JOIN repository ON repository.id = repo
            WHERE group_id = team_group.id ORDER BY repository.name),
        ARRAY(SELECT access_token.name FROM token_group JOIN access_token ON access_token.id = token_id
            WHERE group_id = team_group.id AND revoked IS NULL ORDER BY access_token.name)
    FROM team_group ORDER BY name"""
