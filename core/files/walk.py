"""Finding the files of a workspace, with a recorded reason for every skipped path.

A walk can reuse the results of an earlier one. If the ignore files have not changed, paths that the earlier walk saw
are not matched against the rules again, so a walk over an unchanged tree takes little longer than listing the folders
and reading the time of each file.
"""

import errno
import os
import re
import stat
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from keyhole.core.files.ignore import IGNORE_FILES, IgnoreRules, Rule, RuleFile
from keyhole.core.files.read import read_bytes, too_large
from keyhole.core.files.secret_names import secret_names
from keyhole.core.files.stamps import settled, stamp_of
from keyhole.core.masking import mask_text
from keyhole.core.types.source_files import DEFAULT_SECRETS, Candidate, SecretPolicy, Skip, SkipReason, Stamp
from keyhole.core.untrusted_text import visible

MAX_RULE_FILE_BYTES = 1_000_000
EXCLUDE_FILE = ".git/info/exclude"

# Reasons that can change without a change of the name, the rules or the content: every walk checks them again.
RECHECKED_REASONS = frozenset(
    [SkipReason.TOO_LARGE, SkipReason.SYMLINK, SkipReason.SPECIAL, SkipReason.UNREADABLE, SkipReason.WORKTREE]
)
# The `.git` file of a submodule in a worktree contains `/worktrees/NAME` too, but not at the end.
_WORKTREE = re.compile(rb"/worktrees/[^/]+\s*\Z")
# Windows has links to folders that count as folders, and only Python 3.12 and later has a name for them.
_HAS_JUNCTIONS = os.name == "nt"
_JUNCTION_TAG = 0xA0000003


@dataclass(slots=True)
class Known:
    """The results of an earlier walk; `rules_hold` means that settings and default rules have not changed since."""

    files: dict[str, Stamp] = field(default_factory=dict)
    skips: dict[str, tuple[Skip, Stamp | None]] = field(default_factory=dict)
    rule_files: dict[str, Stamp] = field(default_factory=dict)
    rules_hold: bool = True


@dataclass(slots=True)
class Scan:
    """The results of a walk: new and changed paths in `candidates` and `skips`, unchanged ones in `same_…`."""

    candidates: list[Candidate] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)
    same_files: list[str] = field(default_factory=list)
    same_skips: list[str] = field(default_factory=list)
    rule_files: dict[str, Stamp] = field(default_factory=dict)


def scan(
    root: Path,
    *,
    max_bytes: int,
    known: Known | None = None,
    secrets: SecretPolicy = DEFAULT_SECRETS,
    on_candidate: Callable[[Candidate], None] = lambda _: None,
) -> Scan:
    """Walk a workspace and return what was found, sorted by path; `on_candidate` hears of new and changed files."""
    walker = _Walker(root, max_bytes, known or Known(), secrets, on_candidate)
    walker.walk()
    walker.found.candidates.sort(key=lambda candidate: candidate.path)
    walker.found.skips.sort(key=lambda skip: (skip.path, skip.is_dir, skip.detail))
    walker.found.skips = _with_own_paths(walker.found.skips, walker.found.same_skips)
    return walker.found


def examine(root: Path, path: str, *, max_bytes: int, secrets: SecretPolicy = DEFAULT_SECRETS) -> Candidate | Skip:
    """Return what a walk of the whole workspace would return for one path."""
    rules, folder, parts = _Rules(root, _SecretsOnly(secrets), [EXCLUDE_FILE]), "", path.split("/")
    for name in parts[:-1]:
        rules = _Rules(root, rules, _rule_paths(folder))
        folder = f"{folder}/{name}" if folder else name
        if skip := _check_name(folder, name, rules, is_dir=True):
            return skip
        if (root / folder).is_symlink():
            return Skip(folder, SkipReason.SYMLINK, _describe_link(root, folder))
        if _is_worktree(root, folder):
            return _worktree(folder)
    rules = _Rules(root, rules, _rule_paths(folder))
    return _check_name(path, parts[-1], rules, is_dir=False) or _check_file(root, path, root / path, max_bytes)


def printable(path: str) -> str:
    """Return a path with secrets masked, and escapes for what nobody sees and terminals or databases can't handle."""
    return visible(mask_text(path)).replace("\n", "\\n").replace("\t", "\\t")


def _with_own_paths(skips: list[Skip], others: Collection[str]) -> list[Skip]:
    """Add numbers to paths that look alike because tokens in them are masked: the index has one row for each path.

    A number tells nothing about the token; a hash of it would confirm a guess.
    """
    taken, own, numbers = set(others), list[Skip](), defaultdict[str, Iterator[int]](lambda: count(2))
    for skip in skips:
        path = skip.path
        while path in taken:
            path = f"{skip.path} ({next(numbers[skip.path])})"
        taken.add(path)
        own.append(skip if path == skip.path else replace(skip, path=path))
    return own


