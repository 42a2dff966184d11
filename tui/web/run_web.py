"""Runs the server for browsers until a signal ends it."""

import asyncio
import logging
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from keyhole.core.errors import ErrorKind, WorkspaceError
from keyhole.core.listening import is_loopback, listen
from keyhole.core.processes import ENDING_SIGNALS
from keyhole.core.types.choices import TOKEN_PLACEHOLDER
from keyhole.core.untrusted_text import visible
from keyhole.tui.web.page import ExplorerPage, add_headers, static_routes
from keyhole.tui.web.sessions import Sessions
from keyhole.tui.web.visitor_check import VisitorCheck

# How long explorers may take to end; ending one by force takes less.
_PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class ServedWorkspace:
    """A workspace, and the command that runs its explorer."""

    root: Path
    command: Sequence[str]


def run_web(workspaces: Sequence[ServedWorkspace], host: str, port: int, token: str, *, is_given: bool) -> None:
    """Serve until stopped; a token that was given is not shown, and only such a token opens other addresses."""
    if not is_loopback(host) and not is_given:
        raise WorkspaceError(f"refusing to serve on {host} without a token", ErrorKind.NO_TOKEN)
    listener, address = listen(host, port)
    print(_opening_text(workspaces, address, TOKEN_PLACEHOLDER if is_given else token), flush=True)
    check = VisitorCheck(host, listener.getsockname()[1], token)
    asyncio.run(_serve(_application(workspaces, check), listener))


def _opening_text(workspaces: Sequence[ServedWorkspace], address: str, token: str) -> str:
    """Return the address of each workspace, to open in a browser."""
    lines = []
    for number, workspace in enumerate(workspaces, 1):
        path = "" if number == 1 else str(number)
        lines.append(f"Open {visible(workspace.root.name)} at {address}/{path}?token={token}")
    return "\n".join([*lines, "Press Ctrl+C to stop."])


def _application(workspaces: Sequence[ServedWorkspace], check: VisitorCheck) -> web.Application:
    sessions = Sessions([workspace.command for workspace in workspaces])
    page = ExplorerPage([workspace.root.name for workspace in workspaces])
    application = web.Application(middlewares=[check.check])
    application.add_routes(
        [
            web.get("/", page.show),
            web.get(r"/{number:[1-9]\d?}", page.show),
            web.get(r"/ws/{number:[1-9]\d?}", sessions.open),
            *static_routes(),
        ]
    )
    application.on_response_prepare.append(add_headers)
    application.on_shutdown.append(sessions.close_all)
    return application


async def _serve(application: web.Application, listener: socket.socket) -> None:
    """Serve until a signal comes, then end the explorers."""
    # Whoever can connect could fill the log with tracebacks of requests that are no HTTP.
    logging.getLogger("aiohttp").addHandler(logging.NullHandler())
    stopped = asyncio.Event()
    for number in ENDING_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=_PATIENCE)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        await stopped.wait()
    finally:
        await runner.cleanup()
