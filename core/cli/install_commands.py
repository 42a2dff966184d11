"""The commands install and uninstall: keyhole in the configuration of MCP clients."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keyhole.core.cli.options import SuggestingChoice, json_option, root_option, tools_option, with_options
from keyhole.core.cli.output import EXIT_ERROR, fail, print_json, say

if TYPE_CHECKING:
    from keyhole.core.install.client_table import InstallableClient, Scope
    from keyhole.core.install.commands import ConfigTarget, Outcome

_KNOWN = (
    "Clients: claude, codex, cursor, vscode, copilot, gemini, opencode, qwen, zed, windsurf, cline, roo, amp, goose, "
    "crush, jetbrains, junie."
)


def complete_installable(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a client that can be configured."""
    from keyhole.core.install.client_table import installable_clients

    return [name for name in installable_clients() if name.startswith(incomplete)]


_client_options = with_options(
    click.argument("clients", nargs=-1, metavar="[CLIENT]...", shell_complete=complete_installable),
    click.option(
        "--scope",
        type=SuggestingChoice(["project", "user"]),
        help="The configuration of this workspace (project), or yours for all workspaces (user).",
    ),
    root_option,
    json_option,
)


@click.command(epilog=_KNOWN)
@_client_options
@click.option("--all", "for_all", is_flag=True, help="Every client that is on this machine.")
@tools_option
@click.option(
    "--instructions",
    "with_instructions",
    is_flag=True,
    help="Also tell the model when to use which tool, in AGENTS.md, CLAUDE.md or GEMINI.md of the workspace.",
)
@click.option("--print", "only_prints", is_flag=True, help="Print the configuration without changing any file.")
def install(
    clients: Sequence[str],
    *,
    scope: str | None,
    root: Path,
    as_json: bool,
    for_all: bool,
    tools: str | None,
    with_instructions: bool,
    only_prints: bool,
) -> None:
    """Add keyhole to the configuration of MCP clients.

    Only the entry for keyhole changes: comments, order and layout of a file stay, and a backup is kept next to it. The
    default scope is project, or user for clients that have no configuration in a workspace.
    """
    from keyhole.core.install.commands import config_target
    from keyhole.core.install.machine import Machine
    from keyhole.core.install.many import clients_on, install_for

    machine, chosen = Machine(Path.home()), _chosen(clients, for_all=for_all)
    folder = _folder(root, scope)
    signs = clients_on(machine, folder) if for_all else {}
    missing = [client for client in chosen if for_all and client.id not in signs]
    targets = [
        config_target(client, folder, machine, _scope_of(client, scope, for_all=for_all), tools)
        for client in chosen
        if client not in missing
    ]
    if only_prints:
        _print_snippets(targets, as_json=as_json)
        return
    outcomes = [install_for(target, with_instructions=with_instructions) for target in targets]
    if as_json:
        results = [outcome.facts() | {"found": signs.get(outcome.client.id)} for outcome in outcomes]
        print_json({"results": results, "not_found": [client.id for client in missing]})
    else:
        _say_outcomes(outcomes, signs)
        if missing:
            click.echo(f"Not on this machine: {', '.join(client.title for client in missing)}")
    _exit_if_failed(outcomes)


@click.command(epilog=_KNOWN)
@_client_options
@click.option("--all", "for_all", is_flag=True, help="Every client that has keyhole.")
def uninstall(clients: Sequence[str], *, scope: str | None, root: Path, as_json: bool, for_all: bool) -> None:
    """Remove keyhole from the configuration of MCP clients, of this workspace and yours.

    A file that only keyhole install changed is restored exactly. The section that --instructions added goes with the
    last client that reads it.
    """
    from keyhole.core.install.client_table import Scope
    from keyhole.core.install.commands import Change
    from keyhole.core.install.machine import Machine
    from keyhole.core.install.many import uninstall_from

    machine, chosen = Machine(Path.home()), _chosen(clients, for_all=for_all)
    only = Scope(scope) if scope else None
    able = [client for client in chosen if client.project or only is not Scope.PROJECT or not for_all]
    outcomes = [each for client in able for each in uninstall_from(client, root.resolve(), machine, only)]
    if for_all:
        outcomes = [each for each in outcomes if each.change is not Change.UNCHANGED]
    if as_json:
        print_json({"results": [outcome.facts() for outcome in outcomes]})
    else:
        _say_outcomes(outcomes, {})
        if not outcomes:
            click.echo("No client has keyhole")
    _exit_if_failed(outcomes)


def _chosen(names: Sequence[str], *, for_all: bool) -> "list[InstallableClient]":
    from keyhole.core.install.client_table import client_named, installable_clients

    if for_all == bool(names):
        raise click.UsageError(f"name one or more clients, or give --all\n\n{_KNOWN}")
    return list(installable_clients().values()) if for_all else [client_named(name) for name in dict.fromkeys(names)]


def _scope_of(client: "InstallableClient", scope: str | None, *, for_all: bool) -> "Scope | None":
    """Return the scope that was asked for; with --all, a client without a file in the workspace gets the user's."""
    from keyhole.core.install.client_table import Scope

    return None if scope is None or (for_all and not client.project) else Scope(scope)


def _folder(root: Path, scope: str | None) -> Path:
    from keyhole.core.files.workspace import open_workspace

    # The user's configuration is the same for every workspace, so the folder need not be one.
    return root.resolve() if scope == "user" else open_workspace(root)


def _print_snippets(targets: "Sequence[ConfigTarget]", *, as_json: bool) -> None:
    from keyhole.core.install.commands import snippet

    if as_json:
        print_json(
            {"results": [{"client": each.client.id, "path": str(each.path), "text": snippet(each)} for each in targets]}
        )
        return
    for target in targets:
        text = snippet(target)
        say(f"configuration for {target.path}:")
        click.echo(text, nl=False)


def _say_outcomes(outcomes: "Sequence[Outcome]", signs: Mapping[str, str]) -> None:
    """Print what happened; failures go to stderr."""
    from keyhole.core.install.commands import Change

    for outcome in outcomes:
        sign = signs.get(outcome.client.id)
        message = f"{outcome.message}; found {sign}" if sign else outcome.message
        if outcome.change is Change.FAILED:
            fail(message)
        else:
            click.echo(message)


def _exit_if_failed(outcomes: "Sequence[Outcome]") -> None:
    from keyhole.core.install.commands import Change

    if any(outcome.change is Change.FAILED for outcome in outcomes):
        raise click.exceptions.Exit(EXIT_ERROR)


COMMANDS = (install, uninstall)
