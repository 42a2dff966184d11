"""Explaining the rank of a file in the results, or why it is missing."""

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input

from keyhole.core.errors import KeyholeError
from keyhole.core.suggest import did_you_mean, suggest_paths
from keyhole.core.types.requests import SearchRequest
from keyhole.core.view.lists.search_view import explanation_text
from keyhole.tui import keys
from keyhole.tui.background import run_in_thread
from keyhole.tui.document import Document
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.key_names import marked_up_key
from keyhole.tui.messages import Explained
from keyhole.tui.widgets.line_view import LineView

if TYPE_CHECKING:
    from keyhole.core.service import Service

_NO_PATH = "Type the path of a file to see why it has its rank, or why it is missing.\n"


class WhyScreen(ModalScreen[None]):
    """Explains the rank of one file; typing another path explains that one."""

    HELP_TITLE = "Explain ranking"
    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.EXPLAIN

    def __init__(self, service: "Service", request: SearchRequest, place: str, paths: list[str]) -> None:
        super().__init__()
        self._service = service
        self._request = request
        self._place = place
        self._paths = paths
        # The path that is explained; late explanations of others are ignored.
        self._path = ""
        self._number = 0

    def compose(self) -> ComposeResult:
        """Yield the box: a path, and its explanation."""
        with Vertical(id="why") as box:
            box.border_title = "Explain ranking"
            box.border_subtitle = f"Type another path[:line] · {marked_up_key('close')} Close"
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
            text = self._problem(found) if isinstance(found, KeyholeError) else explanation_text(found)
            self._show(text)

    def _problem(self, error: KeyholeError) -> str:
        return "\n".join(
            filter(None, [f"✗ {problem_text(error)}", did_you_mean(suggest_paths(self._path, self._paths))])
        )

    def _show(self, text: str) -> None:
        self.query_one("#why-text", LineView).show(Document(text))

    def _ask(self, place: str) -> None:
        self._number += 1
        path, _, line = place.rpartition(":") if place.rpartition(":")[2].isdigit() else (place, "", "")
        self._path = path.strip()
        if self._path:
            work = partial(self._explain, self._number, self._path, int(line) if line else None)
            run_in_thread(self, work, "explain")
        else:
            self._show(_NO_PATH)

    def _explain(self, number: int, path: str, line: int | None) -> None:
        try:
            self.post_message(Explained(number, self._service.explain(self._request, path, line)))
        except KeyholeError as error:
            self.post_message(Explained(number, error))
