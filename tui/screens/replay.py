"""Making a call again, with the same or with other parameters."""

import json
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from keyhole.core.types import Call
from keyhole.core.view.text import json_line


class ReplayScreen(ModalScreen[dict[str, object] | None]):
    """A line with the parameters as JSON."""

    HELP_TITLE = "Replay"
    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "close", tooltip="Do not make the call"),
    ]

    def __init__(self, call: Call) -> None:
        super().__init__()
        self._call = call

    def compose(self) -> ComposeResult:
        """Make the box."""
        with Vertical(id="replay") as box:
            box.border_title = f"replay {self._call.tool}"
            box.border_subtitle = "⏎ asks again · esc closes"
            yield Static("The parameters, as JSON. Change what you like; the answers are compared.", markup=False)
            line = Input(json_line(self._call.parameters), id="replay-line", compact=True, select_on_focus=False)
            line.cursor_blink = False
            yield line
            yield Static(id="replay-problem", markup=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the parameters, if they are any."""
        try:
            found = json.loads(event.value)
        except ValueError as error:
            self._complain(f"this is not JSON: {error}")
            return
        if isinstance(found, dict):
            self.dismiss(found)
        else:
            self._complain("parameters are an object: {…}")

    def _complain(self, problem: str) -> None:
        self.query_one("#replay-problem", Static).update(f"✗ {problem}")
