"""The console script, and the one place that knows every door."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from keyhole.core.service import Service
    from keyhole.mcp_server.embedded import EmbeddedServer

EXIT_ERROR = 2


def main() -> None:
    """Run Keyhole and exit with its code."""
    _open_what_is_closed()
    from keyhole.core.cli import cli
    from keyhole.mcp_server.command import clients, mcp  # the commands only; what they run is imported when they run

    for command in (mcp, clients):
        cli.add_command(command)
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Open the explorer, or do what the command line says; each door is imported only when it is used."""
    wanted = _explore_options(arguments)
    if isinstance(wanted, str):
        print(f"keyhole: {wanted}", file=sys.stderr)
        return EXIT_ERROR
    if wanted and _is_at_terminal():
        from keyhole.mcp_server.local import LocalTools
        from keyhole.tui.run_explorer import run_explorer
        from keyhole.tui.serving import ServerSide

        server_side = ServerSide(_start_server, LocalTools())
        return run_explorer(wanted.folder, server_side, force=wanted.force, port=wanted.port)
    if wanted and wanted.port is not None:
        print("keyhole: --serve needs a terminal; keyhole mcp --http serves without one", file=sys.stderr)
        return EXIT_ERROR
    from keyhole.core.cli import run as run_command

    code = run_command(arguments)
    if wanted and code == 0:
        print("keyhole: this is no terminal, so no explorer; keyhole --help lists the commands", file=sys.stderr)
    return code


def _open_what_is_closed() -> None:
    """Give a stream that was closed before us (`2>&-`) somewhere to go: Python has None there, and no file may."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123  # until the end


def _is_at_terminal() -> bool:
    """Tell whether all three streams are a terminal: keys come from the first, and Textual draws on the last."""
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


@dataclass(frozen=True, slots=True)
class _Explore:
    """The explorer as it is asked for; a port means to serve agents too."""

    folder: Path
    force: bool
    port: int | None


def _explore_options(arguments: list[str]) -> "_Explore | str | None":
    """Return what to explore if no command is given, or what is wrong with the options."""
    import click

    from keyhole.core.cli import cli

    options = click.Command(
        "keyhole",
        params=[
            click.Argument(["folder"], default="."),
            click.Option(["--force"], is_flag=True),
            click.Option(["--serve"], is_flag=True),
            click.Option(["--port"], type=click.IntRange(0, 65_535)),
        ],
        add_help_option=False,
    )
    try:
        given = options.make_context("keyhole", list(arguments)).params
    except click.UsageError as error:
        return error.format_message() if "--serve" in arguments else None
    folder, port = given["folder"], given["port"]
    if (folder in cli.commands and arguments[0] == folder) or not os.path.isdir(folder):  # noqa: PTH112
        return None
    if port is not None and not given["serve"]:
        return "--port goes with --serve"
    if not given["serve"]:
        return _Explore(Path(folder), given["force"], None)
    from keyhole.core.config import DEFAULT_PORT  # with what checks settings, which takes its time

    return _Explore(Path(folder), given["force"], DEFAULT_PORT if port is None else port)


async def _start_server(service: "Service", port: int, told: "Callable[[str], None]") -> "EmbeddedServer":
    from keyhole.mcp_server.embedded import EmbeddedServer

    return await EmbeddedServer.start(service, port=port, told=told)
