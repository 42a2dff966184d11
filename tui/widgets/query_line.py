"""The search line."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets import Input

from keyhole.tui.query_syntax import QuerySuggester


class QueryLine(Input):
    """An input for words and filters, which completes filters."""

    HELP_TITLE = "Search line"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "Show results", tooltip="Go to the results"),
        Binding("tab", "complete", "Complete", tooltip="Complete the filter, or go to the results"),
        Binding("down", "screen.move(1)", "Next result", show=False, tooltip="Preview the next result"),
        Binding("up", "screen.move(-1)", "Previous result", show=False, tooltip="Preview the previous result"),
    ]

    # The line never changes its size, so a new layout after each letter would be wasted.
    virtual_size: Reactive[Size] = Reactive(Size(0, 0), layout=False)

    def __init__(self, placeholder: str) -> None:
        self.completion = QuerySuggester()
        super().__init__(id="query", placeholder=placeholder, suggester=self.completion, select_on_focus=False)
        self.cursor_blink = False

    async def action_complete(self) -> None:
        """Accept the suggested completion, or go to the results."""
        if self._suggestion:
            self.action_cursor_right()
        else:
            await self.action_submit()
