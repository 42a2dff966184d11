"""The line that says what was done with a search line: a limit that was lowered, words that are no filters."""

from typing import TYPE_CHECKING

from textual.widgets import Static

from keyhole.core.types.choices import Mode
from keyhole.core.view.text import name_text
from keyhole.tui.query_syntax import FILTERS, unknown_filters

if TYPE_CHECKING:
    from keyhole.tui.answer import Answer


class SearchNote(Static):
    """Shows a note, or nothing."""

    def __init__(self) -> None:
        super().__init__(id="search-note", markup=False)

    def show(self, text: str) -> None:
        """Show a text; an empty one hides the line."""
        if text or self.has_class("-shown"):
            self.update(text)
            self.set_class(bool(text), "-shown")


def search_note(line: str, answer: "Answer") -> str:
    """Return what was done with a search line that its author may not expect."""
    from keyhole.core.search.query import choose_mode

    notes = []
    asked, used = answer.request.limit, answer.result.query.limit
    if asked is not None and asked > used:
        notes.append(f"limit:{asked:,} is over the maximum: {used:,} results a page.")
    is_pattern = choose_mode(answer.result.query) == Mode.REGEX
    if not is_pattern and (unknown := unknown_filters(line)):
        words = ", ".join(name_text(word, 30) for word in unknown)
        notes.append(f"Searching for the text {words}. Filters: {' '.join(f'{name}:' for name in FILTERS)}")
    return "  ".join(notes)