class _SecretsOnly:
    """The rules above the root: only secrets, before any ignore file."""

    def __init__(self, secrets: SecretPolicy) -> None:
        self._rules = IgnoreRules(secret_names(secrets))

    def load(self) -> IgnoreRules:
        """Return the rules."""
        return self._rules


class _Rules:
    """The rules of one folder; its ignore files are read when the first path is matched against them."""

    def __init__(
        self, root: Path, above: "_Rules | _SecretsOnly", paths: Collection[str], *, is_trusted: bool = False
    ) -> None:
        self.is_trusted = is_trusted
        self._root = root
        self._above = above
        self._paths = paths
        self._loaded: IgnoreRules | None = None

    def decide(self, path: str, *, is_dir: bool) -> Rule | None:
        """Return the rule that ignores a path, or None if it is not ignored."""
        return self.load().decide(path, is_dir=is_dir)

    def load(self) -> IgnoreRules:
        """Read the ignore files of this folder and of those above it, once."""
        if self._loaded is None:
            self._loaded = self._above.load().enter(
                [rules for path in self._paths for rules in _load_rules(self._root, path)]
            )
        return self._loaded


class _Walker:
    """One walk over a workspace."""

    def __init__(
        self,
        root: Path,
        max_bytes: int,
        known: Known,
        secrets: SecretPolicy,
        on_candidate: Callable[[Candidate], None],
    ) -> None:
        self.found = Scan()
        self._on_candidate = on_candidate
        self._secrets = secrets
        self._root = root
        self._base = os.fspath(root)
        self._max_bytes = max_bytes
        self._known = known
        self._known_folders = _parents(known.files)
        self._rule_folders = {path.rpartition("/")[0] for path in known.rule_files}

    def walk(self) -> None:
        pending = [("", self._enter(_SecretsOnly(self._secrets), [EXCLUDE_FILE]))]
        while pending:
            folder, above = pending.pop()
            pending += self._visit(folder, above)

    def _visit(self, folder: str, above: _Rules) -> Iterator[tuple[str, _Rules]]:
        """Add the entries of a folder to the results; yield the folders below it."""
        try:
            with os.scandir(f"{self._base}/{folder}") as listing:
                entries = list(listing)
        except OSError as error:
            self.found.skips.append(_unreadable(folder or ".", error, is_dir=True))
            return
        names = {entry.name for entry in entries}
        if ".git" in names and folder and _is_worktree(self._root, folder):
            self.found.skips.append(_worktree(folder))
            return
        rules = above
        if folder in self._rule_folders or not names.isdisjoint(IGNORE_FILES):
            rules = self._enter(above, _rule_paths(folder))
        prefix = f"{folder}/" if folder else ""
        for entry in entries:
            path = prefix + entry.name
            is_dir = entry.is_dir(follow_symlinks=False)
            if is_dir and _HAS_JUNCTIONS:
                is_dir = not _is_junction(entry.stat(follow_symlinks=False))
            if rules.is_trusted and self._recall(path, entry, is_dir=is_dir):
                if is_dir and path in self._known_folders:
                    yield path, rules
            elif skip := _check_name(path, entry.name, rules, is_dir=is_dir):
                self.found.skips.append(skip)
            elif is_dir:
                yield path, rules
            else:
                self._add(_check_file(self._root, path, entry, self._max_bytes))

    def _recall(self, path: str, entry: os.DirEntry[str], *, is_dir: bool) -> bool:
        """Reuse the earlier result for a path if it is still valid; return whether it is."""
        known = self._known
        if is_dir and path in self._known_folders:
            return True
        stamp = known.files.get(path)
        if stamp is not None and not is_dir:
            return self._recall_file(path, entry, stamp)
        if path in known.skips:
            skip, stamp = known.skips[path]
            if skip.is_dir != is_dir or skip.reason in RECHECKED_REASONS:
                return False
            if stamp is None:
                self.found.same_skips.append(path)
                return True
            return self._recall_file(path, entry, stamp, is_skip=True)
        return False

    def _recall_file(self, path: str, entry: os.DirEntry[str], stamp: Stamp, *, is_skip: bool = False) -> bool:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return False
        # Nearly always the numbers are equal as they are, and comparing them here takes half as long as `stamp_of`.
        as_is = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        if (stamp != as_is and stamp != stamp_of(status)) or not stat.S_ISREG(status.st_mode):
            return False
        (self.found.same_skips if is_skip else self.found.same_files).append(path)
        return True

    def _add(self, entry: Candidate | Skip) -> None:
        if isinstance(entry, Skip):
            self.found.skips.append(entry)
        elif self._known.files.get(entry.path) == entry.stamp:
            self.found.same_files.append(entry.path)
        elif self._known.skips.get(entry.path, (None, None))[1] == entry.stamp:
            self.found.same_skips.append(entry.path)
        else:
            self.found.candidates.append(entry)
            self._on_candidate(entry)

    def _enter(self, above: _Rules | _SecretsOnly, paths: list[str]) -> _Rules:
        """Return the rules of a folder; they are trusted if no ignore file from the root down to it has changed."""
        seen_at = time.time_ns()
        stamps = {path: stamp for path in paths if (stamp := self._stamp(path))}
        self.found.rule_files |= {path: settled(stamp, seen_at) for path, stamp in stamps.items()}
        known = {path: self._known.rule_files[path] for path in paths if path in self._known.rule_files}
        trusted = stamps == known and (above.is_trusted if isinstance(above, _Rules) else self._known.rules_hold)
        return _Rules(self._root, above, stamps, is_trusted=trusted)

    def _stamp(self, path: str) -> Stamp | None:
        try:
            status = (self._root / path).lstat()
        except OSError:
            return None
        return stamp_of(status)


