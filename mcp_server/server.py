"""The MCP server: tools, resources and one prompt, with the same views as the other front ends."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Annotated, Literal, TypeVar, Unpack

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ResourceError
from fastmcp.server.auth import AuthProvider
from fastmcp.server.middleware import Middleware
from pydantic import Field

from keyhole.core.errors import KeyholeError
from keyhole.core.journal.writer import Journal
from keyhole.core.links.requests import RelationRequest
from keyhole.core.masking import mask_text
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail, Format, MapLevel, Mode, Output, ToolSet
from keyhole.core.types.inventory import Progress
from keyhole.core.types.view_requests import MapRequest, ReadRequest, SearchRequest
from keyhole.core.view.budget.limits import LIMITS
from keyhole.core.view.status_text import status_facts, status_text
from keyhole.core.view.text import json_text
from keyhole.core.view.writing import View
from keyhole.mcp_server import tool_texts
from keyhole.mcp_server.bundle_resources import add_bundle_resources
from keyhole.mcp_server.client_budget import ClientBudget, budget_of
from keyhole.mcp_server.freshness import Freshness
from keyhole.mcp_server.lean_tool import described
from keyhole.mcp_server.paged import DetailName, FormatName, Paging, paged
from keyhole.mcp_server.recording import Recording
from keyhole.mcp_server.relation_tools import relation_tools
from keyhole.mcp_server.tool_errors import ReadableErrors
from keyhole.mcp_server.with_deadline import with_deadline

ModeName = Literal["auto", "hybrid", "semantic", "keyword", "regex", "symbol"]
OutputName = Literal["lines", "files", "count"]
LevelName = Literal["auto", "full", "compact", "minimal", "outline", "truncated"]
Request = TypeVar("Request")
_LISTS_STAY = 600  # seconds


def build_server(  # made in few places, by name
    service: Service,
    auth: AuthProvider | None = None,
    journal: Journal | None = None,
    tools: ToolSet | None = None,
    freshness: Freshness | None = None,
    outermost: Sequence[Middleware] = (),
    innermost: Sequence[Middleware] = (),
    caller: Callable[[], str] = str,
    is_team: bool = False,
) -> FastMCP:
    """Make the server of one workspace; it records calls in the journal, if there is one, with the `caller`'s name.

    Without `tools`, the setting says which to serve. Servers of one workspace in one process share their `freshness`.
    """
    tools = tools or service.settings.mcp.tools
    errors = ReadableErrors(service, tools)
    server: FastMCP = FastMCP(
        "keyhole",
        instructions=tool_texts.instructions(tools, is_team=is_team),
        version=version("keyhole"),
        auth=auth,
        # Recording comes first, so that it sees each answer as it is sent.
        middleware=[
            *outermost,
            *([Recording(journal, caller)] if journal else []),
            errors,
            ClientBudget(service.settings),
            *innermost,
        ],
        mask_error_details=True,
        # The lists do not change while the server runs; a client that keeps them asks again after this time.
        cache_ttl=_LISTS_STAY,
    )
    # What a resource holds may change at any moment, and the library knows only one time for all.
    server._mcp_server.cache_hints.pop("resources/read", None)  # noqa: SLF001
    served = tool_texts.tool_names(tools)
    for function in _tools(service, freshness or Freshness(service)):
        if function.__name__ in served:
            # The core tools are for the fewest tokens, and this costs a few.
            is_always_loaded = function.__name__ == "search_code" and tools == ToolSet.ALL
            tool = described(function, is_always_loaded=is_always_loaded)
            if is_team and tool.name in tool_texts.REPO_TOOLS:
                tool.parameters["properties"][tool_texts.REPO] = tool_texts.REPO_PROPERTY
            server.add_tool(tool)
    _add_resources(server, service, errors)
    _add_prompt(server, tools)
    return server


def _tools(service: Service, freshness: Freshness) -> list[Callable[..., Awaitable[str]]]:
    """Make the tools; their texts are in tool_texts.py under the same names."""
    defaults = service.settings.search

    def search_code(
        query: str,
        mode: ModeName = defaults.mode.value,
        path: str = "",
        language: str = "",
        kind: str = "",
        role: str = "",
        include_tests: bool = True,  # agents pass every argument by name
        detail_level: DetailName = "compact",
        context_lines: int = 0,
        output: OutputName = "lines",
        line_numbers: bool = True,
        **paging: Unpack[Paging],
    ) -> SearchRequest:
        return SearchRequest(
            query,
            Mode(mode),
            path,
            language,
            kind,
            include_tests,
            Detail(detail_level),
            context_lines=context_lines,
            output=Output(output),
            line_numbers=line_numbers,
            role=role,
            **paging,
        )

    async def map_file(
        path: str,
        level: LevelName = "auto",
        symbol: str = "",
        symbols_each: int = 50,
        offset: int = 0,
        max_tokens: int | None = None,
        format: FormatName = "text",
    ) -> str:
        request = MapRequest(path, MapLevel(level), symbol, symbols_each, offset, max_tokens, Format(format))
        return await _text(service.map_view, request)

    async def read_file(
        path: str = "",
        paths: list[str] = [],  # noqa: B006  # never changed, and JSON schemas need a real default
        start_line: int = 1,
        start_column: int = 1,
        max_lines: int = LIMITS["read_file"].default,
        line_numbers: bool = True,
        max_tokens: int | None = None,
        format: FormatName = "text",
    ) -> str:
        several = (path, *paths) if path else tuple(paths)
        place = (start_line, start_column, max_lines)
        request = ReadRequest(several, *place, max_tokens, Format(format), line_numbers)
        return await _text(service.read_view, request)

    async def index_status(context: Context, format: FormatName = "text") -> str:
        await freshness.catch_up(_reporter(context))
        return await with_deadline(partial(_status_text, service), Format(format))

    async def search(context: Context, request: SearchRequest) -> str:
        await freshness.catch_up(_reporter(context))
        return await _text(service.search_view, request)

    async def relate(context: Context, request: RelationRequest) -> str:
        await freshness.catch_up(_reporter(context))
        return await _text(service.relation_view, request)

    # No default limit: there are more lines than results on a page.
    searching = paged(search_code, None, search)
    return [searching, map_file, read_file, *relation_tools(relate), index_status]


def _status_text(service: Service, form: Format) -> str:
    """Return the status without paths outside the workspace and without the list of skipped paths."""
    found = replace(service.status(), root=service.root.name, index_path="", skips=())
    return json_text(status_facts(found)) + "\n" if form == Format.JSON else status_text(found)


async def _text(view_of: Callable[[Request], View], request: Request) -> str:
    return (await with_deadline(view_of, request)).text


def _reporter(context: Context) -> Callable[[Progress], Awaitable[None]]:
    async def report(progress: Progress) -> None:
        message = f"indexing: {progress.done:,} of {progress.total:,} files"
        await context.report_progress(progress.done, progress.total, message)

    return report


def _add_resources(server: FastMCP, service: Service, errors: ReadableErrors) -> None:
    async def served(text_of: Callable[[Request], View | str], request: Request) -> str:
        try:
            found = await with_deadline(text_of, request)
        except KeyholeError as error:
            raise ResourceError(errors.readable(error)) from None
        return found.text if isinstance(found, View) else found

    @server.resource(
        tool_texts.FILE_ADDRESS, name="file", title="File", description="First page of a file in the workspace."
    )
    async def file(path: str, context: Context) -> str:
        return await served(service.read_view, ReadRequest((path,), max_tokens=budget_of(context, service.settings)))

    @server.resource(
        tool_texts.MAP_ADDRESS, name="map", title="File map", description="What a file defines, with line ranges."
    )
    async def map_(path: str, context: Context) -> str:
        return await served(service.map_view, MapRequest(path, max_tokens=budget_of(context, service.settings)))

    add_bundle_resources(server, service, served)

    @server.resource(
        tool_texts.STATUS_ADDRESS, name="status", title="Index status", description="What the index holds."
    )
    async def status() -> str:
        return await served(partial(_status_text, service), Format.TEXT)


def _add_prompt(server: FastMCP, tools: ToolSet) -> None:
    @server.prompt(tool_texts.PROMPT_NAME, title=tool_texts.PROMPT_TITLE, description=tool_texts.PROMPT_DESCRIPTION)
    def explore(question: Annotated[str, Field(description=tool_texts.PROMPT_QUESTION)]) -> str:
        return tool_texts.prompt(mask_text(question), tools)
