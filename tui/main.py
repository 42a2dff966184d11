"""The console script, and the one place that knows every door."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Run Keyhole and exit with its code."""
    from keyhole.core.cli import cli
    from keyhole.mcp_server.command import clients, mcp  # the commands only; what they run is imported when they run

    for command in (mcp, clients):
        cli.add_command(command)
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Open the explorer, or do what the command line says; each door is imported only when it is used."""
    folder = _folder_to_explore(arguments)
    if folder is not None and sys.stdin.isatty() and sys.stdout.isatty():
        from keyhole.tui.run import run_explorer

        return run_explorer(folder, force="--force" in arguments)
    from keyhole.core.cli import run as run_command

    code = run_command(arguments)
    if folder is not None and code == 0:
        print("keyhole: this is no terminal, so no explorer; keyhole --help lists the commands", file=sys.stderr)
    return code


def _folder_to_explore(arguments: list[str]) -> Path | None:
    """Return the folder that is asked for without a command, if that is what is asked for."""
    from keyhole.core.cli import cli

    folders = [argument for argument in arguments if argument != "--force"]
    if not folders:
        return Path()
    is_folder = len(folders) == 1 and folders[0] not in cli.commands and os.path.isdir(folders[0])  # noqa: PTH112
    return Path(folders[0]) if is_folder else None
