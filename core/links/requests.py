"""Questions about how files hang together, as they come in at a door; what is None or empty takes its default."""

from dataclasses import dataclass
from enum import StrEnum

from keyhole.core.types import Detail, Format


class Category(StrEnum):
    """The links of one file, by where they come from and lead."""

    INTERNAL = "internal"
    EXTERNAL = "external"
    INCOMING = "incoming"


class Relation(StrEnum):
    """Which way to go in the tree of folders, files and symbols."""

    CHILDREN = "children"
    PARENTS = "parents"
    DESCENDANTS = "descendants"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRequest:
    """What every list can be asked."""

    limit: int | None = None
    offset: int = 0
    cursor: str = ""
    max_tokens: int | None = None
    format: Format = Format.TEXT


@dataclass(frozen=True, slots=True)
class LinksRequest(ListRequest):
    """The links of a file; without a category, the first of each."""

    path: str
    category: Category | None = None


@dataclass(frozen=True, slots=True)
class BacklinksRequest(ListRequest):
    """What links to a file or folder."""

    path: str


@dataclass(frozen=True, slots=True)
class BrokenLinksRequest(ListRequest):
    """Links that lead nowhere, in all files or in some; `reason` is one of them."""

    path: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LinkSearchRequest(ListRequest):
    """Files by their links; a file has to answer to everything that is asked."""

    has_links_to: str = ""
    linked_from: str = ""
    external_domains: tuple[str, ...] = ()
    broken: bool = False


@dataclass(frozen=True, slots=True)
class TreeRequest(ListRequest):
    """What is around a folder, a file, or a symbol of a file; `max_depth` and `symbols` are for descendants."""

    path: str = ""
    symbol: str = ""
    relation: Relation = Relation.CHILDREN
    max_depth: int = 3
    symbols: bool = False


@dataclass(frozen=True, slots=True)
class RelatedRequest(ListRequest):
    """Code like that at a line of a file, or like a symbol."""

    path: str = ""
    line: int = 1
    symbol: str = ""
    detail_level: Detail = Detail.COMPACT


RelationRequest = (
    LinksRequest | BacklinksRequest | BrokenLinksRequest | LinkSearchRequest | TreeRequest | RelatedRequest
)
