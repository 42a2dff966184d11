"""The tools about references, links, the tree and related code."""

from collections.abc import Awaitable, Callable
from typing import Literal, Unpack

from fastmcp import Context

from keyhole.core.links.requests import (
    BacklinksRequest,
    BrokenLinksRequest,
    Category,
    FileOrder,
    LinkSearchRequest,
    LinksRequest,
    ReferenceRelation,
    ReferencesRequest,
    RelatedRequest,
    Relation,
    RelationRequest,
    TreeRequest,
)
from keyhole.core.types.choices import Detail
from keyhole.core.view.budget.limits import LIMITS
from keyhole.mcp_server.paged import DetailName, Paging, paged

Ask = Callable[[Context, RelationRequest], Awaitable[str]]


def relation_tools(ask: Ask) -> list[Callable[..., Awaitable[str]]]:
    """Make the tools; `ask` answers a request. Their texts are in tool_texts.py under the same names."""
    requests = (find_references, get_tree, get_links, get_backlinks, search_by_links, find_broken_links, find_related)
    return [paged(request, LIMITS[request.__name__].default, ask) for request in requests]


def find_references(
    symbol: str = "",
    path: str = "",
    line: int = 0,
    relation: Literal["", "references", "callers", "callees", "hierarchy"] = "",
    role: str = "",
    certainty: Literal["", "certain", "likely", "by name"] = "",
    within: str = "",
    include_tests: bool = True,
    depth: int = 1,
    **paging: Unpack[Paging],
) -> RelationRequest:
    """Make a request for what uses a symbol."""
    chosen = ReferenceRelation(relation or "references")
    return ReferencesRequest(symbol, path, line, chosen, role, certainty, within, include_tests, depth, **paging)


def get_tree(
    path: str = "",
    symbol: str = "",
    relation: Literal["children", "parents", "descendants"] = "children",
    max_depth: int = 3,
    symbols: bool = False,
    pattern: str = "",
    sort: Literal["path", "newest"] = "path",
    **paging: Unpack[Paging],
) -> RelationRequest:
    """Make a request for what is inside or around a path or symbol, or for files by name."""
    return TreeRequest(path, symbol, Relation(relation), max_depth, symbols, pattern, FileOrder(sort), **paging)


def get_links(
    path: str, category: Literal["", "internal", "external", "incoming"] = "", **paging: Unpack[Paging]
) -> RelationRequest:
    """Make a request for the outgoing and incoming links of a file."""
    return LinksRequest(path, Category(category) if category else None, **paging)


def get_backlinks(path: str, **paging: Unpack[Paging]) -> RelationRequest:
    """Make a request for the links to a file or folder."""
    return BacklinksRequest(path, **paging)


def search_by_links(
    has_links_to: str = "",
    linked_from: str = "",
    external_domains: list[str] = [],  # noqa: B006  # never changed, and JSON schemas need a real default
    broken: bool = False,
    **paging: Unpack[Paging],
) -> RelationRequest:
    """Make a request for files by their links."""
    return LinkSearchRequest(has_links_to, linked_from, tuple(external_domains), broken, **paging)


def find_broken_links(
    path: str = "",
    reason: Literal["", "missing file", "missing anchor", "missing module"] = "",
    **paging: Unpack[Paging],
) -> RelationRequest:
    """Make a request for broken links."""
    return BrokenLinksRequest(path, reason, **paging)


def find_related(
    path: str = "",
    line: int = 1,
    symbol: str = "",
    detail_level: DetailName = "compact",
    line_numbers: bool = True,
    **paging: Unpack[Paging],
) -> RelationRequest:
    """Make a request for code similar to other code."""
    return RelatedRequest(path, line, symbol, Detail(detail_level), line_numbers, **paging)
