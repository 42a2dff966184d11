"""A git folder of our own for someone else's repository, so that git never reads its configuration.

The configuration of a repository can name programs that git runs even for `git status`: filters, file system monitors,
hooks, ways to download missing objects. Flags can switch off those that are known today. Instead, git gets a temporary
folder with a configuration that Keyhole writes: the commit, a copy of the index, the ignore rules and the place of the
objects are the repository's, and everything else is ours. So nothing in the repository is run, and nothing is written
to it either.
"""

import os
import re
import shutil
import stat
import tempfile
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from keyhole.core.errors import GitError
from keyhole.core.git.git_process import GitProcess

_DISCOVERY_SECONDS = 10.0
_MOST_INDEX_BYTES = 1_000_000_000
_MOST_RULES_BYTES = 1_000_000
# Settings that tell how files on this disk compare with those in a repository; none of them can name a program.
_COPIED = frozenset(
    [
        "core.filemode",
        "core.ignorecase",
        "core.symlinks",
        "core.autocrlf",
        "core.eol",
        "core.trustctime",
        "core.checkstat",
        "core.precomposeunicode",
    ]
)
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9]{1,10}")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# What `git rev-parse` is asked for, in the order of `_RepositoryPlaces`.
_QUESTIONS = (
    "--show-toplevel",
    "--git-path",
    "index",
    "--git-path",
    "objects",
    "--git-path",
    "info/exclude",
    "--git-path",
    "shallow",
    "--git-path",
    "HEAD",
    "--show-object-format",
)
_NO_COMMIT = "ref: refs/heads/none"


@dataclass(frozen=True, slots=True)
class _RepositoryPlaces:
    """Where git says that the parts of a repository are."""

    top: Path
    index: Path
    objects: Path
    exclude: Path
    shallow: Path
    head: Path
    object_format: str


class ShadowRepository:
    """Runs git commands on the repository of a folder, through a git folder of our own."""

    def __init__(self, root: Path, process: GitProcess, *, flags: Sequence[str] = ()) -> None:
        self.root = root
        self._process = process
        self._place = _find(root, process, flags)
        self._git = Path(tempfile.mkdtemp(prefix="keyhole-git-"))
        # Deletes the folder when the program ends, too.
        self._delete = weakref.finalize(self, shutil.rmtree, self._git, ignore_errors=True)
        self._index_stamp: tuple[int, ...] | None = None
        self._write_fixed_parts()

    @property
    def prefix(self) -> str:
        """The path of the workspace inside the repository: empty, or with a slash at its end."""
        relative = self.root.resolve().relative_to(self._place.top).as_posix()
        return "" if relative == "." else f"{relative}/"

    def stamp(self) -> tuple[object, ...]:
        """Return what changes with each commit, checkout, merge and `git add`; cheap enough to be polled."""
        return tuple(_stamp(path) for path in (self._place.index, self._place.head, self._log))

    @property
    def _log(self) -> Path:
        return self._place.head.parent / "logs" / "HEAD"

    def close(self) -> None:
        """Delete the temporary folder."""
        self._delete()

    def run(self, *arguments: str, seconds: float) -> bytes:
        """Run a git command on the current commit, index and files."""
        self._update()
        own = [f"--git-dir={self._git}", f"--work-tree={self._place.top}", *arguments]
        home = str(self._git)
        variables = {
            "HOME": home,
            "XDG_CONFIG_HOME": home,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            # The index is our copy, so git may remember in it which files it has compared.
            "GIT_OPTIONAL_LOCKS": "1",
        }
        return self._process.run(own, self._git, variables, seconds=seconds)

    def ignore_attributes(self) -> None:
        """Make `git archive` write every file as it is, whatever the repository's attributes say."""
        (self._git / "info" / "attributes").write_text("* -export-ignore -export-subst -filter -text -ident\n")

    def _write_fixed_parts(self) -> None:
        objects = self._git / "objects" / "info"
        for folder in (objects, self._git / "refs", self._git / "info"):
            folder.mkdir(parents=True)
        # Objects are read from the repository; should git write one, it writes it here.
        (objects / "alternates").write_bytes(os.fsencode(self._place.objects) + b"\n")

    def _update(self) -> None:
        """Copy what a commit, a checkout or a change of settings may have changed."""
        commit = self._process.run(
            ["rev-parse", "--verify", "--quiet", "HEAD"], self.root, seconds=_DISCOVERY_SECONDS, may_fail=True
        )
        head = commit.decode(errors="replace").strip()
        (self._git / "HEAD").write_text(f"{head if _COMMIT.fullmatch(head) else _NO_COMMIT}\n", "utf-8")
        (self._git / "config").write_text(self._configuration(), "utf-8")
        copy_plain_file(self._place.exclude, self._git / "info" / "exclude", _MOST_RULES_BYTES)
        copy_plain_file(self._place.shallow, self._git / "shallow", _MOST_RULES_BYTES)
        self._copy_index()

    def _copy_index(self) -> None:
        stamp = _stamp(self._place.index)
        if stamp == self._index_stamp and stamp:
            return
        for shared in self._place.index.parent.glob("sharedindex.*"):
            copy_plain_file(shared, self._git / shared.name, _MOST_INDEX_BYTES)
        copy_plain_file(self._place.index, self._git / "index", _MOST_INDEX_BYTES)
        self._index_stamp = stamp

    def _configuration(self) -> str:
        lines = ["[core]", "bare = false", "fsmonitor = false", "untrackedCache = false", f"hooksPath = {os.devnull}"]
        is_sha1 = self._place.object_format == "sha1"
        lines.append(f"repositoryFormatVersion = {0 if is_sha1 else 1}")
        lines += self._copied_settings()
        if not is_sha1:
            lines += ["[extensions]", "objectFormat = sha256"]
        return "\n".join([*lines, "[gc]", "auto = 0", "[protocol]", "allow = never", ""])

    def _copied_settings(self) -> list[str]:
        listed = self._process.run(
            ["config", "--null", "--show-scope", "--list"], self.root, seconds=_DISCOVERY_SECONDS, may_fail=True
        )
        parts = os.fsdecode(listed).split("\0")
        lines, rules = [], ""
        for scope, setting in zip(parts[::2], parts[1::2], strict=False):
            name, _, value = setting.partition("\n")
            if name in _COPIED and _PLAIN_VALUE.fullmatch(value):
                lines.append(f"{name.removeprefix('core.')} = {value}")
            elif name == "core.excludesfile" and scope in ("global", "system"):
                rules = value
        return [*lines, *_ignore_rules(rules)]


