"""The command clients: what is known about MCP clients."""

from pathlib import Path

import click

from keyhole.core.cli.options import root_option
from keyhole.core.cli.output import print_json


@click.command()
@root_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the source of each figure.")
def clients(root: Path, *, as_json: bool) -> None:
    """List known MCP clients: the budget of answers, the cost of keyhole's tools, and how they truncate answers."""
    from dataclasses import asdict

    from keyhole.core.clients import clients_text, profile_tokens, profiles, room_for
    from keyhole.core.config import load_settings
    from keyhole.core.tool_definitions import definition_cost
    from keyhole.mcp_server.definitions import definitions

    settings = load_settings(root)
    tools = definitions(settings.mcp.tools)
    costs = {profile.id: definition_cost(tools, profile) for profile in profiles().values()}
    if as_json:
        print_json(
            [
                asdict(profile)
                | {"budget": profile_tokens(profile, settings), "tool_tokens": costs[profile.id]}
                | {"delivers_whole": room.limits if (room := room_for(profile)) else None}
                for profile in profiles().values()
            ]
        )
    else:
        click.echo(clients_text({name: sum(tokens.values()) for name, tokens in costs.items()}, settings), nl=False)


COMMANDS = (clients,)
