"""What a link is: as it is written in a file, and where it leads.

A link's `part` narrows its target: the name a Python import takes, the heading of a note, the inline
modules around a Rust path. Whether it leads anywhere depends on other files, so that is told apart.
What there are tens of thousands of is a tuple, which costs less than a dataclass.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class LinkKind(StrEnum):
    """How a link is written."""

    IMPORT = "import"
    LINK = "link"
    WIKILINK = "wikilink"


class LinkState(StrEnum):
    """Where a link leads."""

    INTERNAL = "internal"
    EXTERNAL = "external"
    UNRESOLVED = "unresolved"
    # To where another link of the same line leads already: never shown.
    REPEATED = "repeated"


class Reason(StrEnum):
    """Why a link that looks internal does not lead where it says."""

    MISSING_FILE = "missing file"
    MISSING_ANCHOR = "missing anchor"
    MISSING_MODULE = "missing module"
    AMBIGUOUS = "ambiguous"
    NOT_INDEXED = "not indexed"
    OUTSIDE = "outside the workspace"


# The reasons that somebody should mend; the others only say that nothing certain can be told.
BROKEN = (Reason.MISSING_FILE, Reason.MISSING_ANCHOR, Reason.MISSING_MODULE)


@dataclass(frozen=True, slots=True)
class Link:
    """A link where it stands, and where it leads: `to` is a path of the workspace, `site` a domain or package.

    `to_line` is the line of the heading that it names; 0 where it names none.
    """

    path: str
    language: str
    line: int
    kind: str
    target: str
    part: str
    state: str
    to: str
    reason: str
    site: str
    to_line: int = 0

    @property
    def is_broken(self) -> bool:
        """Whether somebody should mend it."""
        return self.reason in BROKEN

    @property
    def names_anchor(self) -> bool:
        """Whether it leads to a place inside a file."""
        return bool(self.part) and self.kind != "import" and self.state == "internal" and not self.reason

    @property
    def written(self) -> str:
        """The link much as its file has it."""
        if self.kind == "wikilink":
            return f"[[{self.target}{'#' if self.part else ''}{self.part}]]"
        if self.kind == "link":
            return f"{self.target}{'#' if self.part else ''}{self.part}"
        # What an import takes from a module is told when it is a module itself.
        if self.part and self.language == "python" and self.part == _module_name(self.to):
            return f"{self.target}{'' if self.target.endswith('.') else '.'}{self.part}"
        return self.target


class RawLink(NamedTuple):
    """A link as a file has it; `site` is the domain or package when the text alone says it is external."""

    line: int
    kind: LinkKind
    target: str
    part: str = ""
    site: str = ""


@dataclass(frozen=True, slots=True)
class Declared:
    """What a file declares that links of others are resolved by: a module's path, aliases, a package, an anchor."""

    kind: str
    name: str
    value: str = ""


class Origin(NamedTuple):
    """The file a link stands in."""

    path: str
    language: str

    @property
    def folder(self) -> str:
        """Its folder; the workspace itself is the empty path."""
        return self.path.rpartition("/")[0]


class Resolution(NamedTuple):
    """Where a link leads: `path` is a file or folder of the workspace, `site` a domain or package outside."""

    state: LinkState
    path: str = ""
    reason: str = ""
    site: str = ""


def internal(path: str) -> Resolution:
    """Say that a link leads to a path of the workspace, which itself is written as a dot."""
    return Resolution(LinkState.INTERNAL, path or ".")


def external(site: str) -> Resolution:
    """Say that a link leads out of the workspace."""
    return Resolution(LinkState.EXTERNAL, site=site)


def unresolved(reason: Reason) -> Resolution:
    """Say that a link looks internal, and why it leads nowhere for certain."""
    return Resolution(LinkState.UNRESOLVED, reason=reason)


def _module_name(path: str) -> str:
    return path.removesuffix("/__init__.py").rpartition("/")[2].partition(".")[0]
