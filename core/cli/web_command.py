"""The command that serves the explorer to browsers: web."""

import secrets
from importlib.util import find_spec
from pathlib import Path

import click

from keyhole.core.cli.browser_session import session_command
from keyhole.core.cli.options import force_option
from keyhole.core.cli.token_source import TOKEN_FILE_HELP, TOKEN_HELP, given_token
from keyhole.core.types.choices import DEFAULT_WEB_PORT

_NEEDED = ("aiohttp", "textual_serve")


@click.command()
@click.argument("folders", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others need a token.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=DEFAULT_WEB_PORT,
    show_default=True,
    help="Port; 0 picks a free one.",
)
@click.option("--token", help=TOKEN_HELP)
@click.option("--token-file", type=click.Path(path_type=Path), help=TOKEN_FILE_HELP)
@click.option("--fresh", is_flag=True, help="Start without the query and layout of the last time.")
@force_option
def web(
    folders: tuple[Path, ...],
    *,
    host: str,
    port: int,
    token: str | None,
    token_file: Path | None,
    fresh: bool,
    force: bool,
) -> None:
    """Serve the explorer to browsers. Each PATH has an address of its own.

    Editing files, switching workspaces and suspending are off in the browser.
    """
    given = given_token(token, token_file)
    _require_extra()
    from keyhole.core.files.workspace import open_workspace
    from keyhole.tui.web.run_web import ServedWorkspace, run_web

    roots = [open_workspace(folder, force=force) for folder in folders or (Path(),)]
    served = [ServedWorkspace(root, session_command(root, force=force, is_fresh=fresh)) for root in roots]
    run_web(served, host, port, given or secrets.token_urlsafe(24), is_given=given is not None)


def _require_extra() -> None:
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise click.ClickException(
            f"keyhole web needs packages that are not installed ({', '.join(missing)}); "
            "run `pip install 'keyhole[web]'`"
        )


COMMANDS = (web,)
