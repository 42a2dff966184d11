"""Explaining the rank of a file in the results, or why it is missing."""

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input

from keyhole.core.errors import KeyholeError
from keyhole.core.types import SearchRequest
from keyhole.core.view.lists.search_view import explanation_text
from keyhole.tui.messages import Explained
from keyhole.tui.widgets.line_view import Document, LineView

if TYPE_CHECKING:
    from keyhole.core.service import Service


class WhyScreen(ModalScreen[None]):
    """Explains the rank of one file; typing another path explains that one."""

    HELP_TITLE = "Explain ranking"
    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Close")]

    def __init__(self, service: "Service", request: SearchRequest, place: str, paths: list[str]) -> None:
        super().__init__()
        self._service = service
        self._request = request
        self._place = place
        self._paths = paths
        self._number = 0

    def compose(self) -> ComposeResult:
        """Yield the box: a path, and its explanation."""
        with Vertical(id="why") as box:
            box.border_title = "Explain ranking"
            box.border_subtitle = "Type another path[:line] · esc Close"
            line = Input(self._place, suggester=SuggestFromList(self._paths), id="why-path", compact=True)
            line.cursor_blink = False
            yield line
            yield LineView(id="why-text")

    def on_mount(self) -> None:
        """Explain the selected result."""
        self._ask(self._place)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Explain the typed path."""
        self._ask(event.value)

    def on_explained(self, message: Explained) -> None:
        """Show the newest explanation."""
        if message.number == self._number:
            found = message.explanation
            text = f"✗ {found}\n" if isinstance(found, KeyholeError) else explanation_text(found)
            self.query_one("#why-text", LineView).show(Document(text))

    def _ask(self, place: str) -> None:
        self._number += 1
        path, _, line = place.rpartition(":") if place.rpartition(":")[2].isdigit() else (place, "", "")
        if path.strip():
            work = partial(self._explain, self._number, path.strip(), int(line) if line else None)
            self.run_worker(work, thread=True)

    def _explain(self, number: int, path: str, line: int | None) -> None:
        try:
            self.post_message(Explained(number, self._service.explain(self._request, path, line)))
        except KeyholeError as error:
            self.post_message(Explained(number, error))
