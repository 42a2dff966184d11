"""Following the sources of a team's repositories: a revision that is not indexed yet becomes a job."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from keyhole.core.config import Settings
from keyhole.core.errors import GitError, TeamError
from keyhole.core.git.local_mirror import fetch_branches
from keyhole.core.postgres.server_connection import Connection
from keyhole.core.team.job_queue import ask_for
from keyhole.core.team.repository_source import RepositorySource, source_at
from keyhole.core.team.team_database import team_database


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What was found out about a repository; `kind` is current, asked, absent or failed."""

    repository: str
    kind: str
    text: str
    revision: str = ""


def sync_repositories(url: str, settings: Settings, *, fetch: bool) -> Iterator[SyncResult]:
    """Compare every repository with its source, and ask for those that have changed to be indexed."""
    with team_database(url) as db:
        for number, name, source, branch, revision in db.execute(_REPOSITORIES).fetchall():
            found = source_at(settings, Path(source), branch)
            yield _sync(db, number, name, found, revision, fetch=fetch)


def _sync(  # noqa: PLR0913  # the columns of a row
    db: Connection, number: int, name: str, source: RepositorySource, indexed: str, *, fetch: bool
) -> SyncResult:
    if not source.is_there:
        return SyncResult(name, "absent", f"{source.folder} is not on this machine")
    try:
        if fetch and source.is_git:
            fetch_branches(source.folder)
        revision = source.revision()
    except (GitError, TeamError, OSError) as error:
        return SyncResult(name, "failed", str(error))
    if revision == indexed:
        return SyncResult(name, "current", "up to date", revision)
    ask_for(db, number)
    return SyncResult(name, "asked", "to be indexed", revision)


_REPOSITORIES = "SELECT id, name, source, branch, revision FROM repository WHERE source <> '' ORDER BY name"
