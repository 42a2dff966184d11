"""Going to another workspace: choosing it, checking that it can be opened, and leaving this one for it."""

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from keyhole.core.errors import KeyholeError
from keyhole.core.view.text import name_text
from keyhole.tui.background import run_in_thread
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.key_names import key_of, marked_up_key
from keyhole.tui.local_only import LocalOnly
from keyhole.tui.screens.workspaces_screen import WorkspacesScreen, workspace_choices
from keyhole.tui.server_state import ServerPhase
from keyhole.tui.workspaces import NextWorkspace

if TYPE_CHECKING:
    from keyhole.tui.explorer import Explorer

_SERVE = f"Press {key_of('traffic')}, then {key_of('serve')} to serve this workspace."


async def choose_workspace(app: "Explorer") -> None:
    """Show the workspaces to choose from; the next key is for this list, so it waits until the list is there."""
    if app.refuses(LocalOnly.WORKSPACES):
        return
    recent = await asyncio.to_thread(app.state.recent_workspaces)
    opened = app.workspaces.opened if app.workspaces else []
    choices = workspace_choices(app.root, opened, recent)
    other = next((number for number, choice in enumerate(choices) if choice.value != str(app.root)), 0)
    hint = f"⏎ Open, which stops the server · {marked_up_key('cancel')} Cancel" if _is_serving(app) else ""

    def go(path: str | int | None) -> None:
        if isinstance(path, str):
            switch_workspace(app, Path(path))

    app.push_screen(WorkspacesScreen(choices, other, hint), go)


def switch_workspace(app: "Explorer", folder: Path) -> None:
    """Leave the workspace for another one, if that can be opened."""
    if app.refuses(LocalOnly.WORKSPACES):
        return
    run_in_thread(app, partial(_open, app, folder), "switch")


def _open(app: "Explorer", folder: Path) -> None:
    """Open a workspace before this one is left, so that an error leaves everything as it is."""
    if app.workspaces is None:
        app.call_later(app.notify, "This explorer shows one workspace only.", severity="warning")
        return
    try:
        service = app.workspaces.open(folder.expanduser())
        # A folder that can't be listed has nothing to show.
        next(service.root.iterdir(), None)
    except KeyholeError as error:
        app.call_later(_say, app, problem_text(error))
    except (OSError, RuntimeError) as error:
        # RuntimeError: `~someone` without a home folder.
        app.call_later(_say, app, f"cannot open {folder}: {getattr(error, 'strerror', None) or error}")
    else:
        if service.root == app.root:
            app.call_later(app.notify, f"{name_text(app.project)} is open already.", timeout=3, markup=False)
            return
        app.call_later(_leave, app, NextWorkspace(service, _notice(app)))


def _say(app: "Explorer", problem: str) -> None:
    app.notify(name_text(problem, 500), severity="error", markup=False)


def _leave(app: "Explorer", chosen: NextWorkspace) -> None:
    if app.workspaces:
        app.workspaces.add(app.root)
        app.workspaces.add(chosen.service.root)
        app.workspaces.next = chosen
        app.exit()


def _is_serving(app: "Explorer") -> bool:
    return app.server_state.phase in (ServerPhase.ON, ServerPhase.STARTING)


def _notice(app: "Explorer") -> str:
    if not _is_serving(app):
        return ""
    return f"Stopped serving {name_text(app.project)} to agents. {_SERVE}"
