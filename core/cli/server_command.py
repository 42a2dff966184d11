"""The command that serves agents: mcp."""

import secrets
from collections.abc import Mapping
from pathlib import Path

import click

from keyhole.core.cli.options import force_option, path_argument, tools_option
from keyhole.core.cli.token_source import TOKEN_FILE_HELP, TOKEN_HELP, forget_token, given_token
from keyhole.core.types.choices import DEFAULT_PORT


@click.command()
@path_argument
@click.option("--http", is_flag=True, help="Serve streamable HTTP instead of stdio.")
@click.option(
    "--team",
    is_flag=False,
    flag_value="",
    metavar="[GROUP]",
    help="Serve a team's repositories, all or those of GROUP, over HTTP; clients need a token of keyhole admin token.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=DEFAULT_PORT, show_default=True, help="Port; 0 picks a free one."
)
@click.option(
    "--processes", type=click.IntRange(1, 16), help="Processes that serve HTTP; default: one per core, at most 2."
)
@click.option("--token", help=TOKEN_HELP)
@click.option("--token-file", type=click.Path(path_type=Path), help=TOKEN_FILE_HELP)
@click.option("--no-token", is_flag=True, help="Disable authentication (loopback only).")
@tools_option
@click.option("--no-journal", is_flag=True, help="Do not record calls.")
@click.option("--no-share", is_flag=True, help="Serve on stdio from this process alone, without the shared server.")
@click.option("--stop", is_flag=True, help="End the shared servers; agents that use one continue with a new one.")
@force_option
def mcp(
    path: Path,
    *,
    http: bool,
    team: str | None,
    host: str,
    port: int,
    processes: int | None,
    token: str | None,
    token_file: Path | None,
    no_token: bool,
    tools: str | None,
    no_journal: bool,
    no_share: bool,  # noqa: ARG001  # core/cli/entry.py has looked at it
    stop: bool,
    force: bool,
) -> None:
    """Serve the workspace PATH to agents over MCP. Uses stdio unless --http is given.

    On stdio, all clients of a user share one server, which is started on demand and ends when nobody uses it.
    """
    if stop:
        stop_shared_servers()
        return
    from keyhole.core.service import Service
    from keyhole.mcp_server.http_processes import CAN_SHARE_SOCKETS, default_processes
    from keyhole.mcp_server.run_server import run_http, run_stdio

    if team is not None and not http:
        raise click.UsageError("--team needs --http")
    given = given_token(token, token_file) if http else forget_token()
    if http and no_token and (token or token_file):
        raise click.UsageError(f"--no-token and {'--token' if token else '--token-file'} cannot be used together")
    if processes and processes > 1 and not CAN_SHARE_SOCKETS:
        raise click.UsageError("--processes: on Windows, only one process can serve; leave the option out")
    flags = {"journal.enabled": False if no_journal else None, "mcp.tools": tools}
    if team is not None:
        _serve_team(team, flags, host, port, processes or default_processes(), has_token=bool(given) or no_token)
        return
    service = Service.open(path, force=force, flags=flags)
    if not http:
        run_stdio(service)
        return
    used = None if no_token else given or secrets.token_urlsafe(24)
    run_http(service, host, port, used, processes or default_processes(), shows_token=given is None)


def _serve_team(  # each is an option of the command
    group: str, flags: Mapping[str, object], host: str, port: int, processes: int, *, has_token: bool
) -> None:
    from keyhole.core.cli.store_address import team_settings

    if has_token:
        raise click.UsageError("--team: every client has its own token; leave out --token, --token-file and --no-token")
    settings = team_settings(flags)
    from keyhole.mcp_server.team_server import run_team

    run_team(settings, group, host, port, processes)


def stop_shared_servers() -> None:
    """End the shared servers that use this user's cache folder, with whatever settings they were started."""
    from keyhole.core.cli.output import say
    from keyhole.core.config import load_settings
    from keyhole.core.sharing.shared_status import stop_servers
    from keyhole.core.user_file import user_file
    from keyhole.core.view.text import count_of

    # The settings of the current folder have no say in this.
    stopped, silent = stop_servers(load_settings(user_file().parent).cache_dir)
    for server in stopped:
        again = f"; {count_of(server.sessions, 'connected agent')} will start a new one" if server.sessions else ""
        say(f"stopped the shared server (process {server.process}){again}")
    if silent:
        raise click.ClickException(f"a shared server does not answer on {', '.join(silent)}; end its process")
    if not stopped:
        say("no shared server is running")


COMMANDS = (mcp,)
