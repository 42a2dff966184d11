"""The types of links: as written in a file, and as resolved.

The `part` of a link narrows its target: the name in a Python import, the heading of a note, the inline modules around a
Rust path. The resolution of a link depends on other files, so it has its own type. Types with tens of thousands of
instances are named tuples, which cost less than dataclasses.
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
    """Whether a link points into the workspace, out of it, or could not be resolved."""

    INTERNAL = "internal"
    EXTERNAL = "external"
    UNRESOLVED = "unresolved"
    # Another link on the same line has the same target; never shown.
    REPEATED = "repeated"


class Reason(StrEnum):
    """Why a link that looks internal is broken or cannot be resolved."""

    MISSING_FILE = "missing file"
    MISSING_ANCHOR = "missing anchor"
    MISSING_MODULE = "missing module"
    AMBIGUOUS = "ambiguous"
    NOT_INDEXED = "not indexed"
    OUTSIDE = "outside the workspace"


# The root of the workspace as the target of a link.
ROOT = "."

# The reasons that mean a broken link, which should be fixed; the others only mean that its target is uncertain.
BROKEN = (Reason.MISSING_FILE, Reason.MISSING_ANCHOR, Reason.MISSING_MODULE)


@dataclass(frozen=True, slots=True)
class Link:
    """A link, its position and its target: `to` is a path in the workspace, `site` a domain or package.

    `to_line` is the line of the heading that the link names; 0 if it names none.
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
        """Whether the link is broken and should be fixed."""
        return self.reason in BROKEN

    @property
    def names_anchor(self) -> bool:
        """Whether the link points to a heading or another anchor inside a file."""
        return bool(self.part) and self.kind != "import" and self.state == "internal" and not self.reason

    @property
    def written(self) -> str:
        """The link in nearly the form that it has in its file."""
        if self.kind == "wikilink":
            return f"[[{self.target}{'#' if self.part else ''}{self.part}]]"
        if self.kind == "link":
            return f"{self.target}{'#' if self.part else ''}{self.part}"
        # Show the imported name only if it is a module itself.
        if self.part and self.language == "python" and self.part == _module_name(self.to):
            return f"{self.target}{'' if self.target.endswith('.') else '.'}{self.part}"
        return self.target


class RawLink(NamedTuple):
    """A link as written in a file; `site` is its domain or package if the text alone shows that it is external."""

    line: int
    kind: LinkKind
    target: str
    part: str = ""
    site: str = ""


@dataclass(frozen=True, slots=True)
class Declared:
    """A declaration used to resolve the links of other files: a module path, aliases, a package or an anchor."""

    kind: str
    name: str
    value: str = ""


class Origin(NamedTuple):
    """The file that contains a link."""

    path: str
    language: str

    @property
    def folder(self) -> str:
        """The folder of the file; an empty path for the root of the workspace."""
        return self.path.rpartition("/")[0]


class Resolution(NamedTuple):
    """The target of a link: `path` is a file or folder of the workspace, `site` a domain or package outside it."""

    state: LinkState
    path: str = ""
    reason: str = ""
    site: str = ""


def internal(path: str) -> Resolution:
    """Return the resolution of a link to a path of the workspace; its root is written as a dot."""
    return Resolution(LinkState.INTERNAL, path or ROOT)


def external(site: str) -> Resolution:
    """Return the resolution of a link out of the workspace."""
    return Resolution(LinkState.EXTERNAL, site=site)


def unresolved(reason: Reason) -> Resolution:
    """Return the resolution of a link that looks internal but has no certain target."""
    return Resolution(LinkState.UNRESOLVED, reason=reason)


def _module_name(path: str) -> str:
    return path.removesuffix("/__init__.py").rpartition("/")[2].partition(".")[0]
