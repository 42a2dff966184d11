"""Where the console script starts: clients wait for `keyhole wrap`, so it does without the rest of the command line."""

import sys


def main() -> None:
    """Run Keyhole and exit with its code."""
    if sys.argv[1:2] == ["wrap"]:
        from keyhole.core.wrap.run_wrap import run_if_plain

        code = run_if_plain(sys.argv[2:])
        if code is not None:
            sys.exit(code)
    from keyhole.core.cli import main as command_line

    command_line.main()
