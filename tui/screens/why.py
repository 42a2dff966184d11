"""Explaining what happened to a file: its rank in the results, or why an agent did not see it."""

from collections.abc import Callable
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
from keyhole.core.types.view_requests import SearchRequest
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


def explain_rank(service: "Service", request: SearchRequest, path: str, line: int | None) -> str:
    """Return why a file has its rank in the answer to a search."""
    return explanation_text(service.explain(request, path, line))


def explain_missed(service: "Service", call_id: int, path: str, _: int | None) -> str:
    """Return why an agent did not see a file in the answer to a call."""
    from keyhole.core.missed.missed_file import missed_file
    from keyhole.core.missed.missed_text import missed_text

    return missed_text(missed_file(service, call_id, path))


class WhyScreen(ModalScreen[None]):
    """Explains one file; typing another path explains that one. `explain` runs in a worker."""

    HELP_TITLE = "Explain ranking"
    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.EXPLAIN
    TITLE = "Explain ranking"
    ADVICE = "Type the path of a file to see why it has its rank, or why it is missing.\n"
    HINT = "Type another path[:line]"

    def __init__(self, explain: Callable[[str, int | None], str], place: str, paths: list[str]) -> None:
        super().__init__()
        self._explain_file = explain
        self._place = place
        self._paths = paths
        # The path that is explained; late explanations of others are ignored.
        self._path = ""
        self._number = 0
        self._explained = 0

    def compose(self) -> ComposeResult:
        """Yield the box: a path, and its explanation."""
        with Vertical(id="why") as box:
            box.border_title = self.TITLE
            box.border_subtitle = f"{self.HINT} · {marked_up_key('close')} Close"
            line = Input(self._place, suggester=SuggestFromList(self._paths), id="why-path", compact=True)
            line.cursor_blink = False
            yield line
            yield LineView(id="why-text")

    def on_mount(self) -> None:
        """Explain the selected result."""
        self._ask(self._place)

    @property
    def is_settled(self) -> bool:
        """Whether the explanation of the typed path is shown."""
        return self._explained == self._number

    def on_input_changed(self, event: Input.Changed) -> None:
        """Explain the typed path."""
        self._ask(event.value)

    def on_explained(self, message: Explained) -> None:
        """Show the newest explanation."""
        if message.number == self._number:
            found = message.explanation
            self._show(self._problem(found) if isinstance(found, KeyholeError) else found)

    def _problem(self, error: KeyholeError) -> str:
        return "\n".join(
            filter(None, [f"✗ {problem_text(error)}", did_you_mean(suggest_paths(self._path, self._paths))])
        )

    def _show(self, text: str) -> None:
        self._explained = self._number
        self.query_one("#why-text", LineView).show(Document(text, wraps=True))

    def _ask(self, place: str) -> None:
        self._number += 1
        path, _, line = place.rpartition(":") if place.rpartition(":")[2].isdigit() else (place, "", "")
        self._path = path.strip()
        if self._path:
            work = partial(self._explain, self._number, self._path, int(line) if line else None)
            run_in_thread(self, work, "explain")
        else:
            self._show(self.ADVICE)

    def _explain(self, number: int, path: str, line: int | None) -> None:
        try:
            self.post_message(Explained(number, self._explain_file(path, line)))
        except KeyholeError as error:
            self.post_message(Explained(number, error))


class MissedScreen(WhyScreen):
    """Explains why an agent did not see a file in the answer to a call."""

    HELP_TITLE = "Explain missed file"
    TITLE = "Why did the agent miss a file?"
    ADVICE = """Type the path of a file (→ completes it) to see where it was in this answer,
what took it away, and which parameters show it.
"""
    HINT = "Type a path"
