"""Choosing an item by typing part of its name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from keyhole.core.files.globs import glob_test
from keyhole.tui import keys
from keyhole.tui.key_names import marked_up_key

# Nobody reads a longer list; typing narrows it.
_MOST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Choice:
    """An item to choose: its name, a note, and its value."""

    name: str
    note: str
    value: str | int


def matching(choices: Sequence[Choice], typed: str) -> list[Choice]:
    """Return the choices with all typed words in their names; those that start with the first word come first.

    A word with a star is a glob, as in get_tree: `*_test.go`, `src/**/*.py`.
    """
    words = typed.lower().split()
    tests = [_word_test(word) for word in words]
    found = [choice for choice in choices if all(test(choice.name.lower()) for test in tests)]
    if words:
        found.sort(key=lambda choice: not choice.name.lower().rpartition("/")[2].startswith(words[0]))
    return found[:_MOST_SHOWN]


def _word_test(word: str) -> Callable[[str], bool]:
    if "*" not in word:
        return lambda name: word in name
    matches = glob_test(word if "/" in word else f"**/{word}")
    # The name of an operator may contain a star.
    return lambda name: matches(name) or word in name


class PickScreen(ModalScreen[str | int | None]):
    """Shows an input line and the matching choices below it."""

    HELP_TITLE = "Choose"
    HINT = f"⏎ Open · {marked_up_key('cancel')} Cancel"
    PLACEHOLDER = "Type part of the name; * matches anything"
    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.PICK

    def __init__(self, title: str, choices: Sequence[Choice], first: int = 0) -> None:
        super().__init__()
        self._title = title
        self._choices = choices
        # The choice that is selected before anything is typed.
        self._first = first
        self._shown: list[Choice] = []

    def compose(self) -> ComposeResult:
        """Yield the box."""
        with Vertical(id="pick") as box:
            box.border_title = self._title
            box.border_subtitle = self.HINT
            line = Input(id="pick-line", compact=True, placeholder=self.PLACEHOLDER)
            line.cursor_blink = False
            yield line
            yield OptionList(id="pick-list", markup=False, compact=True)

    def on_mount(self) -> None:
        """Show all choices at first."""
        self.query_one("#pick-list").can_focus = False
        self._show("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list."""
        self._show(event.value)

    def on_input_submitted(self) -> None:
        """Return the choice under the cursor."""
        number = self.query_one(OptionList).highlighted
        if number is not None and number < len(self._shown):
            self.chosen(self._shown[number])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the clicked choice."""
        self.chosen(self._shown[event.option_index])

    def chosen(self, choice: Choice) -> None:
        """Return the value of a choice."""
        self.dismiss(choice.value)

    def matching(self, typed: str) -> list[Choice]:
        """Return the choices for what is typed."""
        return matching(self._choices, typed)

    def action_move(self, step: int) -> None:
        """Move the cursor."""
        options = self.query_one(OptionList)
        options.action_cursor_down() if step > 0 else options.action_cursor_up()

    def show_again(self, number: int) -> None:
        """Show the choices after a change, with the cursor where it was."""
        self._show(self.query_one(Input).value)
        self.query_one(OptionList).highlighted = min(number, len(self._shown) - 1) if self._shown else None

    def _show(self, typed: str) -> None:
        self._shown = self.matching(typed)
        options = self.query_one(OptionList)
        options.set_options(
            Option(Content.assemble(choice.name, (f"  {choice.note}", "$text-muted"))) for choice in self._shown
        )
        options.highlighted = (0 if typed else min(self._first, len(self._shown) - 1)) if self._shown else None