def _check_name(path: str, name: str, rules: _Rules, *, is_dir: bool) -> Skip | None:
    """Return why a path is skipped by its name or a rule; None if it is not."""
    # What is shown of such a name is not the name, so no agent could ask for the file.
    if not (name.isascii() and name.isprintable()) and printable(name) != name:
        detail = "name is not valid UTF-8 or contains hidden characters"
        return Skip(printable(path), SkipReason.BAD_NAME, detail, is_dir)
    if rule := rules.decide(path, is_dir=is_dir):
        shown = printable(path) if rule.reason == SkipReason.SECRET else path
        return Skip(shown, rule.reason, mask_text(str(rule)), is_dir)
    return None


def _check_file(root: Path, path: str, entry: os.DirEntry[str] | Path, max_bytes: int) -> Candidate | Skip:
    """Return a candidate for a regular, readable file within the size limit; otherwise the skip."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        return _unreadable(path, error)
    if stat.S_ISLNK(status.st_mode) or _is_junction(status):
        return Skip(path, SkipReason.SYMLINK, _describe_link(root, path))
    if not stat.S_ISREG(status.st_mode):
        return Skip(path, SkipReason.SPECIAL, "not a regular file")
    if status.st_size > max_bytes:
        return too_large(path, status.st_size, max_bytes)
    if not os.access(entry, os.R_OK):
        return Skip(path, SkipReason.UNREADABLE, os.strerror(errno.EACCES))
    return Candidate(path, *stamp_of(status))


def _is_junction(status: os.stat_result) -> bool:
    return getattr(status, "st_reparse_tag", 0) == _JUNCTION_TAG


def _unreadable(path: str, error: OSError, *, is_dir: bool = False) -> Skip:
    return Skip(path, SkipReason.UNREADABLE, error.strerror or str(error), is_dir)


def _worktree(folder: str) -> Skip:
    return Skip(folder, SkipReason.WORKTREE, "a second checkout of a git repository", is_dir=True)


def _is_worktree(root: Path, folder: str) -> bool:
    """Return whether a folder is a git worktree, whose files are copies of those in the main checkout."""
    pointer = read_bytes(root, f"{folder}/.git", max_bytes=4_096)
    return not isinstance(pointer, Skip) and _WORKTREE.search(pointer[0]) is not None


def _describe_link(root: Path, path: str) -> str:
    try:
        target = (root / path).resolve(strict=True)
    except (OSError, RuntimeError):
        return "broken link"
    if target.is_relative_to(root):
        return f"points to {printable(target.relative_to(root).as_posix())}, which is listed separately"
    return "points outside the workspace"


def _load_rules(root: Path, path: str) -> Iterator[RuleFile]:
    content = read_bytes(root, path, max_bytes=MAX_RULE_FILE_BYTES)
    if not isinstance(content, Skip):
        folder = "" if path == EXCLUDE_FILE else path.rpartition("/")[0]
        yield RuleFile(folder, path, content[0].decode("utf-8", "replace"))


def _parents(paths: Collection[str]) -> set[str]:
    """Return every folder that contains one of the paths, at any depth."""
    folders: set[str] = set()
    for folder in {path.rpartition("/")[0] for path in paths}:
        above = folder
        while above and above not in folders:
            folders.add(above)
            above = above.rpartition("/")[0]
    return folders


def _rule_paths(folder: str) -> list[str]:
    return [f"{folder}/{name}" if folder else name for name in IGNORE_FILES]
