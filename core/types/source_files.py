"""Files as the workspace has them: found, read or skipped."""

from dataclasses import dataclass
from enum import StrEnum

from keyhole.core.masking import MASKING_VERSION, Mask


class SkipReason(StrEnum):
    """Why a path is not indexed, or not parsed; the value is stored in the index and shown in JSON."""

    IGNORED = "ignored"
    SECRET = "secret"  # noqa: S105
    LOCKFILE = "lockfile"
    MINIFIED = "minified"
    GENERATED = "generated"
    BINARY = "binary"
    PICTURE = "picture"
    TOO_LARGE = "too-large"
    SYMLINK = "symlink"
    SPECIAL = "special"
    BAD_NAME = "bad-name"
    UNREADABLE = "unreadable"
    WORKTREE = "worktree"
    INTERNAL = "internal"
    FAILED = "failed"
    # The grammar cannot parse the file. Unlike the others, it is indexed, as plain text.
    UNPARSED = "unparsed"

    @property
    def label(self) -> str:
        """The reason as people read it."""
        return "not parsed" if self == SkipReason.UNPARSED else self.value.replace("-", " ")


@dataclass(frozen=True, slots=True)
class Skip:
    """A path that is not indexed, with the reason and its details: the rule, the size, the target of the link."""

    path: str
    reason: SkipReason
    detail: str
    is_dir: bool = False

    @property
    def text(self) -> str:
        """The reason with its details, as people read it."""
        return f"{self.reason.label}: {self.detail}"


@dataclass(frozen=True, slots=True)
class SecretPolicy:
    """What the user has decided about secrets: whether tokens are masked, and which secret paths are served anyway.

    `readmits` are patterns relative to the root, in the syntax of .gitignore.
    """

    masks: bool = True
    readmits: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """What an index made with this policy records: another one needs every file to be read again."""
        return " ".join([f"masks-{MASKING_VERSION}" if self.masks else "unmasked", *self.readmits])


DEFAULT_SECRETS = SecretPolicy()


# The size of a file, the times of its last write and of its last change of any kind, and its inode. If they are the
# same, the file has not changed.
Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A regular file that passed the checks of name and size; its content has not been read yet."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int = 0
    inode: int = 0

    @property
    def stamp(self) -> Stamp:
        """The facts that show whether the file has changed."""
        return self.size, self.mtime_ns, self.ctime_ns, self.inode


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file's decoded text, with the stamp and the hash that show whether it has changed since.

    Secrets in `text` are masked, and `masked` says which; `size` and `digest` are those of the file itself.
    """

    path: str
    size: int
    mtime_ns: int
    digest: str
    encoding: str
    text: str
    ctime_ns: int = 0
    inode: int = 0
    masked: tuple[Mask, ...] = ()

    @property
    def stamp(self) -> Stamp:
        """The stamp to record; its time is unknown if the file had changed just before it was read."""
        return self.size, self.mtime_ns, self.ctime_ns, self.inode
