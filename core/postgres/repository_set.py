"""The repositories that a store reads: the one of a workspace, or those of a team that someone may see.

The id of a file, chunk, symbol or link contains its repository, so that ids are unique over all repositories, and a
statement about some ids concerns only the repositories, and so the partitions, of these.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from psycopg.types.numeric import Int4

from keyhole.core.postgres.server_connection import IdArray

_NUMBER_BITS = 32
# The files at some paths: `at_paths` gives the values, so that each path is looked up only where it can be.
FILE_AT_PATH = """unnest(%(repos)s::integer[], %(paths)s::text[]) wanted(in_repo, at_path)
    JOIN file ON file.repo = in_repo AND file.path = at_path"""
LINES_OF_FILES = """unnest(%(repos)s::integer[], %(paths)s::text[], %(lines)s::integer[])
        WITH ORDINALITY wanted(repo, path, line, number)
    JOIN file ON file.repo = wanted.repo AND file.path = wanted.path"""
# The values of statements that are ids, and those that are paths.
_IDS = ("ids", "file_ids", "chunk_ids")
_ID = ("file_id", "id")


def rows_with_ids(table: str, column: str = "id") -> str:
    """Return how to join the rows of a table that have some ids, given by `with_ids`, each from its own partition."""
    of_id = f"{table}.repo = (wanted_id >> {_NUMBER_BITS})::integer AND {table}.{column} = wanted_id"
    return f"unnest(%(ids)s::bigint[]) wanted(wanted_id) JOIN {table} ON {of_id}"


def first_id(repository: int) -> int:
    """Return a number below all ids of a repository."""
    return repository << _NUMBER_BITS


def repository_of(any_id: int) -> int:
    """Return the repository of a file, chunk, symbol or link."""
    return any_id >> _NUMBER_BITS


def number_of(any_id: int) -> int:
    """Return the number of a file, chunk, symbol or link in its repository."""
    return any_id & ((1 << _NUMBER_BITS) - 1)


@dataclass(frozen=True, slots=True)
class RepositorySet:
    """Repositories by number; those of a team also by name, which is the first folder of all their paths."""

    numbers: tuple[int, ...]
    by_name: Mapping[str, int] | None = None

    @property
    def are_of_team(self) -> bool:
        """Whether these are repositories of a team, of which each revision appears at once."""
        return self.by_name is not None

    def with_ids(self, ids: Iterable[int]) -> dict[str, object]:
        """Return the values of a statement about rows with ids: each once, and none of another repository."""
        own = set(self.numbers)
        return {"ids": IdArray.of([one for one in dict.fromkeys(ids) if repository_of(one) in own])}

    def at_paths(self, paths: Iterable[str]) -> dict[str, object]:
        """Return the values of a statement about files at paths, each once."""
        wanted = list(dict.fromkeys(paths))
        return {"repos": self.of_paths(wanted), "paths": wanted}

    def of_paths(self, paths: Iterable[str]) -> list[Int4]:
        """Return the repository that each of these paths can be in; 0 if none."""
        if self.by_name is None:
            (only,) = self.numbers
            return [Int4(only) for _ in paths]
        return [Int4(self.by_name.get(path.partition("/")[0], 0)) for path in paths]

    def narrowed(self, values: Mapping[str, object]) -> tuple[int, ...]:
        """Return the repositories that a statement with these values can concern."""
        if len(self.numbers) <= 1:
            return self.numbers
        found = set(self.numbers)
        for name, value in values.items():
            if name in _IDS:
                found &= {repository_of(one) for one in value}  # type: ignore[attr-defined]  # a list of ids
            elif name in _ID:
                found &= {repository_of(value)}  # type: ignore[arg-type]  # an id
            elif name == "path":
                found &= self._at_paths([value])  # type: ignore[list-item]  # a path
            elif name == "paths":
                found &= self._at_paths(value)  # type: ignore[arg-type]  # a list of paths
        return tuple(sorted(found))

    def _at_paths(self, paths: Iterable[str]) -> set[int]:
        """Return the repositories that can contain these paths: all, if a path does not start with a name."""
        known = self.by_name or {}
        names = {path.partition("/")[0] for path in paths}
        return {known[name] for name in names} if names <= known.keys() else set(self.numbers)
