"""The command line: the console script `keyhole` and `python -m keyhole` call `main`, through `entry.py`.

Commands are in the modules of this package; a folder, or no argument, opens the explorer. Heavy imports happen only
when a command runs, so that `--help` is instant and `keyhole search` loads no terminal interface.
"""

import os
import sys
from io import StringIO

import click

from keyhole.core.cli import (
    admin_commands,
    check_command,
    client_commands,
    completion_command,
    demo_command,
    doctor_command,
    file_commands,
    index_commands,
    install_commands,
    relation_commands,
    search_commands,
    server_command,
    team_commands,
    web_command,
    wrap_commands,
)
from keyhole.core.cli.completion_command import COMPLETION_VARIABLE, PROGRAM, CompletedGroup
from keyhole.core.cli.errors_for_shell import SHELL_STEPS
from keyhole.core.cli.examples import add_examples
from keyhole.core.cli.open_explorer import explore, explore_request, is_at_terminal
from keyhole.core.cli.output import EXIT_ERROR, EXIT_INTERRUPTED, fail
from keyhole.core.cli.parameters import flag_of
from keyhole.core.cli.token_source import forget_token
from keyhole.core.errors import KeyholeError, ParameterError
from keyhole.core.terminal_encoding import use_utf8


@click.group(cls=CompletedGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="keyhole")
def cli() -> None:
    """See your codebase the way your agent does.

    Without a command, keyhole [PATH] opens the explorer; W switches between several PATHs, and --fresh starts
    without the query and layout of the last time. Add --serve [--port N] [--token-file PATH] [--tools all|core]
    to also serve agents over HTTP.
    """
    if click.get_current_context().invoked_subcommand not in (server_command.mcp.name, web_command.web.name):
        forget_token()


for _module in (
    index_commands,
    search_commands,
    file_commands,
    relation_commands,
    install_commands,
    client_commands,
    check_command,
    server_command,
    web_command,
    demo_command,
    doctor_command,
    team_commands,
    admin_commands,
    completion_command,
    wrap_commands,
):
    for _command in _module.COMMANDS:
        add_examples(_command)
        cli.add_command(_command)


def main() -> None:
    """Run Keyhole and exit with its code."""
    _open_closed_streams()
    use_utf8()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Open the explorer or run a command, and return the exit code."""
    # A shell that asks for words sends no arguments, but never means the explorer.
    request = None if COMPLETION_VARIABLE in os.environ else explore_request(arguments, cli.commands)
    if isinstance(request, str):
        return fail(request)
    if request is None:
        return run_command(arguments)
    if is_at_terminal():
        return explore(request)
    if request.port is not None:
        return fail("--serve needs a terminal; use keyhole mcp --http instead")
    if len(request.folders) > 1:
        return fail("several folders need a terminal; give one folder for an overview")
    code = run_command(["overview", *(["--force"] if request.force else []), "--", str(request.folders[0])])
    if code == 0:
        click.echo(
            "keyhole: not a terminal: showing an overview instead of the explorer; keyhole --help lists the commands",
            err=True,
        )
    return code


def run_command(arguments: list[str]) -> int:
    """Run one command and return its exit code; errors go to stderr."""
    if arguments and _is_path(arguments[0]):
        arguments = ["overview", *arguments]
    try:
        return cli.main(arguments, PROGRAM, COMPLETION_VARIABLE, standalone_mode=False) or 0
    except (click.exceptions.Abort, KeyboardInterrupt):
        return fail("interrupted; the next run continues from here", code=EXIT_INTERRUPTED)
    except click.ClickException as error:
        _show(error)
        return EXIT_ERROR
    except ParameterError as error:
        return fail(f"{flag_of(cli.commands.get(arguments[0], cli), error.parameter)} {error.rule}")
    except KeyholeError as error:
        return fail(error.worded(SHELL_STEPS))
    except BrokenPipeError:
        # The reader has closed the pipe (`| head`), which is no error; stdout must not be flushed at exit.
        sys.stdout = None
        return 0


def _show(error: click.ClickException) -> None:
    """Print how a command is used; the message quotes what was given, which may be long, hidden or secret."""
    from keyhole.core.masking import mask_text
    from keyhole.core.untrusted_text import error_text

    error.message = error_text(error.message)  # type: ignore[misc]  # final only in newer versions of click
    shown = StringIO()
    error.show(shown)
    click.echo(mask_text(shown.getvalue()), nl=False, err=True)


def _is_path(argument: str) -> bool:
    """Return whether an argument is a path, existing or mistyped, and not a command or an option."""
    if argument in cli.commands or argument.startswith("-"):
        return False
    return "/" in argument or os.sep in argument or os.path.exists(argument)  # noqa: PTH110  # never raises


def _open_closed_streams() -> None:
    """Open the standard streams that the caller closed (`2>&-`), so that no other file gets their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123  # until the end
