"""The palette has every command of every screen, from everywhere."""

from collections.abc import Callable

from driving import ask, drive, explore, explorer, files, make_app, press, settle, stats, traffic, type_at_once
from textual.binding import Binding
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widgets import Input

from keyhole.core.service import Service
from keyhole.core.types.choices import Detail
from keyhole.tui import keys
from keyhole.tui.palette_commands import offered_commands
from keyhole.tui.screens.explore import ExploreScreen
from keyhole.tui.screens.palette_screen import PaletteScreen
from keyhole.tui.screens.references_screen import ReferencesScreen
from keyhole.tui.screens.theme_screen import ThemeScreen
from keyhole.tui.widgets.query_line import QueryLine

QUIT = "Quit the explorer"
MOVEMENT = {row.id for row in keys.LIST if isinstance(row, Binding)}
# Where the palette is opened: the keys that lead there from the start.
PLACES: dict[str, list[str]] = {
    "the search line": [],
    "results": ["enter"],
    "a file": ["escape", "2", "f", "r", "e", "t", "r", "y", "enter"],
    "the filter of Traffic": ["escape", "3", "slash"],
    "stats": ["escape", "4"],
    "a dialog": ["escape", "2", "f"],
    "help": ["escape", "question_mark"],
}


async def start_over(pilot: Pilot[None]) -> None:
    """Go to the search line of the first screen."""
    explorer(pilot).close_dialogs()
    pilot.app.switch_mode("explore")
    await settle(pilot)
    explore(pilot).query_one(QueryLine).focus()
    await settle(pilot)


def titles(pilot: Pilot[None]) -> list[str]:
    screen = pilot.app.screen
    assert isinstance(screen, PaletteScreen)
    return [command.title for command in screen.rows.commands]


def selected(pilot: Pilot[None]) -> str:
    """The title that Enter would run."""
    screen = pilot.app.screen
    assert isinstance(screen, PaletteScreen)
    return titles(pilot)[screen.rows.highlighted or 0]


async def run(pilot: Pilot[None], title: str) -> None:
    """Run a command by its exact title."""
    await press(pilot, "ctrl+p")
    screen = pilot.app.screen
    assert isinstance(screen, PaletteScreen)
    screen.query_one(Input).value = title
    await settle(pilot)
    screen.rows.highlighted = titles(pilot).index(title)
    await press(pilot, "enter")


def test_every_command_of_every_screen_is_there(acme: Service) -> None:
    expected = {
        row.tooltip
        for rows in (keys.EVERYWHERE, *keys.SCREENS.values())
        for row in rows
        if isinstance(row, Binding) and row.id not in MOVEMENT | {"run", "quit-now"}
    }

    async def steps(pilot: Pilot[None]) -> None:
        for place, way in PLACES.items():
            await start_over(pilot)
            await ask(pilot, "backoff", *way, "ctrl+p")
            assert expected <= set(titles(pilot)), place
            assert titles(pilot)[-1] == QUIT, place
            assert titles(pilot).count(QUIT) == 1, place

    drive(make_app(acme), steps)


