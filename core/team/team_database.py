"""Short questions to the database of a team, and the names of what is in it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from keyhole.core.errors import TeamError
from keyhole.core.postgres.postgres_schema import check_version
from keyhole.core.postgres.server_connection import Connection, connect, explained
from keyhole.core.suggest import suggest_name

# A repository's name is the first folder of its paths, so it must be a plain name of a folder everywhere.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class NamedRepository(NamedTuple):
    """A repository of a team: its number in the tables, and its name, which all its paths start with."""

    id: int
    name: str


@contextmanager
def team_database(url: str) -> Iterator[Connection]:
    """Connect to a database with tables of the right version; its errors are raised as Keyhole's."""
    with explained(url), connect(url) as db:
        check_version(db)
        yield db


def check_name(kind: str, name: str) -> None:
    """Raise TeamError if a name can't be given to a repository, a group or a token."""
    if not _NAME.fullmatch(name) or name.endswith("."):
        rule = "use letters, digits, '.', '_' and '-', at most 64, starting with a letter or digit"
        raise TeamError(f"'{name}' can't be the name of a {kind}; {rule}")


def unknown_name(kind: str, name: str, known: Iterable[str]) -> TeamError:
    """Return the error for a name that is not in the database, with the closest names that are."""
    return TeamError(f"there is no {kind} '{name}'", suggestion=suggest_name(name, sorted(known)))


def group_numbers(db: Connection, names: Sequence[str]) -> list[int]:
    """Return the numbers of groups; raise TeamError for an unknown one."""
    known = {name: number for number, name in db.execute("SELECT id, name FROM team_group")}
    for name in names:
        if name not in known:
            raise unknown_name("group", name, known)
    return [known[name] for name in dict.fromkeys(names)]


def named_repository(db: Connection, name: str) -> NamedRepository:
    """Return a team's repository by its name; raise TeamError if there is none."""
    known = {name: number for number, name in db.execute("SELECT id, name FROM repository WHERE source <> ''")}
    if name not in known:
        raise unknown_name("repository", name, known)
    return NamedRepository(known[name], name)
