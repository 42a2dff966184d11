"""The commands wrap and cost: other MCP servers, and what clients make of them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from keyhole.core.cli.options import SuggestingChoice, json_option, root_option
from keyhole.core.cli.output import print_json, say

if TYPE_CHECKING:
    from keyhole.core.wrap.run_wrap import WrapOptions
    from keyhole.core.wrap.server_session import Transport

_ADDRESS = ("http://", "https://")


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("target", nargs=-1, metavar="[--] COMMAND [ARGS]... | URL", type=click.UNPROCESSED)
@click.option(
    "--name", default="", help="Name of the server in Traffic and Stats; default: from the command or the URL."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    help="With a URL: the port to listen on; default: any free one.",
)
@click.option(
    "--budget",
    default="",
    metavar="TOKENS|CLIENT",
    help="Shorten answers over this many tokens, or over the limit of a client; keep the rest for `keyhole_more`.",
)
@click.option("--no-journal", is_flag=True, help="Do not record calls.")
@click.option(
    "--install", "installs", is_flag=True, help="Make a server of a client go through the wrap: CLIENT SERVER."
)
@click.option(
    "--uninstall", "uninstalls", is_flag=True, help="Put the entry of a server back as it was: CLIENT SERVER."
)
@click.option("--list", "lists", is_flag=True, help="List the servers of all clients that go through the wrap.")
@click.option(
    "--scope",
    type=SuggestingChoice(["project", "user"]),
    help="With --install and --uninstall: only the configuration of this workspace, or only yours.",
)
@root_option
@json_option
def wrap(
    target: tuple[str, ...],
    *,
    name: str,
    port: int,
    budget: str,
    no_journal: bool,
    installs: bool,
    uninstalls: bool,
    lists: bool,
    scope: str | None,
    root: Path,
    as_json: bool,
) -> None:
    """Run another MCP server and record what it says to agents.

    With a command, the client starts `keyhole wrap -- COMMAND` in place of the server. With a URL, the wrap listens on
    this machine, prints its own address, and forwards to the URL. Messages pass unchanged in both directions, unless
    answers have a budget. The explorer shows the calls in Traffic and Stats of the workspace.
    """
    if budget:
        from keyhole.core.wrap.budget_choice import answer_budget

        answer_budget(budget)
    if installs + uninstalls + lists > 1:
        raise click.UsageError("--install, --uninstall and --list cannot be used together")
    if lists:
        _list(root, as_json=as_json)
    elif installs or uninstalls:
        _change_entry(target, root, scope, budget, as_json=as_json, is_install=installs)
    elif not target:
        raise click.UsageError("give the command of a server after --, or its URL")
    else:
        from keyhole.core.wrap.run_wrap import WrapOptions

        raise click.exceptions.Exit(_run(WrapOptions(target, name, root, not no_journal, budget), port))


def _run(options: "WrapOptions", port: int) -> int:
    from keyhole.core.wrap.run_wrap import run_address, run_command

    target = options.target
    if not target[0].startswith(_ADDRESS):
        return run_command(options)
    if len(target) > 1:
        raise click.UsageError(f"{target[1]!r} after the URL: options come before it")

    def tell(address: str) -> None:
        click.echo(address)
        say(f"wrapping {target[0]} as {options.server}; use the address above in its place; Ctrl-C ends it")

    return run_address(options, port, tell)


def _change_entry(
    target: tuple[str, ...], root: Path, scope: str | None, budget: str, *, as_json: bool, is_install: bool
) -> None:
    from keyhole.core.install.client_table import Scope, client_named
    from keyhole.core.install.machine import Machine
    from keyhole.core.wrap.install_wrap import ClientWraps
    from keyhole.core.wrap.original_texts import OriginalTexts

    if len(target) != 2:
        raise click.UsageError("name a client and one of its servers, such as: claude github")
    client, server = client_named(target[0]), target[1]
    wraps, place = ClientWraps(root.resolve(), Machine(Path.home()), OriginalTexts()), Scope(scope) if scope else None
    if is_install:
        entry, is_changed = wraps.install(client, server, place, budget)
        done = "now goes" if is_changed else "already goes"
        message = f"{server} of {client.title} {done} through keyhole wrap ({entry.path})"
        if budget and not is_changed:
            message += "; run --uninstall first to change its budget"
        message += f"; before {client.title} starts, run: {entry.to_run}" if entry.to_run else ""
        facts = entry.facts() | {"changed": is_changed}
    else:
        found = wraps.uninstall(client, server, place)
        is_changed = found is not None
        message = (
            f"Restored {server} of {client.title} ({found.path})"
            if found
            else f"{server} of {client.title} is not wrapped"
        )
        facts = (found.facts() if found else {"client": client.id, "server": server}) | {"changed": is_changed}
    if as_json:
        print_json(facts | {"message": message})
    else:
        click.echo(message if not is_changed else f"{message}; restart {client.title} to use it")


def _list(root: Path, *, as_json: bool) -> None:
    from keyhole.core.install.machine import Machine
    from keyhole.core.wrap.install_wrap import ClientWraps
    from keyhole.core.wrap.original_texts import OriginalTexts

    entries = list(ClientWraps(root.resolve(), Machine(Path.home()), OriginalTexts()).all())
    if as_json:
        print_json({"results": [entry.facts() for entry in entries]})
        return
    for entry in entries:
        what = entry.url or " ".join(entry.command)
        click.echo(f"{entry.client.id:<10} {entry.scope:<8} {entry.server:<20} {what}  ({entry.path})")
        if entry.to_run:
            click.echo(f"{'':<10} run: {entry.to_run}")
    if not entries:
        click.echo("No server of a known client is wrapped")


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("target", nargs=-1, required=True, metavar="[--] COMMAND [ARGS]... | URL", type=click.UNPROCESSED)
@click.option("--name", default="", help="Name that clients give the server; default: from the command or the URL.")
@click.option("--header", "headers", multiple=True, metavar="'NAME: VALUE'", help="With a URL: send this header.")
@json_option
def cost(target: tuple[str, ...], *, name: str, headers: tuple[str, ...], as_json: bool) -> None:
    """Show what a server's tools and instructions cost each client, in tokens, before the first call.

    The server is started or asked once, for its list of tools. Tools with the longest descriptions come first.
    """
    from keyhole.core.wrap.server_cost import cost_facts, cost_text, server_cost, tool_definitions
    from keyhole.core.wrap.server_name import server_name
    from keyhole.core.wrap.server_session import connected

    with connected(_transport(target, headers)) as session:
        tools = tool_definitions(session.tools())
        counted = server_cost(session.title, session.instructions, tools, name or server_name(target))
    if as_json:
        print_json(cost_facts(counted))
    else:
        click.echo(cost_text(counted), nl=False)


def _transport(target: tuple[str, ...], headers: tuple[str, ...]) -> "Transport":
    from keyhole.core.wrap.server_address import ServerAddress
    from keyhole.core.wrap.server_process import ServerProcess

    if not target[0].startswith(_ADDRESS):
        return ServerProcess(target, Path.cwd())
    pairs = [header.partition(":") for header in headers]
    if wrong := [name for name, colon, _ in pairs if not colon]:
        raise click.UsageError(f"--header {wrong[0]!r}: write it as 'NAME: VALUE'")
    return ServerAddress(target[0], {name.strip(): value.strip() for name, _, value in pairs})


COMMANDS = (wrap, cost)