def test_searching_comes_first_then_by_use(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter", "ctrl+p")
        assert selected(pilot) == "Go to the search line"
        used = ["Open the file of the result in Files", "Go to the next page", "Raise the token budget"]
        # Files has some of them too, after all those of this screen.
        assert list(dict.fromkeys(title for title in titles(pilot) if title in used)) == used

    drive(make_app(acme), steps)


def test_quitting_is_never_first_however_well_it_matches(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter")
        for mode, typed in (("1", ""), ("2", "e"), ("3", "the e"), ("4", "explorer")):
            await press(pilot, mode)
            await type_at_once(pilot, "ctrl+p", *typed)
            assert len(titles(pilot)) > 1
            assert titles(pilot)[-1] == QUIT
            assert selected(pilot) != QUIT
            await press(pilot, "escape")

    drive(make_app(acme), steps)


Check = Callable[[Pilot[None]], object]
# What holds after commands, run from the search line where nothing was searched for yet.
FROM_THE_LINE: dict[str, Check] = {
    "Switch to the next detail level": lambda pilot: explore(pilot).search_state.detail == Detail.RICH,
    "Switch to the next map level": lambda pilot: files(pilot).tab == "Map",
    "Find a file by name": lambda pilot: isinstance(pilot.app.screen, ModalScreen),
    "Pause or resume the list": lambda pilot: explorer(pilot).calls.is_paused and traffic(pilot).is_current,
    "Count the calls again": lambda pilot: stats(pilot).is_current,
    "Go to Files (browse)": lambda pilot: files(pilot).is_current,
    "Switch between the dark and the light theme": lambda pilot: pilot.app.theme == "keyhole-light",
    "Choose a theme": lambda pilot: isinstance(pilot.app.screen, ThemeScreen),
}


def test_a_command_runs_on_its_own_screen(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        for title, check in FROM_THE_LINE.items():
            await start_over(pilot)
            await run(pilot, title)
            assert check(pilot), title

    drive(make_app(acme), steps)


def test_a_command_closes_the_dialog_below_first(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape", "2", "f")
        await run(pilot, "Switch to the next map level")
        assert files(pilot).is_current
        assert files(pilot).tab == "Map"

    drive(make_app(acme), steps)


def test_commands_of_references_open_the_last_ones(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await run(pilot, "Show what calls the symbol")
        # There were none: nothing opens, and a message says what to do.
        assert isinstance(pilot.app.screen, ExploreScreen)
        await ask(pilot, "backoff", "enter", "u", "escape")
        await run(pilot, "Show what calls the symbol")
        screen = pilot.app.screen
        assert isinstance(screen, ReferencesScreen)
        assert screen.step.relation == "callers"

    drive(make_app(acme), steps)


def test_recent_commands_come_first(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter")
        for title in ("Raise the token budget", "Switch to the next detail level", "Raise the token budget"):
            await run(pilot, title)
        assert explorer(pilot).state.last.commands == ["Explore/raise-budget", "Explore/next-detail"]
        await press(pilot, "ctrl+p")
        assert titles(pilot)[:2] == ["Raise the token budget", "Switch to the next detail level"]
        names = [command.name for command in offered_commands(explorer(pilot))]
        assert names[:2] == explorer(pilot).state.last.commands
        assert len(names) == len(set(names))
        # They are found first, too.
        await type_at_once(pilot, *"detail")
        assert selected(pilot) == "Switch to the next detail level"

    drive(make_app(acme), steps)


def test_a_command_that_needs_something_says_so(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        app = explorer(pilot)
        notes = {command.name: command.note for command in offered_commands(app)}
        assert notes["Explore/copy"] == "Search for something first"
        assert notes["Explore/edit"] == "Select a result first"
        assert notes["Files/edit"] == "Files · e"
        await run(pilot, "Open the file in $EDITOR")
        assert files(pilot).is_current
        assert [notice.message for notice in app._notifications] == ["Open a file first."]

    drive(make_app(acme), steps)


def test_enter_typed_right_after_a_word_runs_what_matches_it(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter")
        await type_at_once(pilot, "ctrl+p", *"next dex", "backspace", "enter", "right_square_bracket")
        assert explore(pilot).search_state.detail == Detail.RICH
        assert explore(pilot).tab == "Text"

    drive(make_app(acme), steps)


def test_nothing_matches(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await type_at_once(pilot, "ctrl+p", *"qqqq", "enter")
        assert isinstance(pilot.app.screen, PaletteScreen)
        assert titles(pilot) == []
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, ExploreScreen)

    drive(make_app(acme), steps)


def test_a_theme_is_shown_as_soon_as_the_cursor_is_on_it(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await run(pilot, "Choose a theme")
        await press(pilot, "down")
        assert pilot.app.theme == "keyhole-light"
        await press(pilot, "escape")
        assert pilot.app.theme == "keyhole-dark"
        await run(pilot, "Choose a theme")
        await type_at_once(pilot, *"nord", "enter")
        assert pilot.app.theme == "nord"

    drive(make_app(acme), steps)
