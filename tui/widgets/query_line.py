"""The search line."""

from typing import ClassVar

from textual.binding import BindingType
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets import Input

from keyhole.tui import keys
from keyhole.tui.query_syntax import QuerySuggester


class QueryLine(Input):
    """An input for words and filters, which completes filters."""

    HELP_TITLE = "Search line"
    BINDINGS: ClassVar[list[BindingType]] = keys.SEARCH_LINE

    # The line never changes its size, so a new layout after each letter would be wasted.
    virtual_size: Reactive[Size] = Reactive(Size(0, 0), layout=False)

    def __init__(self, placeholder: str) -> None:
        self.completion = QuerySuggester()
        super().__init__(id="query", placeholder=placeholder, suggester=self.completion, select_on_focus=False)
        self.cursor_blink = False

    async def action_complete(self) -> None:
        """Complete the filter at the end of the line, or go to the results."""
        # The suggestion on the screen may still be that of an earlier line.
        completed = self.completion.words.complete(self.value) if self.cursor_at_end else None
        if completed:
            self.value = completed
            self.action_end()
        else:
            await self.action_submit()


class SearchLine(QueryLine):
    """The search line of Explore, with a history."""

    BINDINGS: ClassVar[list[BindingType]] = keys.QUERIES
