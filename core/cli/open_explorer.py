"""Opens the explorer from the command line: `keyhole [PATH]... [--fresh] [--serve [--port N] [--tools SET] …]`."""

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
from keyhole.core.types.choices import DEFAULT_PORT, ToolSet

if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.mcp_server.embedded import EmbeddedServer


@dataclass(frozen=True, slots=True)
class ExploreRequest:
    """The options of the explorer; with a port it also serves agents."""

    folders: tuple[Path, ...]
    force: bool
    port: int | None
    token: str | None = None
    token_file: Path | None = None
    tools: str | None = None
    is_fresh: bool = False


def explore_command() -> click.Command:
    """Return the parser of the explorer's options."""
    return click.Command(
        "keyhole",
        params=[
            click.Argument(["folders"], nargs=-1),
            click.Option(["--force"], is_flag=True),
            click.Option(["--fresh"], is_flag=True),
            click.Option(["--serve"], is_flag=True),
            click.Option(["--port"], type=click.IntRange(0, 65_535)),
            click.Option(["--token"]),
            click.Option(["--token-file"], type=click.Path(path_type=Path)),
            click.Option(["--tools"], type=SuggestingChoice([*map(str, ToolSet)])),
        ],
        add_help_option=False,
    )


def explore_request(arguments: list[str], commands: Container[str]) -> ExploreRequest | str | None:
    """Return what to explore, None if a command is given, or what is wrong with the options."""
    try:
        given = explore_command().make_context("keyhole", list(arguments)).params
    except click.UsageError as error:
        return error.format_message() if "--serve" in arguments else None
    folders, port = given["folders"] or (".",), given["port"]
    if (folders[0] in commands and arguments[0] == folders[0]) or not _is_folder(folders[0]):
        return None
    for folder in folders[1:]:
        if not _is_folder(folder):
            return f"cannot open {folder}: it is not a folder"
    for option in ("port", "token", "token_file", "tools"):
        if given[option] is not None and not given["serve"]:
            return f"--{option.replace('_', '-')} needs --serve"
    if given["serve"]:
        port = DEFAULT_PORT if port is None else port
    return ExploreRequest(
        tuple(map(Path, folders)),
        given["force"],
        port,
        given["token"],
        given["token_file"],
        given["tools"],
        given["fresh"],
    )


def _is_folder(path: str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112  # never raises


def is_at_terminal() -> bool:
    """Return whether all three standard streams are a terminal: Textual reads keys from stdin and draws on stderr."""
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


def explore(request: ExploreRequest, *, is_remote: bool = False) -> int:
    """Run the explorer, in the terminal or for a browser, and return its exit code."""
    from keyhole.mcp_server.local import LocalTools
    from keyhole.tui.run_explorer import run_explorer
    from keyhole.tui.serving import ServerSide

    try:
        token = given_token(request.token, request.token_file)
    except click.UsageError as error:
        return fail(error.message)
    server_side = ServerSide(partial(start_server, token=token), LocalTools(), request.port)
    return run_explorer(
        request.folders,
        server_side,
        force=request.force,
        flags={"mcp.tools": request.tools},
        is_fresh=request.is_fresh,
        is_remote=is_remote,
    )


async def start_server(
    service: "Service", port: int, on_rejection: Callable[[str], None], token: str | None = None
) -> "EmbeddedServer":
    """Start the server for the explorer; this module imports both, so that neither has to import the other."""
    from keyhole.mcp_server.embedded import EmbeddedServer

    return await EmbeddedServer.start(service, port=port, token=token, on_rejection=on_rejection)
