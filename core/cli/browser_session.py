"""The explorer of one page in a browser: `keyhole web` starts this module for each page, and talks to it by pipes."""

import sys
from pathlib import Path

from keyhole.core.cli.open_explorer import ExploreRequest, explore, explore_request
from keyhole.core.cli.output import fail


def session_command(folder: Path, *, force: bool, is_fresh: bool) -> list[str]:
    """Return the command that runs this module on a folder."""
    options = [*(["--force"] if force else []), *(["--fresh"] if is_fresh else [])]
    # -P: the current folder may be untrusted, and nothing is imported from there.
    return [sys.executable, "-P", "-m", __name__, *options, "--", str(folder)]


def run_session(arguments: list[str]) -> int:
    """Run the explorer for a page and return its exit code."""
    request = explore_request(arguments, commands=())
    if isinstance(request, ExploreRequest):
        return explore(request, is_remote=True)
    return fail(request or "cannot open the folder")


if __name__ == "__main__":
    sys.exit(run_session(sys.argv[1:]))
