"""Running the explorer so that the terminal is always restored."""

import asyncio
import logging
import sys
from collections.abc import Mapping
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from keyhole.core.errors import KeyholeError
from keyhole.core.files.workspace import open_workspace
from keyhole.core.index.private_files import create_private_file, make_private_folder
from keyhole.core.view.text import one_line
from keyhole.core.view.usage import MaskedFormatter
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.terminal_guard import TerminalGuard

if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.tui.app import KeyholeApp
    from keyhole.tui.serving import ServerSide

EXIT_ERROR = 2
_LOG_BYTES = 1_000_000


def run_explorer(
    folder: Path,
    server_side: "ServerSide",
    *,
    force: bool = False,
    port: int | None = None,
    flags: Mapping[str, object] | None = None,
) -> int:
    """Run the explorer on a folder and return the exit code; with a port, serve agents from the start.

    The flags go before the settings of the workspace.
    """
    try:
        root = open_workspace(folder, force=force)
    except KeyholeError as error:
        return _fail(problem_text(error))
    from keyhole.tui.app import KeyholeApp

    log_path = _log_to_file()
    app = KeyholeApp(root, lambda: _open_service(root, flags, force=force), server_side=server_side, port=port)
    app.terminal_guard = TerminalGuard.start()
    try:
        asyncio.run(_explore(app))
    finally:
        if app.terminal_guard:
            app.terminal_guard.close()
    if app.failure:
        problem = one_line(str(app.failure))
        return _fail(f"the explorer failed{f' ({problem})' if problem else ''}; see {log_path}")
    return app.return_code or 0


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
