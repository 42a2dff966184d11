"""Opens the explorer from the command line: `keyhole [PATH] [--serve [--port N] [--tools SET] …]`."""

import os
import sys
from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keyhole.core.cli.options import SuggestingChoice
from keyhole.core.cli.output import fail
from keyhole.core.cli.token_source import given_token
from keyhole.core.types import DEFAULT_PORT, ToolSet

if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.mcp_server.embedded import EmbeddedServer


@dataclass(frozen=True, slots=True)
class ExploreRequest:
    """The options of the explorer; with a port it also serves agents."""

    folder: Path
    force: bool
    port: int | None
    token: str | None = None
    token_file: Path | None = None
    tools: str | None = None


def explore_request(arguments: list[str], commands: Container[str]) -> ExploreRequest | str | None:
    """Return what to explore, None if a command is given, or what is wrong with the options."""
    options = click.Command(
        "keyhole",
        params=[
            click.Argument(["folder"], default="."),
            click.Option(["--force"], is_flag=True),
            click.Option(["--serve"], is_flag=True),
            click.Option(["--port"], type=click.IntRange(0, 65_535)),
            click.Option(["--token"]),
            click.Option(["--token-file"], type=click.Path(path_type=Path)),
            click.Option(["--tools"], type=SuggestingChoice([*map(str, ToolSet)])),
        ],
        add_help_option=False,
    )
    try:
        given = options.make_context("keyhole", list(arguments)).params
    except click.UsageError as error:
        return error.format_message() if "--serve" in arguments else None
    folder, port = given["folder"], given["port"]
    if (folder in commands and arguments[0] == folder) or not os.path.isdir(folder):  # noqa: PTH112
        return None
    for option in ("port", "token", "token_file", "tools"):
        if given[option] is not None and not given["serve"]:
            return f"--{option.replace('_', '-')} needs --serve"
    if given["serve"]:
        port = DEFAULT_PORT if port is None else port
    return ExploreRequest(Path(folder), given["force"], port, given["token"], given["token_file"], given["tools"])


def is_at_terminal() -> bool:
    """Return whether all three standard streams are a terminal: Textual reads keys from stdin and draws on stderr."""
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


def explore(request: ExploreRequest) -> int:
    """Run the explorer and return its exit code."""
    from keyhole.mcp_server.local import LocalTools
    from keyhole.tui.run_explorer import run_explorer
    from keyhole.tui.serving import ServerSide

    try:
        token = given_token(request.token, request.token_file)
    except click.UsageError as error:
        return fail(error.message)
    server_side = ServerSide(partial(start_server, token=token), LocalTools())
    return run_explorer(
        request.folder, server_side, force=request.force, port=request.port, flags={"mcp.tools": request.tools}
    )


async def start_server(
    service: "Service", port: int, on_rejection: Callable[[str], None], token: str | None = None
) -> "EmbeddedServer":
    """Start the server for the explorer; this module imports both, so that neither has to import the other."""
    from keyhole.mcp_server.embedded import EmbeddedServer

    return await EmbeddedServer.start(service, port=port, token=token, on_rejection=on_rejection)
