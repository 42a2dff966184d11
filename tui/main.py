"""The console script, and the one place that knows every door."""

import sys


def main() -> None:
    """Run Keyhole and exit with its code."""
    from keyhole.core.cli import run  # each door is imported only when it is used

    sys.exit(run(sys.argv[1:]))
