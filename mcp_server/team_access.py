"""Access to the server of a team: a token decides which repositories a call sees, and how many calls may be made.

Every call gets the service of the repositories that its token may see, and that its parameter `repo` names. There is no
other way from a call to a repository, so nothing of the others can be in an answer, a total, a suggestion or an error.
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from fastmcp.exceptions import ResourceError, ToolError
from fastmcp.resources.base import ResourceResult
from fastmcp.server.auth import AccessToken, TokenVerifier
from fastmcp.server.dependencies import get_access_token
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import ToolResult
from mcp.types import CallToolRequestParams, ReadResourceRequestParams

from keyhole.core.config import Settings
from keyhole.core.errors import KeyholeError
from keyhole.core.team.access_book import AccessBook
from keyhole.core.team.access_tokens import TeamAccess
from keyhole.core.team.team_service import DEFAULT_NAME, TeamService
from keyhole.core.team.team_services import TeamServices, chosen
from keyhole.core.team.team_workspace import team_folder
from keyhole.core.types.choices import ToolSet
from keyhole.core.view.text import count_of
from keyhole.mcp_server.errors_for_agents import agent_steps
from keyhole.mcp_server.tool_texts import REPO, REPO_TOOLS

log = logging.getLogger("keyhole.mcp")

_ACCESS = "access"
# Set if the database could not be asked about a token.
IS_AWAY = "is_away"
_service: ContextVar[TeamService] = ContextVar("service")


class CallerService:
    """Stands for the service of whoever makes the current call; what all callers share is here."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.root = Path(f"/{DEFAULT_NAME}")
        self.folder = team_folder(settings.cache_dir, settings.store.url.get_secret_value())

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the caller's service; outside of a call there is none."""
        return getattr(_service.get(), name)


class TeamVerifier(TokenVerifier):
    """Accepts the tokens that are valid now."""

    def __init__(self, book: AccessBook) -> None:
        super().__init__()
        self._book = book

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return who a token belongs to, with what it gives access to; never the token itself."""
        try:
            access = await asyncio.to_thread(self._book.access, token)
        except KeyholeError as error:
            log.warning("could not look up a token: %s", error)
            # Without access to anything; `AwayAnswers` tells the client that this is not about its token.
            return AccessToken(token="…", client_id="", scopes=[], claims={IS_AWAY: True})  # noqa: S106
        if access is None:
            return None
        return AccessToken(token="…", client_id=access.token, scopes=[], claims={_ACCESS: access})  # noqa: S106


class TeamCalls(Middleware):
    """Counts each call, and runs it with the service of its caller."""

    def __init__(self, book: AccessBook, services: TeamServices, tools: ToolSet) -> None:
        self._book = book
        self._services = services
        self._steps = agent_steps(tools)

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Run a tool on the caller's repositories."""
        wanted, arguments = "", dict(context.message.arguments or {})
        if context.message.name in REPO_TOOLS:
            wanted = str(arguments.pop(REPO, None) or "")
            context = context.copy(message=context.message.model_copy(update={"arguments": arguments}))
        try:
            service = await self._admitted(wanted)
        except KeyholeError as error:
            raise ToolError(error.worded(self._steps)) from None
        with _served_by(service):
            return await call_next(context)

    async def on_read_resource(
        self,
        context: MiddlewareContext[ReadResourceRequestParams],
        call_next: CallNext[ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        """Read a resource of the caller's repositories."""
        try:
            service = await self._admitted()
        except KeyholeError as error:
            raise ResourceError(error.worded(self._steps)) from None
        with _served_by(service):
            return await call_next(context)

    async def _admitted(self, wanted: str = "") -> TeamService:
        """Count a call and return the service for it; raise TooManyCallsError over the limit."""
        access = current_access()
        if seconds := await asyncio.to_thread(self._book.seconds_to_wait, access):
            limit = count_of(access.calls_per_minute, "call")
            raise TooManyCallsError(f"this token may make {limit} per minute; try again in {seconds} seconds")
        return self._services.of(chosen(access.repositories, wanted))


class TooManyCallsError(KeyholeError):
    """A token has made more calls than it may."""


class AlwaysFresh:
    """In place of `Freshness`: workers keep a team's repositories up to date, not the server."""

    async def catch_up(self, report: object) -> None:
        """Do nothing."""


def current_access() -> TeamAccess:
    """Return what the caller may do."""
    token = get_access_token()
    access = token.claims.get(_ACCESS) if token else None
    if not isinstance(access, TeamAccess):
        raise ToolError("this call has no valid token")
    return access


def current_caller() -> str:
    """Return the name of the caller's token."""
    token = get_access_token()
    return str(token.client_id) if token else ""


@contextmanager
def _served_by(service: TeamService) -> Iterator[None]:
    token = _service.set(service)
    try:
        yield
    finally:
        _service.reset(token)
