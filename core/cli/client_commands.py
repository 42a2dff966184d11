"""Commands about MCP clients: install, uninstall and clients."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from keyhole.core.cli.options import SuggestingChoice, root_option, tools_option, with_options
from keyhole.core.cli.output import print_json, say

if TYPE_CHECKING:
    from keyhole.core.install.commands import ConfigTarget

_target_options = with_options(
    click.argument("client", metavar="claude|codex|cursor|vscode"),
    click.option(
        "--scope",
        type=SuggestingChoice(["project", "user"]),
        default="project",
        show_default=True,
        help="Change the configuration of this workspace, or of all your workspaces.",
    ),
    click.option(
        "--root", type=click.Path(path_type=Path), default=".", help="Workspace folder; default: this folder."
    ),
)


@click.command()
@_target_options
@tools_option
@click.option("--print", "only_prints", is_flag=True, help="Print the configuration without changing any file.")
def install(client: str, scope: str, root: Path, *, tools: str | None, only_prints: bool) -> None:
    """Add keyhole to the configuration of an MCP client."""
    from keyhole.core.install.commands import install, snippet

    config = _target(client, scope, root, tools)
    if only_prints:
        say(f"configuration for {config.path}:")
        click.echo(snippet(config), nl=False)
    else:
        click.echo(install(config), nl=False)


@click.command()
@_target_options
def uninstall(client: str, scope: str, root: Path) -> None:
    """Remove keyhole from the configuration of an MCP client."""
    from keyhole.core.install.commands import uninstall

    click.echo(uninstall(_target(client, scope, root)), nl=False)


@click.command()
@root_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the source of each figure.")
def clients(root: Path, *, as_json: bool) -> None:
    """List known MCP clients: the budget of answers, the cost of keyhole's tools, and how they truncate answers."""
    from dataclasses import asdict

    from keyhole.core.clients import clients_text, profile_budget, profiles
    from keyhole.core.config import load_settings
    from keyhole.mcp_server.definitions import definition_cost, definitions

    settings = load_settings(root)
    tools = definitions(settings.mcp.tools)
    costs = {profile.id: definition_cost(tools, profile) for profile in profiles().values()}
    if as_json:
        print_json(
            [
                asdict(profile) | {"budget": profile_budget(profile, settings), "tool_tokens": costs[profile.id]}
                for profile in profiles().values()
            ]
        )
    else:
        click.echo(clients_text({name: sum(tokens.values()) for name, tokens in costs.items()}, settings), nl=False)


def _target(client: str, scope: str, root: Path, tools: str | None = None) -> "ConfigTarget":
    from keyhole.core.files.workspace import open_workspace
    from keyhole.core.install.commands import target

    is_project = scope == "project"
    # The user's configuration is the same for every workspace, so the folder need not be one.
    folder = open_workspace(root) if is_project else root
    return target(client, folder, Path.home(), is_project=is_project, tools=tools)


COMMANDS = (install, uninstall, clients)
