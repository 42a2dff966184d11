"""Serves a team's repositories over HTTP; what a client sees depends on its token."""

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from keyhole.core.config import Settings
from keyhole.core.listening import listen
from keyhole.core.service import open_journal
from keyhole.core.types.choices import TOKEN_PLACEHOLDER
from keyhole.mcp_server.http_processes import SharedListener, serve_from_processes
from keyhole.mcp_server.import_fastmcp import import_fastmcp
from keyhole.mcp_server.run_server import ENDPOINT, connect_text, http_options, serve_on

if TYPE_CHECKING:
    from fastmcp import FastMCP

    from keyhole.core.journal.writer import Journal
    from keyhole.core.service import Service
    from keyhole.core.team.access_book import AccessBook
    from keyhole.core.team.team_services import TeamServices
    from keyhole.mcp_server.freshness import Freshness

TEAM_ADVICE = "Ask the administrator for a token: keyhole admin token create makes one, until it expires or is revoked."


def run_team(settings: Settings, group: str, host: str, port: int, processes: int = 1) -> None:
    """Serve the repositories of a group, or all, until stopped; every client needs a token."""
    from keyhole.core.team.access_book import served_repositories

    # An unknown group, or a database that can't be reached, is better known now than at the first call.
    served_repositories(settings.store.url.get_secret_value(), group)
    listener, address = listen(host, port)
    print(connect_text(address + ENDPOINT, TOKEN_PLACEHOLDER), flush=True)
    serve_from_processes(processes, listener, partial(_serve_team, settings, group))


def _serve_team(settings: Settings, group: str, listener: SharedListener) -> None:
    import_fastmcp()
    from keyhole.core.team.access_book import AccessBook
    from keyhole.core.team.team_services import TeamServices
    from keyhole.core.team.team_workspace import team_folder

    url = settings.store.url.get_secret_value()
    journal = open_journal(team_folder(settings.cache_dir, url), settings)
    server = build_team_server(settings, AccessBook(url, group), TeamServices(settings), journal)
    serve_on(listener, server, journal, team_http_options(server))


def team_http_options(server: "FastMCP") -> dict[str, Any]:
    """Return the HTTP options of a team's server."""
    from starlette.middleware import Middleware

    from keyhole.mcp_server.away_answers import AwayAnswers

    return http_options(server, advice=TEAM_ADVICE, first=[Middleware(AwayAnswers)])


def build_team_server(
    settings: Settings, book: "AccessBook", services: "TeamServices", journal: "Journal | None" = None
) -> "FastMCP":
    """Make the server of a team."""
    from keyhole.mcp_server.server import build_server
    from keyhole.mcp_server.team_access import AlwaysFresh, CallerService, TeamCalls, TeamVerifier, current_caller

    calls = TeamCalls(book, services, settings.mcp.tools)
    return build_server(
        cast("Service", CallerService(settings)),
        TeamVerifier(book),
        journal,
        freshness=cast("Freshness", AlwaysFresh()),
        innermost=[calls],
        caller=current_caller,
        is_team=True,
    )
