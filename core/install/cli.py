"""`keyhole install` and `keyhole uninstall` from the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from keyhole.core.install.commands import ConfigTarget


def _common(command: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option(
            "--root", type=click.Path(path_type=Path), default=".", help="Workspace folder; default: this one."
        ),
        click.option(
            "--scope",
            type=click.Choice(["project", "user"]),
            default="project",
            show_default=True,
            help="Only this workspace, or all of yours.",
        ),
        click.argument("client", metavar="claude|codex|cursor|vscode"),
    ):
        command = option(command)
    return command


@click.command()
@_common
@click.option("--print", "only_prints", is_flag=True, help="Show what would be written, and change nothing.")
def install(client: str, scope: str, root: Path, *, only_prints: bool) -> None:
    """Put keyhole into the configuration of an MCP client."""
    from keyhole.core.install.commands import install, snippet

    found = _target(client, scope, root)
    if only_prints:
        click.echo(f"keyhole: for {found.path}:", err=True)
        click.echo(snippet(found), nl=False)
    else:
        click.echo(install(found), nl=False)


@click.command()
@_common
def uninstall(client: str, scope: str, root: Path) -> None:
    """Take keyhole out of the configuration of an MCP client."""
    from keyhole.core.install.commands import uninstall

    click.echo(uninstall(_target(client, scope, root)), nl=False)


def _target(client: str, scope: str, root: Path) -> "ConfigTarget":
    from keyhole.core.files.workspace import open_workspace
    from keyhole.core.install.commands import target

    is_project = scope == "project"
    # For all workspaces it does not matter which one this is.
    folder = open_workspace(root) if is_project else root
    return target(client, folder, Path.home(), is_project=is_project)
