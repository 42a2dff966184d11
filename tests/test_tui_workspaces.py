"""Several workspaces: which can be chosen, how one goes to another, and what happens if it can't be opened."""

import asyncio
import time
from functools import partial
from pathlib import Path

import pytest
from driving import drive, explorer, make_app, make_service, press, settle, wait_for, wait_until
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from keyhole.core.cli.open_explorer import ExploreRequest, explore_request
from keyhole.core.service import Service
from keyhole.tui.app import KeyholeApp
from keyhole.tui.key_names import key_of
from keyhole.tui.screens.palette_screen import CommandRows, PaletteScreen
from keyhole.tui.screens.workspaces_screen import WorkspacesScreen, workspace_choices
from keyhole.tui.server_state import ServerPhase, ServerState
from keyhole.tui.workspace_state import WorkspaceState
from keyhole.tui.workspace_switching import switch_workspace
from keyhole.tui.workspaces import Workspaces


@pytest.fixture
def other(tmp_path: Path) -> Path:
    other = tmp_path / "other"
    other.mkdir()
    return other


def app_with(service: Service, *others: Path, folder: Path | None = None) -> KeyholeApp:
    app = make_app(service)
    app.workspaces = Workspaces(Service.open, [service.root, *others])
    if folder:
        app.state = WorkspaceState.of(service.root, folder=folder)
    return app


def said(pilot: Pilot[None]) -> list[str]:
    return [notice.message for notice in pilot.app._notifications]


def has_said(pilot: Pilot[None], count: int) -> bool:
    return len(said(pilot)) >= count


def next_of(app: KeyholeApp) -> tuple[Path, str] | None:
    chosen = app.workspaces.next if app.workspaces else None
    return (chosen.service.root, chosen.notice) if chosen else None


def test_the_other_workspace_is_two_keys_away(acme: Service, other: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    folder = tmp_path / "states"
    WorkspaceState.of(old, folder=folder).flush()
    app = app_with(acme, other, folder=folder)

    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape", "W")
        assert isinstance(pilot.app.screen, WorkspacesScreen)
        rows = [str(option.prompt) for option in pilot.app.screen.query_one(OptionList).options]
        assert [row.partition(" · ")[0] for row in rows] == ["acme  this workspace", "other  open", "old  recent"]
        assert pilot.app.screen.query_one(OptionList).highlighted == 1
        await pilot.press("enter")
        await wait_for(pilot, lambda _: next_of(app))

    drive(app, steps)
    assert next_of(app) == (other, "")
    assert app.return_code == 0
    assert app.workspaces
    assert app.workspaces.opened == [acme.root, other]


def test_keys_typed_at_once_choose_the_other_workspace(
    acme: Service, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_slowly(_: WorkspaceState) -> list[Path]:
        time.sleep(0.3)
        return []

    monkeypatch.setattr(WorkspaceState, "recent_workspaces", read_slowly)
    app = app_with(acme, other)

    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape")
        for key in ("W", "enter"):
            pilot.app.post_message(Key(key, key if len(key) == 1 else None))
        await wait_for(pilot, lambda _: next_of(app))

    drive(app, steps)
    assert next_of(app) == (other, "")


def test_any_folder_can_be_typed_and_the_server_is_stopped(acme: Service, other: Path) -> None:
    app = app_with(acme)

    async def steps(pilot: Pilot[None]) -> None:
        app.server_state = ServerState(ServerPhase.ON, "http://127.0.0.1:1/mcp", "")
        await press(pilot, "escape", "W")
        assert "stops the server" in str(pilot.app.screen.query_one("#pick").border_subtitle)
        pilot.app.screen.query_one(Input).value = str(other)
        await press(pilot, "enter")
        await wait_for(pilot, lambda _: next_of(app))

    drive(app, steps)
    notice = f"Stopped serving acme to agents. Press 3, then {key_of('serve')} to serve this workspace."
    assert next_of(app) == (other, notice)


def test_a_folder_that_cannot_be_opened_is_said_and_nothing_is_left(acme: Service, other: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "keyhole.toml").write_text("nonsense = 1\n")
    app = app_with(acme, other)
    other.rmdir()

    async def steps(pilot: Pilot[None]) -> None:
        for number, (path, problem) in enumerate(
            [
                (other, "cannot open"),
                (tmp_path / "file", "is not a folder"),
                (tmp_path / "wrong", "unknown key nonsense"),
                (Path("/"), "refusing to index /"),
                (Path("~nobody-of-this-name/x"), "cannot open"),
                (acme.root, "acme is open already."),
            ]
        ):
            switch_workspace(app, path)
            await wait_until(pilot, partial(has_said, count=number + 1))
            assert problem in said(pilot)[-1]
        assert explorer(pilot).is_running
        assert next_of(app) is None

    drive(app, steps)


def test_an_explorer_that_was_not_started_by_the_command_line_stays(acme: Service, other: Path) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        switch_workspace(explorer(pilot), other)
        await wait_until(pilot, said)
        assert said(pilot) == ["This explorer shows one workspace only."]

    drive(make_app(acme), steps)


def test_the_palette_offers_the_other_workspaces(acme: Service, other: Path) -> None:
    app = app_with(acme, other)

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+p")
        await wait_until(pilot, lambda _: isinstance(pilot.app.screen, PaletteScreen))
        pilot.app.screen.query_one(Input).value = "workspace other"
        await settle(pilot)
        rows = pilot.app.screen.query_one(CommandRows)
        assert [command.title for command in rows.commands] == ["Open workspace other"]
        await pilot.press("enter")
        await wait_for(pilot, lambda _: next_of(app))

    drive(app, steps)
    assert next_of(app) == (other, "")


def test_choices_have_each_workspace_once(tmp_path: Path) -> None:
    a, b, c = (tmp_path / name for name in "abc")
    choices = workspace_choices(a, [b, a], [a, c, b])
    assert [(choice.name, choice.note.partition(" · ")[0]) for choice in choices] == [
        ("b", "open"),
        ("a", "this workspace"),
        ("c", "recent"),
    ]


# The command line


def test_several_folders_and_a_fresh_start(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    request = explore_request([a, b, "--fresh"], ())
    assert isinstance(request, ExploreRequest)
    assert (request.folders, request.is_fresh) == ((Path(a), Path(b)), True)
    alone = explore_request([], ())
    assert isinstance(alone, ExploreRequest)
    assert (alone.folders, alone.is_fresh) == ((Path(),), False)
    assert explore_request([a, f"{b}/none"], ()) == f"cannot open {b}/none: it is not a folder"
    assert explore_request(["search", "x"], ("search",)) is None


def test_leaving_a_workspace_closes_what_it_opened(other: Path) -> None:
    from keyhole.tui.run_explorer import _close_left

    service = make_service(other)
    service.index()
    app = make_app(service)

    async def run() -> None:
        async with app.run_test() as pilot:
            await wait_until(pilot, lambda _: not app.is_busy)

    asyncio.run(run())
    assert service.engines._opening
    _close_left(app)
    assert app.is_left
    assert service.engines._opening is None
