"""The palette: every command by its name.

Textual's own palette searches in the background, so that Enter typed right after a word runs whatever was first before.
"""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.fuzzy import Matcher
from textual.screen import ModalScreen
from textual.style import Style
from textual.widgets import Input

from keyhole.tui import keys
from keyhole.tui.key_names import marked_up_key
from keyhole.tui.palette_commands import Command
from keyhole.tui.widgets.row_list import RowList

# A command used recently, or of the screen that is shown, goes before an equally good match; the list is in that order.
_BONUS_OF_FIRST = 0.2
_MATCH = Style(bold=True, underline=True)


def matching_commands(commands: Sequence[Command], typed: str) -> list[Command]:
    """Return the commands that match what was typed, the best first; quitting is last, however well it matches."""
    if not typed.strip():
        return list(commands)
    matcher = Matcher(typed)
    scores = {
        command.name: score * (1 + _BONUS_OF_FIRST * (1 - place / len(commands)))
        for place, command in enumerate(commands)
        if (score := matcher.match(command.title)) > 0
    }
    found = [command for command in commands if command.name in scores]
    return sorted(found, key=lambda command: (command.is_quitting, -scores[command.name]))


class CommandRows(RowList):
    """Lists commands, each with its key."""

    def __init__(self) -> None:
        super().__init__(id="palette-list")
        self.commands: Sequence[Command] = ()
        self._matcher: Matcher | None = None

    def show(self, commands: Sequence[Command], typed: str) -> None:
        """Show the commands with what was typed marked in them."""
        self.commands = commands
        self._matcher = Matcher(typed, match_style=_MATCH) if typed.strip() else None
        if commands:
            self.show_rows(len(commands), 0)
        else:
            self.say(["No command matches. Delete some letters to see more."])

    def draw(self, number: int, width: int) -> list[Content]:
        """Return a command and, at the end of the line, its key and where it works."""
        command = self.commands[number]
        title = self._matcher.highlight(command.title) if self._matcher else Content(command.title)
        note = f"  {command.note}"
        start = title.truncate(max(width - len(note), 1), ellipsis=True, pad=True)
        return [start + Content.styled(note, "$text-muted")]


class PaletteScreen(ModalScreen[Command | None]):
    """Shows an input line and the matching commands below it."""

    HELP_TITLE = "Run"
    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.PALETTE

    def __init__(self, commands: Sequence[Command]) -> None:
        super().__init__()
        self._commands = commands

    def compose(self) -> ComposeResult:
        """Yield the box."""
        with Vertical(id="palette") as box:
            box.border_title = "Run a command"
            box.border_subtitle = f"⏎ Run · {marked_up_key('cancel')} Cancel"
            line = Input(id="palette-line", compact=True, placeholder="Type part of what it does")
            line.cursor_blink = False
            yield line
            yield CommandRows()

    @property
    def rows(self) -> CommandRows:
        """The list of commands."""
        return self.query_one(CommandRows)

    def on_mount(self) -> None:
        """Show all commands at first."""
        self.rows.can_focus = False
        self.rows.show(self._commands, "")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the commands that match."""
        self.rows.show(matching_commands(self._commands, event.value), event.value)

    def on_input_submitted(self) -> None:
        """Return the command under the cursor."""
        self._choose()

    def on_row_list_selected(self) -> None:
        """Return the clicked command."""
        self._choose()

    def _choose(self) -> None:
        number = self.rows.highlighted
        if number is not None:
            self.dismiss(self.rows.commands[number])

    def action_move(self, step: int) -> None:
        """Move the cursor."""
        self.rows.action_move(step)

    def action_move_page(self, step: int) -> None:
        """Move the cursor by one screen."""
        self.rows.action_move_page(step)