def is_bare(folder: Path) -> bool:
    """Return whether a folder is a repository without working files, such as a mirror."""
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def repository_flags(folder: Path) -> list[str]:
    """Return the flags that git needs to use a folder's repository: it must be told about one without files."""
    return [f"--git-dir={folder}"] if is_bare(folder) else []


def _find(root: Path, process: GitProcess, flags: Sequence[str]) -> _RepositoryPlaces:
    """Ask git for the repository of a folder; it refuses one that belongs to another user.

    Only `flags` make it use a repository without working files: a folder in an untrusted workspace may look like one.
    """
    questions = _QUESTIONS[1:] if flags else _QUESTIONS
    printed = process.run([*flags, "rev-parse", *questions], root, seconds=_DISCOVERY_SECONDS)
    lines = [*([os.fspath(root)] if flags else []), *os.fsdecode(printed).splitlines()]
    if len(lines) != len(_RepositoryPlaces.__dataclass_fields__):
        raise GitError("git doesn't say where the repository is")
    top, index, objects, exclude, shallow, head, object_format = lines
    found = _RepositoryPlaces(
        Path(top).resolve(), root / index, root / objects, root / exclude, root / shallow, root / head, object_format
    )
    # A setting can move the working tree to any other folder.
    is_elsewhere = not root.resolve().is_relative_to(found.top) or not os.path.lexists(found.top / ".git")
    if is_elsewhere and not flags:
        raise GitError("the repository's files are in another folder")
    if object_format not in ("sha1", "sha256"):
        raise GitError(f"unknown format of objects: {object_format}")
    return found


def _ignore_rules(path: str) -> list[str]:
    """Return the setting for the user's own ignore rules: the file they chose, or the usual one."""
    usual = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "git" / "ignore"
    chosen = Path(path).expanduser() if path else usual
    text = str(chosen)
    if not chosen.is_absolute() or any(not character.isprintable() for character in text):
        return []
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return [f'excludesFile = "{escaped}"']


def copy_plain_file(source: Path, target: Path, most_bytes: int) -> None:
    """Copy a file with its time of change; what is missing, no plain file or too large leaves no copy."""
    target.unlink(missing_ok=True)
    with suppress(OSError):
        # Opening a pipe would wait forever.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(source, flags), "rb") as opened:
            status = os.fstat(opened.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > most_bytes:
                return
            with target.open("wb") as copy:
                shutil.copyfileobj(opened, copy)
        # Git compares the content of files that are not older than its index.
        os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        status = path.lstat()
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns
