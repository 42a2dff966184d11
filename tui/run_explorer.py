"""Running the explorer so that the terminal is always restored."""

import asyncio
import gc
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from keyhole.core.errors import KeyholeError
from keyhole.core.files.workspace import open_workspace
from keyhole.core.index.private_files import create_private_file, make_private_folder
from keyhole.core.terminal_encoding import draw_in_cells, terminal_encoding
from keyhole.core.view.text import one_line
from keyhole.core.view.usage import MaskedFormatter
from keyhole.tui.terminal_guard import TerminalGuard
from keyhole.tui.terminal_input import read_keys_as
from keyhole.tui.user_choices import read_user_choices
from keyhole.tui.workspace_state import WorkspaceState
from keyhole.tui.workspaces import Workspaces

if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.tui.app import KeyholeApp
    from keyhole.tui.serving import ServerSide

    OpenService = Callable[[], Service]
    NewApp = Callable[[Path, OpenService, ServerSide], KeyholeApp]

EXIT_ERROR = 2
_LOG_BYTES = 1_000_000


def run_explorer(  # noqa: PLR0913  # each is an option of the command
    folders: Sequence[Path],
    server_side: "ServerSide",
    *,
    force: bool = False,
    flags: Mapping[str, object] | None = None,
    is_fresh: bool = False,
    is_remote: bool = False,
) -> int:
    """Run the explorer on the first of some folders, with the others one key away, and return the exit code.

    The flags go before the settings of each workspace. A fresh explorer does not start as it was left. A remote one is
    drawn by a browser instead of the terminal.
    """
    choices = read_user_choices()
    if choices.keys:
        from keyhole.tui.user_keys import use_keys

        use_keys(choices.keys)
    # Its texts name keys, so it is imported after the user's keys are known.
    from keyhole.tui.errors_for_explorer import problem_text

    try:
        roots = [open_workspace(folder, force=force) for folder in folders]
    except KeyholeError as error:
        return _fail(problem_text(error))
    log_path = _log_to_file()
    # A folder from the command line may be one that needs --force; any other one is chosen in the explorer.
    workspaces = Workspaces(lambda root: _open_service(root, flags, force=force and root in roots), list(roots))
    if is_remote:
        guard, prepare = None, _draw_in_browser
    else:
        draw_in_cells()
        read_keys_as(terminal_encoding())
        guard = TerminalGuard.start()
        prepare = partial(_draw_in_terminal, guard, workspaces)

    def new_app(root: Path, open_service: "OpenService", server_side: "ServerSide") -> "KeyholeApp":
        from keyhole.tui.app import KeyholeApp

        state = WorkspaceState.of(root, is_fresh=is_fresh)
        app = KeyholeApp(root, open_service, server_side=server_side, state=state)
        app.use_choices(choices)
        prepare(app)
        return app

    try:
        app = _explore_in_turn(workspaces, server_side, new_app)
    finally:
        if guard:
            guard.close()
    if app.failure:
        problem = one_line(str(app.failure))
        return _fail(f"the explorer failed{f' ({problem})' if problem else ''}; see {log_path}")
    return app.return_code or 0


def _draw_in_terminal(guard: TerminalGuard | None, workspaces: Workspaces, app: "KeyholeApp") -> None:
    app.terminal_guard, app.workspaces = guard, workspaces


def _draw_in_browser(app: "KeyholeApp") -> None:
    from keyhole.tui.browser_driver import BrowserDriver

    app.is_remote, app.driver_class = True, BrowserDriver


def _explore_in_turn(workspaces: Workspaces, server_side: "ServerSide", new_app: "NewApp") -> "KeyholeApp":
    """Run an app for the first workspace, and one for each that the user goes to; return the last one."""
    root, notice = workspaces.opened[0], ""
    open_service = partial(workspaces.open, root)
    while True:
        app = new_app(root, open_service, server_side)
        app.start_notice = notice
        asyncio.run(_explore(app))
        app.state.flush()
        chosen = workspaces.take_next()
        if chosen is None:
            return app
        _close_left(app)
        root, notice = chosen.service.root, chosen.notice
        # The setup of a client names an address and means one workspace: it must not silently get another one there.
        server_side = replace(server_side, port=None)
        open_service = partial(_opened, chosen.service)


def _close_left(app: "KeyholeApp") -> None:
    """Free what the app of a workspace has left behind, after the user went to another one."""
    app.is_left = True
    if app.service:
        app.service.close()
    # The app froze what was loaded at its start; most of that is garbage now.
    gc.unfreeze()
    gc.collect()


def _opened(service: "Service") -> "Service":
    return service


async def _explore(app: "KeyholeApp") -> None:
    """Run the app, then stop the server it may have started, once the terminal is restored."""
    try:
        if app.terminal_guard:
            app.terminal_guard.on()
        await app.run_async()
    finally:
        if app.terminal_guard:
            app.terminal_guard.off()
        if app.serving:
            await app.serving.stop()


def _open_service(root: Path, flags: Mapping[str, object] | None, *, force: bool) -> "Service":
    from keyhole.core.service import Service

    return Service.open(root, force=force, flags=flags)


def _log_to_file() -> Path:
    """Send logs to a file, because the explorer uses the terminal; return its path."""
    from platformdirs import user_log_path

    path = user_log_path("keyhole") / "explorer.log"
    logger = logging.getLogger("keyhole")
    try:
        # An unexpected error is logged with the values it was about.
        make_private_folder(path.parent)
        create_private_file(path)
        handler: logging.Handler = RotatingFileHandler(path, maxBytes=_LOG_BYTES, backupCount=1, delay=True)
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(MaskedFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger.addHandler(handler)
    logger.propagate = False
    return path


def _fail(message: str) -> int:
    print(f"keyhole: {message}", file=sys.stderr)
    return EXIT_ERROR
