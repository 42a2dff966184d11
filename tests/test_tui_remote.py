"""The explorer for a browser: what needs the user's own machine is off, and says so."""

import asyncio
from pathlib import Path

import pytest
from driving import ask, drive, explorer, make_app, press, settle
from test_tui_git import screen_text
from test_tui_snapshots import Compare, State, check
from textual.pilot import Pilot

from keyhole.core.service import Service
from keyhole.tui.app import KeyholeApp
from keyhole.tui.clipboard import NativeClipboard
from keyhole.tui.local_only import LocalOnly
from keyhole.tui.screens import explore as explore_module
from keyhole.tui.screens.palette_screen import PaletteScreen
from keyhole.tui.workspace_commands import workspace_commands
from keyhole.tui.workspace_state import WorkspaceState
from keyhole.tui.workspace_switching import switch_workspace
from keyhole.tui.workspaces import Workspaces


def remote_app(service: Service) -> KeyholeApp:
    app = make_app(service)
    app.is_remote = True
    return app


def said(pilot: Pilot[None]) -> list[str]:
    return [notice.message for notice in pilot.app._notifications]


def test_what_a_browser_must_not_do_is_a_notice(acme: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = remote_app(acme)
    app.workspaces = Workspaces(Service.open, [acme.root, tmp_path])
    ran: list[object] = []
    monkeypatch.setattr(asyncio, "create_subprocess_exec", lambda *command, **_: ran.append(command))

    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "retry backoff", "enter", "e")
        await press(pilot, "W")
        assert app.screen is app.screen_stack[0]
        await press(pilot, "ctrl+z")
        switch_workspace(app, tmp_path)
        assert app.refuses(LocalOnly.EXPORT)
        await settle(pilot)
        assert said(pilot) == [
            LocalOnly.EDITOR,
            LocalOnly.WORKSPACES,
            LocalOnly.SUSPEND,
            LocalOnly.WORKSPACES,
            LocalOnly.EXPORT,
        ]
        assert app.workspaces
        assert app.workspaces.next is None

    drive(app, steps)
    assert ran == []


def test_only_the_browser_is_asked_to_copy(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    app = remote_app(acme)

    def fail(*_: object) -> None:
        raise AssertionError("a program of this machine must not copy")

    monkeypatch.setattr(NativeClipboard, "copy", fail)

    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "retry backoff", "enter", "y")
        await settle(pilot)
        assert app.clipboard.startswith("Results 1-")
        (notice,) = said(pilot)
        assert notice.startswith("Sent the answer (")
        assert "to the browser. If pasting gives nothing, allow the clipboard" in notice

    drive(app, steps)


def test_the_palette_does_not_list_other_folders(acme: Service, tmp_path: Path) -> None:
    WorkspaceState.of(tmp_path, folder=tmp_path / "states").flush()
    app = remote_app(acme)
    app.state = WorkspaceState.of(acme.root, folder=tmp_path / "states")
    assert app.state.recent_workspaces()

    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape", "ctrl+p")
        assert isinstance(pilot.app.screen, PaletteScreen)
        assert workspace_commands(explorer(pilot)) == []
        explorer(pilot).is_remote = False
        assert workspace_commands(explorer(pilot))

    drive(app, steps)


def test_a_notice_on_the_screen(acme: Service, snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore_module, "DEBOUNCE_SECONDS", 0.001)
    monkeypatch.delenv("NO_COLOR", raising=False)

    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "retry backoff", "enter", "e")
        await settle(pilot)

    check(remote_app(acme), snap_compare, State(steps, lambda pilot: "open your editor" in screen_text(pilot)))
