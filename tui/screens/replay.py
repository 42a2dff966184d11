"""Replaying a call, with the same or other parameters."""

import json
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from keyhole.core.types.calls import Call
from keyhole.core.view.text import json_line
from keyhole.tui import keys
from keyhole.tui.key_names import marked_up_key


class ReplayScreen(ModalScreen[dict[str, object] | None]):
    """Asks for the parameters, as JSON."""

    HELP_TITLE = "Replay"
    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.REPLAY

    def __init__(self, call: Call, warning: str = "") -> None:
        super().__init__()
        self._call = call
        # Has to be confirmed once.
        self._warning = warning

    def compose(self) -> ComposeResult:
        """Yield the box."""
        with Vertical(id="replay") as box:
            box.border_title = f"Replay {self._call.tool}"
            box.border_subtitle = f"⏎ Replay · {marked_up_key('cancel')} Cancel"
            yield Static("Edit the parameters (JSON). The Diff tab then compares both answers.", markup=False)
            line = Input(json_line(self._call.parameters), id="replay-line", compact=True, select_on_focus=False)
            line.cursor_blink = False
            yield line
            yield Static(f"▲ {self._warning}" if self._warning else "", id="replay-problem", markup=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the parameters if they are a JSON object, or else show the problem."""
        try:
            found = json.loads(event.value)
        except ValueError as error:
            self._show_problem(f"Invalid JSON: {error}")
            return
        if not isinstance(found, dict):
            self._show_problem("The parameters must be a JSON object: {…}")
        elif self._warning:
            self._show_problem(f"{self._warning}. Press ⏎ again to run it.")
            self._warning = ""
        else:
            self.dismiss(found)

    def _show_problem(self, problem: str) -> None:
        self.query_one("#replay-problem", Static).update(f"✗ {problem}")
