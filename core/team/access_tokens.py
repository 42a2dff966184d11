"""Tokens for the server of a team: each gives access to the repositories of some groups, until it expires.

A token is random text with a prefix that masks know (core/masking.py). Only its SHA-256 is stored: that is enough for
random text, and whoever reads the database can't use it.
"""

import secrets
import string
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from psycopg import errors

from keyhole.core.errors import TeamError
from keyhole.core.masking import TEAM_TOKEN_LENGTH, TEAM_TOKEN_PREFIX
from keyhole.core.postgres.server_connection import Connection
from keyhole.core.team.team_database import NamedRepository, check_name, group_numbers, team_database, unknown_name

_ALPHABET = string.ascii_letters + string.digits
DEFAULT_DAYS = 90
DEFAULT_CALLS_PER_MINUTE = 600


@dataclass(frozen=True, slots=True)
class TeamAccess:
    """What the bearer of a token may do: see these repositories, and make so many calls per minute."""

    token: str
    repositories: tuple[NamedRepository, ...]
    calls_per_minute: int


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was just created; `secret` is shown once and not stored."""

    name: str
    secret: str
    groups: tuple[str, ...]
    expires: datetime | None
    calls_per_minute: int


@dataclass(frozen=True, slots=True)
class TokenState:
    """A token as the administrator sees it; `state` is valid, expired or revoked."""

    name: str
    state: str
    groups: tuple[str, ...]
    created: datetime
    expires: datetime | None
    revoked: datetime | None
    calls_per_minute: int


def create_token(
    url: str,
    name: str,
    groups: Sequence[str],
    *,
    days: int | None = DEFAULT_DAYS,
    calls_per_minute: int = DEFAULT_CALLS_PER_MINUTE,
) -> NewToken:
    """Create a token for the repositories of some groups; without `days` it never expires."""
    check_name("token", name)
    secret = TEAM_TOKEN_PREFIX + "".join(secrets.choice(_ALPHABET) for _ in range(TEAM_TOKEN_LENGTH))
    with team_database(url) as db, db.transaction():
        numbers = group_numbers(db, groups)
        try:
            row = db.execute(_CREATE, [name, _hash(secret), days, calls_per_minute]).fetchone()
        except errors.UniqueViolation:
            text = f"there is already a token '{name}', valid or not; choose another name"
            raise TeamError(text) from None
        assert row is not None  # noqa: S101  # an insert returns its row
        token_id, expires = row
        for number in numbers:
            db.execute("INSERT INTO token_group (token_id, group_id) VALUES (%s, %s)", [token_id, number])
    return NewToken(name, secret, tuple(dict.fromkeys(groups)), expires, calls_per_minute)


def list_tokens(url: str) -> list[TokenState]:
    """Return all tokens, those that can't be used any more too, sorted by name."""
    with team_database(url) as db:
        return [
            TokenState(name, state, tuple(groups), created, expires, revoked, calls)
            for name, state, groups, created, expires, revoked, calls in db.execute(_LIST)
        ]


def revoke_token(url: str, name: str) -> bool:
    """Make a token useless from the next call on; return False if it was revoked before."""
    with team_database(url) as db:
        known = dict(db.execute("SELECT name, revoked FROM access_token").fetchall())
        if name not in known:
            raise unknown_name("token", name, known)
        db.execute("UPDATE access_token SET revoked = now() WHERE name = %s AND revoked IS NULL", [name])
        return known[name] is None


def access_of(url: str, token: str) -> TeamAccess | None:
    """Return what the bearer of a token may do; None if there is no such token, or it is revoked or expired."""
    with team_database(url) as db:
        return access_on(db, token)


def access_on(db: Connection, token: str) -> TeamAccess | None:
    """Do the same on an open connection."""
    found = db.execute(_FIND, [_hash(token)]).fetchone()
    if found is None:
        return None
    token_id, name, calls = found
    repositories = tuple(NamedRepository(*row) for row in db.execute(_REPOSITORIES, [token_id]))
    return TeamAccess(name, repositories, calls)


def _hash(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


_CREATE = """INSERT INTO access_token (name, hash, expires, calls_per_minute)
    VALUES (%s, %s, now() + make_interval(days => %s::integer), %s) RETURNING id, expires"""
_FIND = """SELECT id, name, calls_per_minute FROM access_token
    WHERE hash = %s AND revoked IS NULL AND (expires IS NULL OR expires > now())"""
_REPOSITORIES = """SELECT DISTINCT repository.id, repository.name FROM token_group
    JOIN group_repository USING (group_id) JOIN repository ON repository.id = group_repository.repo
    WHERE token_id = %s AND source <> '' ORDER BY repository.name"""
_LIST = """SELECT name,
        CASE WHEN revoked IS NOT NULL THEN 'revoked' WHEN expires <= now() THEN 'expired' ELSE 'valid' END,
        ARRAY(SELECT team_group.name FROM token_group JOIN team_group ON team_group.id = group_id
            WHERE token_id = access_token.id ORDER BY team_group.name),
        created, expires, revoked, calls_per_minute
    FROM access_token ORDER BY name"""
