"""The palette's commands for recent workspaces."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from keyhole.core.view.text import name_text
from keyhole.tui.palette_commands import Command
from keyhole.tui.screens.workspaces_screen import short_path
from keyhole.tui.workspace_switching import switch_workspace

if TYPE_CHECKING:
    from keyhole.tui.explorer import Explorer


def workspace_commands(app: "Explorer") -> list[Command]:
    """Return commands for the other workspaces of this run, then for recent ones; it reads files.

    A browser gets none: it must not even learn which folders exist.
    """
    if app.is_remote:
        return []
    opened = app.workspaces.opened if app.workspaces else []
    roots = dict.fromkeys([*opened, *app.state.recent_workspaces()])
    return [_command(root) for root in roots if root != app.root]


def _command(root: Path) -> Command:
    return Command(
        name=f"Workspace/{root}",
        title=f"Open workspace {name_text(root.name)}",
        note=short_path(root),
        run=partial(_switch, root),
    )


def _switch(root: Path, app: "Explorer") -> None:
    switch_workspace(app, root)
