"""Who may see what, for the server of a team: tokens are looked up, and calls counted, in the database.

All processes and machines that serve count together. A token is looked up again after two seconds, so that one that
was revoked, expired or got other groups soon stops working.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from keyhole.core.postgres.kept_connection import KeptConnection
from keyhole.core.postgres.server_connection import Connection
from keyhole.core.team.access_tokens import TeamAccess, access_on
from keyhole.core.team.team_database import NamedRepository, group_numbers

_SECONDS = 2.0
# Wrong tokens are remembered too, so there may be any number.
_MOST_KNOWN = 1_000
_COUNT = """INSERT INTO token_calls AS known (token, minute, calls) VALUES (%s, date_trunc('minute', now()), 1)
    ON CONFLICT (token) DO UPDATE SET minute = excluded.minute,
        calls = CASE WHEN known.minute = excluded.minute THEN known.calls + 1 ELSE 1 END
    RETURNING calls, ceil(extract(epoch FROM minute + interval '1 minute' - now()))::integer"""
_ALL = "SELECT id, name FROM repository WHERE source <> '' ORDER BY name"
_OF_GROUP = """SELECT repository.id, name FROM repository JOIN group_repository ON repo = repository.id
    WHERE group_id = %s AND source <> '' ORDER BY name"""


class AccessBook:
    """Answers for one server, which may serve only the repositories of one group; safe to use from any thread."""

    def __init__(self, url: str, group: str = "") -> None:
        self._kept = KeptConnection(url)
        self._group = group
        self._known: dict[bytes, tuple[float, TeamAccess | None]] = {}

    def access(self, token: str) -> TeamAccess | None:
        """Return what the bearer of a token may do; None if it is not valid."""
        key = sha256(token.encode("utf-8", "surrogatepass")).digest()
        looked_up, access = self._known.get(key, (float("-inf"), None))
        if time.monotonic() - looked_up < _SECONDS:
            return access
        access = self._kept.ask(lambda db: self._look_up(db, token))
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[key] = time.monotonic(), access
        return access

    def seconds_to_wait(self, access: TeamAccess) -> int:
        """Count a call; return 0 if it may be made, or in how many seconds the next one may."""
        calls, seconds = self._kept.ask(lambda db: db.execute(_COUNT, [access.token], prepare=True).fetchone()) or (
            0,
            0,
        )
        return max(1, int(seconds)) if calls > access.calls_per_minute else 0

    def close(self) -> None:
        """Close the connection; the next question opens it again."""
        self._kept.close()

    def _look_up(self, db: Connection, token: str) -> TeamAccess | None:
        access = access_on(db, token)
        if access is None or not self._group:
            return access
        served = {repository.id for repository in repositories_on(db, self._group)}
        return replace(access, repositories=tuple(one for one in access.repositories if one.id in served))


def named_repositories(url: str, name: str) -> list[NamedRepository]:
    """Return the repositories of a group, the repository with this name, or all if it is empty."""
    kept = KeptConnection(url)
    try:
        every = list(kept.ask(lambda db: repositories_on(db, "")))
        alone = [repository for repository in every if repository.name == name]
        return alone or (list(kept.ask(lambda db: repositories_on(db, name))) if name else every)
    finally:
        kept.close()


def served_repositories(url: str, group: str = "") -> list[NamedRepository]:
    """Return the repositories of a group, or all of the team, by name; raise TeamError for an unknown group."""
    kept = KeptConnection(url)
    try:
        return list(kept.ask(lambda db: repositories_on(db, group)))
    finally:
        kept.close()


def repositories_on(db: Connection, group: str) -> Sequence[NamedRepository]:
    """Do the same on an open connection."""
    rows = db.execute(_OF_GROUP, group_numbers(db, [group])) if group else db.execute(_ALL)
    return [NamedRepository(*row) for row in rows]
