"""Every command of every screen, for the palette: how to run it from anywhere, and in which order to offer them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.screen import ModalScreen, Screen

from keyhole.tui import keys
from keyhole.tui.command_needs import missing_for
from keyhole.tui.command_order import QUITTING, action_name, use_rank
from keyhole.tui.key_names import shown_key

if TYPE_CHECKING:
    from textual.dom import DOMNode

    from keyhole.tui.explorer import Explorer

EVERYWHERE = "Everywhere"
# Moving in a list or a line is for the hands; the palette is open already; and one way to quit is enough.
_NOT_OFFERED = frozenset(["submit", "complete", "left", "right", "run", "quit-now"])


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the palette; its name is kept among the recent ones."""

    name: str
    title: str
    note: str
    run: "Callable[[Explorer], object]"
    is_quitting: bool = False


def offered_commands(app: "Explorer", more: Iterable[Command] = ()) -> list[Command]:
    """Return all commands: recent ones first, then those of the screen below, of everywhere and of other screens."""
    here = place_of(screen_below(app))
    others = [place for place in keys.SCREENS if place != here]
    found = [*_commands_of(app, here, here), *_commands_of(app, EVERYWHERE, here), CHOOSE_THEME, *more]
    found += [command for place in others for command in _commands_of(app, place, here)]
    by_name = {command.name: command for command in found}
    recent = [by_name[name] for name in app.state.last.commands if name in by_name]
    ordered = {command.name: command for command in (*recent, *found)}
    return sorted(ordered.values(), key=lambda command: command.is_quitting)


def run_command(app: "Explorer", command: Command) -> None:
    """Run a command once no dialog is open, and remember it as the most recent one."""
    app.state.add_command(command.name)
    app.close_dialogs()
    app.call_later(command.run, app)


def screen_below(app: "Explorer") -> Screen[object]:
    """Return the screen below all dialogs."""
    return next(screen for screen in reversed(app.screen_stack) if not isinstance(screen, ModalScreen))


def place_of(screen: Screen[object]) -> str:
    """Return the name of a screen in the table of keys."""
    return str(getattr(screen, "HELP_TITLE", ""))


def _commands_of(app: "Explorer", place: str, here: str) -> Iterator[Command]:
    """Yield the commands of a screen and its panes, the most used first."""
    panes = (keys.PANES[pane] for pane in keys.PANES_OF.get(place, ()))
    places = [keys.EVERYWHERE] if place == EVERYWHERE else [keys.SCREENS.get(place, []), *panes]
    rows = [row for rows in places for row in rows if isinstance(row, Binding) and _is_offered(row)]
    # If a pane has a command of the screen too, that of the screen can always be run.
    unique = {row.id: row for row in reversed(rows)}
    for row in sorted(unique.values(), key=use_rank):
        missing = missing_for(row.id or "", place, screen_below(app)) if place == here else ""
        yield _command(row, place, here, missing)


def _is_offered(row: Binding) -> bool:
    name = row.id or ""
    is_movement = any(isinstance(moving, Binding) and moving.id == name for moving in keys.LIST)
    return not (is_movement or name in _NOT_OFFERED or name.endswith(keys.ANYWHERE))


def _command(row: Binding, place: str, here: str, missing: str) -> Command:
    key = shown_key(row.key.partition(",")[0])
    return Command(
        name=f"{place}/{row.id}",
        title=row.tooltip,
        note=missing or (key if place in (here, EVERYWHERE) else f"{place} · {key}"),
        run=partial(_run, row, place),
        is_quitting=action_name(row) in QUITTING,
    )


def _run(row: Binding, place: str, app: "Explorer") -> None:
    """Go to the screen of a command, and run it there as soon as that screen is ready."""
    if place not in (EVERYWHERE, place_of(app.screen)):
        _go_to(place, app)
    screen = app.screen
    if place in (EVERYWHERE, place_of(screen)):
        screen.call_later(_act, row, place, screen)


def _go_to(place: str, app: "Explorer") -> None:
    if place.lower() in keys.MODES:
        app.switch_mode(place.lower())
    else:
        # References lie over another screen: this shows the last ones again, or says that there are none.
        app.show_references()


async def _act(row: Binding, place: str, screen: Screen[object]) -> None:
    if missing := missing_for(row.id or "", place, screen):
        screen.notify(f"{missing}.", timeout=3)
    else:
        await screen.app.run_action(row.action, _owner(row, screen))


def _owner(row: Binding, screen: Screen[object]) -> "DOMNode":
    """Return what has the command: the focused pane or what is around it, or else another pane."""
    around = screen.focused.ancestors_with_self if screen.focused else [screen, screen.app]
    return next((node for node in (*around, *screen.focus_chain) if _has(node, row)), screen)


def _has(node: "DOMNode", row: Binding) -> bool:
    return any(row in own.__dict__.get("BINDINGS", ()) for own in type(node).__mro__)


async def _choose_theme(app: "Explorer") -> None:
    await app.run_action("app.choose_theme")


CHOOSE_THEME = Command(f"{EVERYWHERE}/choose-theme", "Choose a theme", "", _choose_theme)
