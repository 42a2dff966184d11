"""The explorer starts as it was left, and remembers the queries that the user acted on."""

from collections.abc import Callable
from pathlib import Path

import pytest
from driving import Steps, answer_of, ask, drive, explore, explorer, make_app, press, settle
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from keyhole.core.service import Service
from keyhole.core.types.choices import Detail
from keyhole.tui.app import KeyholeApp
from keyhole.tui.query_history import HistoryWalk
from keyhole.tui.screens.queries import QueriesScreen, SaveQueryScreen
from keyhole.tui.screens.remembered_queries import RememberedQueriesScreen
from keyhole.tui.state_file import state_path
from keyhole.tui.widgets.query_line import QueryLine
from keyhole.tui.workspace_state import WorkspaceState


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "workspaces"


def run(service: Service, folder: Path, steps: Steps, *, is_fresh: bool = False) -> KeyholeApp:
    """Run an explorer with a state, as the command line does."""
    app = make_app(service)
    app.state = WorkspaceState.of(service.root, folder=folder, is_fresh=is_fresh)
    # As the constructor does with the state of a real one.
    if app.state.last.theme:
        app.set_reactive(KeyholeApp.theme, app.state.last.theme)

    async def run_and_quit(pilot: Pilot[None]) -> None:
        await steps(pilot)
        pilot.app.exit()

    drive(app, run_and_quit)
    app.state.flush()
    return app


def line_of(pilot: Pilot[None]) -> str:
    return explore(pilot).query_one(QueryLine).value


def history_of(pilot: Pilot[None]) -> tuple[str, ...]:
    return explorer(pilot).state.history


async def nothing(_: Pilot[None]) -> None:
    pass


