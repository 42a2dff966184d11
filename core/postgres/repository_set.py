"""The repositories that a store reads: the one of a workspace, or those of a team that someone may see.

The id of a file, chunk, symbol or link contains its repository, so that ids are unique over all repositories, and a
statement about some ids concerns only the repositories, and so the partitions, of these.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_NUMBER_BITS = 32
# The values of statements that are ids, and those that are paths.
_IDS = ("ids", "file_ids", "chunk_ids")
_ID = ("file_id", "id")


def first_id(repository: int) -> int:
    """Return a number below all ids of a repository."""
    return repository << _NUMBER_BITS


def repository_of(any_id: int) -> int:
    """Return the repository of a file, chunk, symbol or link."""
    return any_id >> _NUMBER_BITS


@dataclass(frozen=True, slots=True)
class RepositorySet:
    """Repositories by number; those of a team also by name, which is the first folder of all their paths."""

    numbers: tuple[int, ...]
    by_name: Mapping[str, int] = field(default_factory=dict)

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
        names = {path.partition("/")[0] for path in paths}
        return {self.by_name[name] for name in names} if names <= self.by_name.keys() else set(self.numbers)
