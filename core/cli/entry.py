"""The console script and `python -m keyhole` start here.

Clients wait for `keyhole wrap`, so it does without the rest of the command line. `keyhole mcp` and commands that only
read use the shared server if they can, and then import nothing more than this module and `core/sharing`. Everything
else goes to `core/cli/main.py`, which takes a hundred times as long to import.
"""

import os
import sys


def main() -> None:
    """Run Keyhole and exit with its code."""
    if sys.argv[1:2] == ["wrap"]:
        from keyhole.core.wrap.run_wrap import run_if_plain

        code = run_if_plain(sys.argv[2:])
        if code is not None:
            sys.exit(code)
    code = _run_shared(sys.argv[1:])
    if code is not None:
        # Nothing is left to clean up, and a thread may still wait for stdin.
        os._exit(code)
    from keyhole.core.cli.main import main as main_alone

    main_alone()


def _run_shared(arguments: list[str]) -> int | None:
    """Serve a client or run a command with the shared server; return None if that has to happen in this process."""
    if not arguments or not _can_share():
        return None
    if arguments[0] == "mcp":
        return _serve_shared(arguments[1:])
    from keyhole.core.sharing.remote_command import CAN_RUN_REMOTELY, SHARED_COMMANDS, run_remotely

    if not CAN_RUN_REMOTELY or arguments[0] not in SHARED_COMMANDS:
        return None
    from keyhole.core.sharing.share_address import UnsharedError, find_address, is_share_wanted

    try:
        return run_remotely(find_address(), arguments) if is_share_wanted() else None
    except (UnsharedError, OSError):
        # A command never starts a server, so this is the usual case.
        return None


def _serve_shared(arguments: list[str]) -> int | None:
    request = session_request(arguments)
    if request is None:
        return None
    from keyhole.core.sharing.share_address import DeclinedError, UnsharedError, find_address, is_share_wanted

    if not is_share_wanted():
        return None
    from keyhole.core.sharing.reach_server import reach

    try:
        address = find_address()
        server = reach(address, request)
    except DeclinedError:
        return None
    except (UnsharedError, OSError) as error:
        sys.stderr.write(f"keyhole: {error}; serving this client alone\n")
        return None
    from keyhole.core.sharing.relay import Relay

    return Relay(address, request, server).run()


def session_request(arguments: list[str]) -> list[bytes] | None:
    """Return what to ask the shared server for; None for options that it does not know."""
    from keyhole.core.sharing.share_wire import SESSION

    path, tools, flags = "", "", []
    waiting = iter(arguments)
    for argument in waiting:
        if argument in ("--no-journal", "--force"):
            flags.append(argument)
        elif argument.partition("=")[0] == "--tools":
            # Without a value it is an error, which the command line explains.
            tools = (argument.partition("=")[2] if "=" in argument else next(waiting, "")) or "?"
        elif argument.startswith("-") or path:
            return None
        else:
            path = argument
    if tools not in ("", "all", "core"):
        return None
    try:
        place = os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH118  # pathlib takes too long to import
    except OSError:
        return None
    return [SESSION, os.fsencode(place), tools.encode(), *(flag.encode() for flag in flags)]


def _can_share() -> bool:
    """Return whether this process has all that sharing needs: UTF-8 for names, and three open streams."""
    is_plain = sys.getfilesystemencoding() == "utf-8" and "KEYHOLE_TERMINAL_ENCODING" not in os.environ
    return is_plain and "_KEYHOLE_COMPLETE" not in os.environ and None not in (sys.stdin, sys.stdout, sys.stderr)