def test_it_starts_as_it_was_left(acme: Service, folder: Path) -> None:
    async def leave(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff lang:py", "enter", "d", "minus", "t", "2")

    async def find_again(pilot: Pilot[None]) -> None:
        assert (pilot.app.current_mode, pilot.app.theme) == ("files", "keyhole-light")
        (notice,) = pilot.app._notifications
        assert notice.message == "Files is open, as you left it. Press 1 to search."
        await press(pilot, "1")
        assert line_of(pilot) == "backoff lang:py"
        request = answer_of(pilot).request
        assert (request.query, request.language) == ("backoff", "py")
        assert (request.detail_level, request.max_tokens) == (Detail.RICH, 15_000)

    run(acme, folder, leave)
    run(acme, folder, find_again)


def test_what_a_screen_that_was_left_open_says(
    acme: Service, folder: Path, snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def leave(pilot: Pilot[None]) -> None:
        await press(pilot, "alt+2")

    async def has_a_notice(pilot: Pilot[None]) -> None:
        await settle(pilot)
        assert pilot.app._notifications

    monkeypatch.delenv("NO_COLOR", raising=False)
    run(acme, folder, leave)
    app = make_app(acme)
    app.state = WorkspaceState.of(acme.root, folder=folder)
    assert snap_compare(app, terminal_size=(100, 20), run_before=has_a_notice)


def test_a_fresh_start_shows_nothing_of_it(acme: Service, folder: Path) -> None:
    async def leave(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter", "d", "t", "3")

    async def look(pilot: Pilot[None]) -> None:
        assert (pilot.app.current_mode, pilot.app.theme) == ("explore", "keyhole-dark")
        assert (line_of(pilot), explore(pilot).search_state.detail) == ("", Detail.COMPACT)
        assert history_of(pilot) == ("backoff",)

    run(acme, folder, leave)
    run(acme, folder, look, is_fresh=True)


def test_typing_replaces_the_restored_query(acme: Service, folder: Path) -> None:
    async def leave(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff")

    async def type_at_once(pilot: Pilot[None]) -> None:
        assert line_of(pilot) == "backoff"
        await press(pilot, *"jitter")
        assert line_of(pilot) == "jitter"
        assert answer_of(pilot).request.query == "jitter"

    run(acme, folder, leave)
    run(acme, folder, type_at_once)


def test_a_key_before_the_first_picture_keeps_the_screen(acme: Service, folder: Path) -> None:
    async def leave(pilot: Pilot[None]) -> None:
        await press(pilot, "escape", "3")

    run(acme, folder, leave)
    app = make_app(acme)
    app.state = WorkspaceState.of(acme.root, folder=folder)
    app.has_key = True

    async def look(pilot: Pilot[None]) -> None:
        assert pilot.app.current_mode == "explore"

    drive(app, look)


def test_values_that_are_not_known_any_more_are_ignored(acme: Service, folder: Path) -> None:
    state = WorkspaceState.of(acme.root, folder=folder)
    state.last.screen, state.last.detail, state.last.theme = "gone", "huge", ""
    state.flush()

    async def look(pilot: Pilot[None]) -> None:
        assert pilot.app.current_mode == "explore"
        assert explore(pilot).search_state.detail == Detail.COMPACT

    run(acme, folder, look)
    unknown = WorkspaceState()
    unknown.last.theme = "no-such-theme"
    assert KeyholeApp(acme.root, lambda: acme, state=unknown).theme == "keyhole-dark"
    unknown.last.theme = "keyhole-light"
    assert KeyholeApp(acme.root, lambda: acme, state=unknown).theme == "keyhole-light"


def test_a_damaged_file_is_said_once(acme: Service, folder: Path) -> None:
    folder.mkdir()
    state_path(folder, acme.root).write_text("{")

    async def look(pilot: Pilot[None]) -> None:
        said = [notice.message for notice in pilot.app._notifications]
        assert said == ["Could not read the saved state (it is damaged). It will be replaced."]

    run(acme, folder, look)
    run(acme, folder, nothing)
    assert WorkspaceState.of(acme.root, folder=folder).problem == ""


# Which queries are remembered


def test_only_queries_that_the_user_acted_on_are_remembered(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, *"back")
        assert history_of(pilot) == ()
        await ask(pilot, "backoff", "enter")
        assert history_of(pilot) == ("backoff",)
        for key in ("enter", "o", "u"):
            await press(pilot, "escape", "1", "slash")
            await ask(pilot, f"jitter {key}", "tab")
            await press(pilot, key)
            assert history_of(pilot)[-1] == f"jitter {key}"

    drive(make_app(acme), steps)


def test_a_query_that_stands_for_a_while_is_remembered(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RememberedQueriesScreen, "KEEP_SECONDS", 0.01)

    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff")
        await pilot.pause(0.1)
        assert history_of(pilot) == ("backoff",)

    drive(make_app(acme), steps)


def test_going_through_the_history(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        for query in ("first", "second"):
            await ask(pilot, query, "enter", "slash")
        await ask(pilot, "third")
        for key, line in [
            ("ctrl+up", "second"),
            ("ctrl+up", "first"),
            ("ctrl+up", "first"),
            ("ctrl+down", "second"),
            ("ctrl+down", "third"),
            ("ctrl+down", "third"),
        ]:
            await press(pilot, key)
            assert line_of(pilot) == line, key

    drive(make_app(acme), steps)


def test_a_walk_starts_again_where_something_else_was_typed() -> None:
    walk, history = HistoryWalk(), ("a", "b", "c")
    assert walk.older(history, "typed") == "c"
    assert walk.older(history, "c") == "b"
    assert walk.older(history, "b and more") == "c"
    assert walk.newer(history, "c") == "b and more"
    assert walk.newer(history, "b and more") is None
    assert walk.older((), "typed") is None


# The list


def shown_in(pilot: Pilot[None]) -> list[str]:
    options = pilot.app.screen.query_one(OptionList).options
    return [str(option.prompt) for option in options]


def test_saving_using_and_deleting_a_query(acme: Service, folder: Path) -> None:
    async def save(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff lang:py", "ctrl+s")
        assert isinstance(pilot.app.screen, SaveQueryScreen)
        pilot.app.screen.query_one(Input).value = "delays"
        await press(pilot, "enter")
        assert explorer(pilot).state.saved == {"delays": "backoff lang:py"}

    async def use(pilot: Pilot[None]) -> None:
        await ask(pilot, "jitter", "enter", "slash")
        await ask(pilot, "", "ctrl+r")
        assert isinstance(pilot.app.screen, QueriesScreen)
        assert shown_in(pilot) == ["★ delays  backoff lang:py", "jitter  "]
        await press(pilot, *"lang", "enter")
        assert line_of(pilot) == "backoff lang:py"
        assert answer_of(pilot).request.language == "py"

    async def delete(pilot: Pilot[None]) -> None:
        await ask(pilot, "", "ctrl+r", "ctrl+x", "ctrl+x", "ctrl+x", "escape")
        assert (explorer(pilot).state.saved, history_of(pilot)) == ({}, ())

    run(acme, folder, save)
    run(acme, folder, use)
    run(acme, folder, delete)
    state = WorkspaceState.of(acme.root, folder=folder)
    assert (state.saved, state.history) == ({}, ())


def test_nothing_to_save_and_nothing_to_show(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "ctrl+s")
        assert not isinstance(pilot.app.screen, SaveQueryScreen)
        await press(pilot, "ctrl+r")
        assert str(pilot.app.screen.query_one("#pick").border_title).startswith("No queries yet")
        await press(pilot, "enter", "ctrl+x", "escape")
        await settle(pilot)

    drive(make_app(acme), steps)


def test_a_name_that_is_taken_says_what_it_replaces(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).state.save_query("delays", "backoff")
        await ask(pilot, "jitter", "ctrl+s")
        pilot.app.screen.query_one(Input).value = "delays"
        await settle(pilot)
        assert "Replaces the saved query: backoff" in str(pilot.app.screen.query_one("#replay-problem").render())
        await press(pilot, "enter")
        assert explorer(pilot).state.saved == {"delays": "jitter"}

    drive(make_app(acme), steps)
