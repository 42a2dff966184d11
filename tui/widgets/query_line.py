"""The line in which one searches."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets import Input

from keyhole.tui.query_syntax import QuerySuggester


class QueryLine(Input):
    """Takes words and filters, and completes filters."""

    HELP_TITLE = "In the search line"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "results", tooltip="Go to the results"),
        Binding("tab", "complete", "complete", tooltip="Take the completion, or go to the results"),
        Binding("down", "screen.move(1)", "next result", show=False, tooltip="Look at the next result"),
        Binding("up", "screen.move(-1)", "previous result", show=False, tooltip="Look at the result before"),
    ]

    # The line keeps its place whatever is in it; a new layout at each letter would cost more than the letter.
    virtual_size: Reactive[Size] = Reactive(Size(0, 0), layout=False)

    def __init__(self, placeholder: str) -> None:
        self.completion = QuerySuggester()
        super().__init__(id="query", placeholder=placeholder, suggester=self.completion, select_on_focus=False)
        self.cursor_blink = False

    async def action_complete(self) -> None:
        """Take the completion that is offered, or leave the line."""
        if self._suggestion:
            self.action_cursor_right()
        else:
            await self.action_submit()
