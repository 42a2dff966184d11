"""`keyhole mcp`: the server from the command line."""

import secrets
from pathlib import Path

import click


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option("--http", is_flag=True, help="Serve streamable HTTP instead of stdio.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=7777, show_default=True, help="Port; 0: any.")
@click.option("--token", help="What clients must send; default: a new one, printed once.")
@click.option("--no-token", is_flag=True, help="Let anyone on this machine ask.")
@click.option("--no-journal", is_flag=True, help="Do not record what agents ask and get.")
@click.option("--force", is_flag=True, help="Allow the home folder and the file system root.")
def mcp(
    path: Path,
    *,
    http: bool,
    host: str,
    port: int,
    token: str | None,
    no_token: bool,
    no_journal: bool,
    force: bool,
) -> None:
    """Serve the workspace PATH to agents over MCP, on stdio or with --http."""
    from keyhole.core.service import Service
    from keyhole.mcp_server.run_server import run_http, run_stdio

    service = Service.open(path, force=force, flags={"journal.enabled": False if no_journal else None})
    if not http:
        run_stdio(service)
        return
    if no_token and token:
        raise click.UsageError("give either --token or --no-token")
    is_new = not token and not no_token
    run_http(service, host, port, secrets.token_urlsafe(24) if is_new else token)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the source of every figure.")
def clients(*, as_json: bool) -> None:
    """List what is known of MCP clients: what they do to answers, and what our tools cost them in tokens."""
    from dataclasses import asdict

    from keyhole.core.clients import clients_text, profiles
    from keyhole.core.view.text import json_text
    from keyhole.mcp_server.definitions import definition_cost, definitions

    tools = definitions()
    costs = {profile.id: definition_cost(tools, profile) for profile in profiles().values()}
    if as_json:
        facts = [asdict(profile) | {"tool_tokens": costs[profile.id]} for profile in profiles().values()]
        click.echo(json_text(facts))
    else:
        click.echo(clients_text({name: sum(tokens.values()) for name, tokens in costs.items()}), nl=False)
