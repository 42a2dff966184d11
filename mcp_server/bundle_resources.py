"""Context bundles as resources: what the user marked in the explorer, and bundle files of the workspace."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from fastmcp import Context, FastMCP

from keyhole.core.errors import KeyholeError
from keyhole.core.service import Service
from keyhole.core.types.bundle import Bundle, BundleRequest
from keyhole.core.view.writing import View
from keyhole.mcp_server import tool_texts
from keyhole.mcp_server.client_budget import budget_of

ServedText = Callable[[Callable[[int | None], View], int | None], Awaitable[str]]


def add_bundle_resources(server: FastMCP, service: Service, served: ServedText) -> None:
    """Add the resources; `served` runs a function with a deadline and words its errors."""

    async def bundle(bundle_of: Callable[[], Bundle], offset: int, context: Context) -> str:
        def text_of(budget: int | None) -> View:
            return service.bundle_view(BundleRequest(bundle_of(), offset=offset, max_tokens=budget))

        return await served(text_of, budget_of(context, service.settings))

    @server.resource(
        tool_texts.MARKED_ADDRESS,
        name="bundle",
        title="Context bundle",
        description="What the user marked in the explorer: files, symbols and lines, as they are now.",
    )
    async def marked(context: Context) -> str:
        if await asyncio.to_thread(_is_nothing_marked, service):
            return tool_texts.NOTHING_MARKED
        return await bundle(service.marked_bundle, 0, context)

    @server.resource(
        tool_texts.MARKED_PAGE_ADDRESS,
        name="bundle page",
        title="Context bundle, further parts",
        description="Further parts of what the user marked.",
    )
    async def marked_page(context: Context, offset: int = 0) -> str:
        return await bundle(service.marked_bundle, offset, context)

    @server.resource(
        tool_texts.BUNDLE_ADDRESS,
        name="saved bundle",
        title="Saved context bundle",
        description="The files, symbols and lines that a bundle file of the workspace lists, as they are now.",
    )
    async def saved(path: str, context: Context, offset: int = 0) -> str:
        return await bundle(partial(service.saved_bundle, path), offset, context)


def _is_nothing_marked(service: Service) -> bool:
    """Return whether the bundle is empty, which is no error; a bundle that can't be read is one."""
    try:
        return not service.marked_bundle().items
    except KeyholeError:
        return False
