"""The console script, and the one place that knows every door."""

import sys


def main() -> None:
    """Run Keyhole and exit with its code."""
    from keyhole.core.cli import cli, run
    from keyhole.mcp_server.command import mcp  # the command only; what it runs is imported when it runs

    cli.add_command(mcp)
    sys.exit(run(sys.argv[1:]))
