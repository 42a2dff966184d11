"""The tools about links, the tree and related code."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from fastmcp import Context

from keyhole.core.links.requests import (
    BacklinksRequest,
    BrokenLinksRequest,
    Category,
    LinkSearchRequest,
    LinksRequest,
    RelatedRequest,
    Relation,
    RelationRequest,
    TreeRequest,
)
from keyhole.core.types import Detail, Format
from keyhole.core.view.limits import DEFAULT_TOKENS, LIMITS

FormatName = Literal["text", "json"]
Ask = Callable[[Context, RelationRequest], Awaitable[str]]


def relation_tools(ask: Ask) -> list[Callable[..., Awaitable[str]]]:
    """Make the tools; `ask` answers a request. Their texts are in a table of their own, by the same names."""

    async def get_tree(
        context: Context,
        path: str = "",
        symbol: str = "",
        relation: Literal["children", "parents", "descendants"] = "children",
        max_depth: int = 3,
        limit: int = LIMITS["get_tree"].default,
        offset: int = 0,
        cursor: str = "",
        max_tokens: int = DEFAULT_TOKENS,
        format: FormatName = "text",
    ) -> str:
        paging = _paging(limit, offset, cursor, max_tokens, format)
        return await ask(context, TreeRequest(path, symbol, Relation(relation), max_depth, **paging))

    async def get_links(
        context: Context,
        path: str,
        category: Literal["", "internal", "external", "incoming"] = "",
        limit: int = LIMITS["get_links"].default,
        offset: int = 0,
        cursor: str = "",
        max_tokens: int = DEFAULT_TOKENS,
        format: FormatName = "text",
    ) -> str:
        paging = _paging(limit, offset, cursor, max_tokens, format)
        return await ask(context, LinksRequest(path, Category(category) if category else None, **paging))

    async def get_backlinks(
        context: Context,
        path: str,
        limit: int = LIMITS["get_backlinks"].default,
        offset: int = 0,
        cursor: str = "",
        max_tokens: int = DEFAULT_TOKENS,
        format: FormatName = "text",
    ) -> str:
        return await ask(context, BacklinksRequest(path, **_paging(limit, offset, cursor, max_tokens, format)))

    async def search_by_links(
        context: Context,
        has_links_to: str = "",
        linked_from: str = "",
        external_domains: list[str] = [],  # noqa: B006  # never changed, and what a schema can tell
        broken: bool = False,
        limit: int = LIMITS["search_by_links"].default,
        offset: int = 0,
        cursor: str = "",
        max_tokens: int = DEFAULT_TOKENS,
        format: FormatName = "text",
    ) -> str:
        paging = _paging(limit, offset, cursor, max_tokens, format)
        return await ask(
            context, LinkSearchRequest(has_links_to, linked_from, tuple(external_domains), broken, **paging)
        )

    async def find_broken_links(
        context: Context,
        path: str = "",
        reason: Literal["", "missing file", "missing anchor", "missing module"] = "",
        limit: int = LIMITS["find_broken_links"].default,
        offset: int = 0,
        cursor: str = "",
        max_tokens: int = DEFAULT_TOKENS,
        format: FormatName = "text",
    ) -> str:
        return await ask(
            context, BrokenLinksRequest(path, reason, **_paging(limit, offset, cursor, max_tokens, format))
        )

    async def find_related(
        context: Context,
        path: str = "",
        line: int = 1,
        symbol: str = "",
        detail_level: Literal["minimal", "compact", "rich", "auto"] = "compact",
        limit: int = LIMITS["find_related"].default,
        offset: int = 0,
        cursor: str = "",
        max_tokens: int = DEFAULT_TOKENS,
        format: FormatName = "text",
    ) -> str:
        paging = _paging(limit, offset, cursor, max_tokens, format)
        return await ask(context, RelatedRequest(path, line, symbol, Detail(detail_level), **paging))

    return [get_tree, get_links, get_backlinks, search_by_links, find_broken_links, find_related]


def _paging(limit: int, offset: int, cursor: str, max_tokens: int, form: str) -> dict[str, Any]:
    return {"limit": limit, "offset": offset, "cursor": cursor, "max_tokens": max_tokens, "format": Format(form)}
