"""Requests about links, the tree and related code, as front ends send them; None and empty fields get their default."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from keyhole.core.types.choices import Detail, Format
from keyhole.core.types.costs import TokenCost


class Category(StrEnum):
    """The links of one file by direction: into the workspace, out of it, or from other files."""

    INTERNAL = "internal"
    EXTERNAL = "external"
    INCOMING = "incoming"


class Relation(StrEnum):
    """The direction to follow in the tree of folders, files and symbols."""

    CHILDREN = "children"
    PARENTS = "parents"
    DESCENDANTS = "descendants"


class FileOrder(StrEnum):
    """How a list of files is sorted: by path, or by the time of the last change, newest first."""

    PATH = "path"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRequest:
    """The parameters of every list."""

    limit: int | None = None
    offset: int = 0
    cursor: str = ""
    max_tokens: int | None = None
    format: Format = Format.TEXT


@dataclass(frozen=True, slots=True)
class LinksRequest(ListRequest):
    """The links of a file; without a category, the first ones of each, and only a few of the incoming ones.

    There may be hundreds of those, and who asks for the links of a file mostly wants to know what it uses.
    """

    path: str
    category: Category | None = None
    most_incoming: int = 3


@dataclass(frozen=True, slots=True)
class BacklinksRequest(ListRequest):
    """The links to a file or folder."""

    path: str


@dataclass(frozen=True, slots=True)
class BrokenLinksRequest(ListRequest):
    """Broken links in all files or in some; `reason` restricts them to one reason."""

    path: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LinkSearchRequest(ListRequest):
    """Files by their links; the filters are combined with AND."""

    has_links_to: str = ""
    linked_from: str = ""
    external_domains: tuple[str, ...] = ()
    broken: bool = False


@dataclass(frozen=True, slots=True)
class TreeRequest(ListRequest):
    """The tree around a folder, a file or a symbol; `max_depth` and `symbols` apply to descendants.

    With a pattern or another order it is a plain list of the files in a folder, at any depth.
    """

    path: str = ""
    symbol: str = ""
    relation: Relation = Relation.CHILDREN
    max_depth: int = 3
    symbols: bool = False
    pattern: str = ""
    sort: FileOrder = FileOrder.PATH
    # What files and folders cost, to show that too; only people ask for it.
    costs: Mapping[str, TokenCost] | None = field(default=None, compare=False, repr=False)

    @property
    def is_list(self) -> bool:
        """Whether it asks for a plain list of files."""
        return bool(self.pattern) or self.sort != FileOrder.PATH


@dataclass(frozen=True, slots=True)
class RelatedRequest(ListRequest):
    """Code that is similar to a line of a file, or to a symbol."""

    path: str = ""
    line: int = 1
    symbol: str = ""
    detail_level: Detail = Detail.COMPACT
    line_numbers: bool = True


class ReferenceRelation(StrEnum):
    """What to find about a symbol: its uses, what calls it, what it calls, or its classes above and below."""

    REFERENCES = "references"
    CALLERS = "callers"
    CALLEES = "callees"
    HIERARCHY = "hierarchy"


@dataclass(frozen=True, slots=True)
class ReferencesRequest(ListRequest):
    """Who uses a symbol, given by its name or as what is defined or used at a line of a file.

    `role`, `certainty`, `within` and `include_tests` narrow the list; `depth` is how far callers, callees and the
    hierarchy are followed.
    """

    symbol: str = ""
    path: str = ""
    line: int = 0
    relation: ReferenceRelation = ReferenceRelation.REFERENCES
    role: str = ""
    certainty: str = ""
    within: str = ""
    include_tests: bool = True
    depth: int = 1


RelationRequest = (
    LinksRequest
    | BacklinksRequest
    | BrokenLinksRequest
    | LinkSearchRequest
    | TreeRequest
    | RelatedRequest
    | ReferencesRequest
)
