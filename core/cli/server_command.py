"""The command that serves agents: mcp."""

import secrets
from pathlib import Path

import click

from keyhole.core.cli.options import force_option, path_argument
from keyhole.core.types import DEFAULT_PORT


@click.command()
@path_argument
@click.option("--http", is_flag=True, help="Serve streamable HTTP instead of stdio.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=DEFAULT_PORT, show_default=True, help="Port; 0 picks a free one."
)
@click.option(
    "--processes", type=click.IntRange(1, 16), help="Processes that serve HTTP; default: one per core, at most 2."
)
@click.option("--token", help="Bearer token that clients must send; default: a new one, printed once.")
@click.option("--no-token", is_flag=True, help="Disable authentication (loopback only).")
@click.option("--no-journal", is_flag=True, help="Do not record calls.")
@force_option
def mcp(
    path: Path,
    *,
    http: bool,
    host: str,
    port: int,
    processes: int | None,
    token: str | None,
    no_token: bool,
    no_journal: bool,
    force: bool,
) -> None:
    """Serve the workspace PATH to agents over MCP. Uses stdio unless --http is given."""
    from keyhole.core.service import Service
    from keyhole.mcp_server.http_processes import default_processes
    from keyhole.mcp_server.run_server import run_http, run_stdio

    service = Service.open(path, force=force, flags={"journal.enabled": False if no_journal else None})
    if not http:
        run_stdio(service)
        return
    if no_token and token:
        raise click.UsageError("--token and --no-token cannot be used together")
    is_new = not token and not no_token
    run_http(service, host, port, secrets.token_urlsafe(24) if is_new else token, processes or default_processes())


COMMANDS = (mcp,)
