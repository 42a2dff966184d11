"""What a clone says: the files of a commit, and the commits before it with the files they touched."""

import os
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

LARGEST_FILE = 1_000_000
MOST_COMMITS = 20_000
_REGULAR = ("100644", "100755")
# Clones may lack large files; git must not try to download each of them.
_ENVIRONMENT = os.environ | {"GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C.UTF-8"}
_COMMIT, _FIELD = "\x01", "\x02"


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: its subject, its author, and the files it touched, under their names in the newest tree."""

    subject: str
    author: str
    paths: tuple[str, ...]
    # The names that the files had then.
    old_paths: tuple[str, ...]


def read_tree(git: Path, commit: str) -> dict[str, bytes]:
    """Return the text files of a commit, except large ones."""
    listed = _git(git, "ls-tree", "-r", "-z", commit).decode("utf-8", "replace")
    objects = {}
    for entry in filter(None, listed.split("\0")):
        facts, _, path = entry.partition("\t")
        mode, _, identifier = facts.split()
        # A name that is not UTF-8 could not be found again.
        if mode in _REGULAR and "\ufffd" not in path:
            objects[path] = identifier
    sizes = _sizes(git, sorted(set(objects.values())))
    wanted = {path: found for path, found in objects.items() if sizes.get(found, LARGEST_FILE + 1) <= LARGEST_FILE}
    contents = _contents(git, sorted(set(wanted.values())))
    return {path: contents[found] for path, found in sorted(wanted.items()) if b"\0" not in contents[found]}


def read_history(git: Path, commit: str, paths: frozenset[str]) -> Iterator[Commit]:
    """Yield the commits up to this one, newest first, without merges; follow files that were moved.

    Only moves of the same content or the same file name are seen: comparing contents would take too long.
    """
    layout = f"--format={_COMMIT}%an{_FIELD}%s"
    command = ("log", f"-{MOST_COMMITS}", "--no-merges", "--name-status", "-M100%", layout, commit)
    text = _git(git, "-c", "core.quotePath=false", *command).decode("utf-8", "replace")
    newer: dict[str, str] = {}
    for entry in text.split(_COMMIT)[1:]:
        head, *lines = entry.split("\n")
        author, _, subject = head.partition(_FIELD)
        changes = [tuple(line.split("\t")) for line in lines if line]
        # A file that was only moved has nothing to do with the subject.
        touched = [change[-1] for change in changes if change[0] not in ("D", "R100")]
        now = tuple(newer.get(path, path) for path in touched)
        yield Commit(subject, author, tuple(path for path in now if path in paths), tuple(touched))
        moves = _moves(changes)
        newer.update({old: newer.get(new, new) for old, new in moves.items()})


def _moves(changes: list[tuple[str, ...]]) -> dict[str, str]:
    """Return the moved files of a commit: found by git, or one removed and one added with the same name."""
    moves = {change[1]: change[2] for change in changes if change[0].startswith("R")}
    removed: dict[str, list[str]] = defaultdict(list)
    added: dict[str, list[str]] = defaultdict(list)
    for status, path, *_ in changes:
        if status in ("D", "A"):
            (removed if status == "D" else added)[PurePosixPath(path).name].append(path)
    for name, (old, *others) in removed.items():
        if not others and len(added[name]) == 1:
            moves[old] = added[name][0]
    return moves


def _sizes(git: Path, identifiers: list[str]) -> dict[str, int]:
    output = _git(git, "cat-file", "--batch-check", given=_lines(identifiers)).decode()
    rows = (line.split() for line in output.splitlines())
    return {row[0]: int(row[2]) for row in rows if len(row) == 3}


def _contents(git: Path, identifiers: list[str]) -> dict[str, bytes]:
    output = _git(git, "cat-file", "--batch", given=_lines(identifiers))
    contents, position = {}, 0
    while position < len(output):
        end = output.index(b"\n", position)
        identifier, _, size = output[position:end].decode().split()
        start = end + 1
        contents[identifier] = output[start : start + int(size)]
        position = start + int(size) + 1
    return contents


def _lines(identifiers: list[str]) -> bytes:
    return "".join(f"{identifier}\n" for identifier in identifiers).encode()


def _git(git: Path, *arguments: str, given: bytes = b"") -> bytes:
    command = ["git", "--git-dir", str(git), *arguments]
    return subprocess.run(command, input=given, stdout=subprocess.PIPE, check=True, env=_ENVIRONMENT).stdout
