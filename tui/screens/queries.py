"""Earlier and saved queries: choosing one, saving one under a name, and deleting them."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from keyhole.core.view.text import name_text
from keyhole.tui import keys
from keyhole.tui.key_names import marked_up_key
from keyhole.tui.screens.pick import Choice, PickScreen, matching
from keyhole.tui.state_file import LONGEST_NAME

if TYPE_CHECKING:
    from keyhole.tui.workspace_state import WorkspaceState

_LONGEST = 200


class QueriesScreen(PickScreen):
    """Lists the saved queries, then the history, newest first; the value is the query."""

    HELP_TITLE = "Queries"
    HINT = f"⏎ Search · {marked_up_key('delete-query')} Delete · {marked_up_key('cancel')} Cancel"
    PLACEHOLDER = "Type part of a query or of its name"
    BINDINGS: ClassVar[list[BindingType]] = keys.CHOOSE_QUERY

    def __init__(self, state: "WorkspaceState") -> None:
        super().__init__("Saved queries and history", ())
        self._state = state
        # What each row stands for: the name of a saved query, or None, and the query.
        self._rows: list[tuple[str | None, str]] = []

    def matching(self, typed: str) -> list[Choice]:
        """Return the queries that match, as they are now."""
        self._rows = [*self._state.saved.items(), *((None, line) for line in reversed(self._state.history))]
        # A saved query is found by its name and by its words.
        texts = [Choice(f"{name or ''} {line}", "", number) for number, (name, line) in enumerate(self._rows)]
        return [_choice(int(found.value), *self._rows[int(found.value)]) for found in matching(texts, typed)]

    def on_mount(self) -> None:
        """Say so if there is nothing yet; Textual calls the handler of the base class too."""
        if not self._state.saved and not self._state.history:
            self.query_one(
                "#pick"
            ).border_title = f"No queries yet: press {marked_up_key('save-query')} in the search line to save one"

    def chosen(self, choice: Choice) -> None:
        """Return the query itself."""
        self.dismiss(self._rows[int(choice.value)][1])

    def action_delete(self) -> None:
        """Delete the query under the cursor."""
        number = self.query_one(OptionList).highlighted
        if number is None or number >= len(self._shown):
            return
        name, line = self._rows[int(self._shown[number].value)]
        self._state.forget_query(line) if name is None else self._state.forget_saved(name)
        self.show_again(number)


def _choice(number: int, name: str | None, line: str) -> Choice:
    shown = name_text(line, _LONGEST)
    return Choice(shown, "", number) if name is None else Choice(f"★ {name_text(name)}", shown, number)


class SaveQueryScreen(ModalScreen[str | None]):
    """Asks for the name of a query."""

    HELP_TITLE = "Save query"
    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.SAVE_QUERY

    def __init__(self, line: str, names: dict[str, str]) -> None:
        super().__init__()
        self._line = line
        self._names = names

    def compose(self) -> ComposeResult:
        """Yield the box."""
        with Vertical(id="replay") as box:
            box.border_title = "Save query"
            box.border_subtitle = f"⏎ Save · {marked_up_key('cancel')} Cancel"
            yield Static(f"Name for: {name_text(self._line, _LONGEST)}", markup=False)
            line = Input(self._line[:LONGEST_NAME], id="replay-line", compact=True, max_length=LONGEST_NAME)
            line.cursor_blink = False
            yield line
            yield Static(id="replay-problem", markup=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say what the name would replace."""
        known = self._names.get(event.value.strip())
        is_other = known is not None and known != self._line
        text = f"Replaces the saved query: {name_text(known or '', _LONGEST)}" if is_other else ""
        self.query_one("#replay-problem", Static).update(text)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the name."""
        if name := event.value.strip():
            self.dismiss(name)
