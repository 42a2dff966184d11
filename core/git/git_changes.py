"""Which files of a workspace differ from the last commit."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from keyhole.core.git.shadow_repository import ShadowRepository
from keyhole.core.types.view_requests import ChangedFilter

_STATUS = (
    "status",
    "--porcelain=v2",
    "-z",
    "--untracked-files=normal",
    # Git would run itself in each submodule, with that one's configuration.
    "--ignore-submodules=all",
    "--no-ahead-behind",
    "--no-column",
)
_SECONDS = 60.0


class ChangeKind(StrEnum):
    """How a file differs from the last commit, as a letter of `git status`."""

    MODIFIED = "M"
    ADDED = "A"
    UNTRACKED = "?"
    RENAMED = "R"
    CONFLICTED = "U"
    DELETED = "D"


@dataclass(frozen=True, slots=True)
class GitChanges:
    """The changed files of a workspace; of a new folder only the folder is known, since all in it is new."""

    kinds: Mapping[str, ChangeKind] = field(default_factory=dict)
    new_folders: frozenset[str] = frozenset()
    # Why git can't tell; empty if it can.
    problem: str = ""
    folders: frozenset[str] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        paths = [*self.kinds, *self.new_folders]
        above = {path[:end] for path in paths for end in _slashes(path)}
        object.__setattr__(self, "folders", frozenset(above | self.new_folders))

    @property
    def is_known(self) -> bool:
        """Whether git could be asked."""
        return not self.problem

    def kind_of(self, path: str) -> ChangeKind | None:
        """Return how a file has changed; None if it has not."""
        if kind := self.kinds.get(path):
            return kind
        return ChangeKind.UNTRACKED if self.new_folders and self.as_filter(is_wanted=True).admits(path) else None

    def has_changes_in(self, folder: str) -> bool:
        """Return whether any file in a folder has changed."""
        if folder in self.folders:
            return True
        return any(folder[:end] in self.new_folders for end in _slashes(folder)) or "" in self.new_folders

    def as_filter(self, *, is_wanted: bool) -> ChangedFilter:
        """Return the filter that admits the changed files, or all others."""
        return ChangedFilter(is_wanted, frozenset(self.kinds), self.new_folders)


def read_changes(repository: ShadowRepository) -> GitChanges:
    """Ask git what changed since the last commit; of renamed files, under their new names."""
    prefix = repository.prefix
    scope = ["--", prefix] if prefix else []
    return parse_status(repository.run(*_STATUS, *scope, seconds=_SECONDS), prefix)


def parse_status(printed: bytes, prefix: str = "") -> GitChanges:
    """Read the output of `git status --porcelain=v2 -z`; only paths below the prefix count."""
    kinds: dict[str, ChangeKind] = {}
    new_folders: set[str] = set()
    records = iter(os.fsdecode(printed).split("\0"))
    for record in records:
        kind, path = _parsed(record)
        if record.startswith("2 "):
            # The next record is the name that the file had.
            next(records, "")
        if kind is None:
            continue
        if path.endswith("/") and prefix.startswith(path):
            new_folders.add("")
        elif path.startswith(prefix):
            inside = path.removeprefix(prefix)
            new_folders.add(inside.rstrip("/")) if inside.endswith("/") else kinds.update({inside: kind})
    return GitChanges(kinds, frozenset(new_folders))


def _parsed(record: str) -> tuple[ChangeKind | None, str]:
    """Return the kind and the path of one record; fields before the path are separated by single spaces."""
    sort, _, rest = record.partition(" ")
    if sort == "?":
        return ChangeKind.UNTRACKED, rest
    if sort == "1":
        fields = rest.split(" ", 7)
        return _kind(fields[0]), fields[-1]
    if sort == "2":
        return ChangeKind.RENAMED, rest.split(" ", 8)[-1]
    if sort == "u":
        return ChangeKind.CONFLICTED, rest.split(" ", 9)[-1]
    return None, ""


def _kind(states: str) -> ChangeKind:
    """Return the kind from the state in the index and the state on the disk."""
    if "D" in states:
        return ChangeKind.DELETED
    return ChangeKind.ADDED if "A" in states else ChangeKind.MODIFIED


def _slashes(path: str) -> list[int]:
    return [place for place, character in enumerate(path) if character == "/"]
