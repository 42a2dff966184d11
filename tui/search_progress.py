"""What happens between a search and its answer: old results are marked as old, and pages wait for the answer."""

from asyncio import TimerHandle
from collections.abc import Callable
from typing import TYPE_CHECKING

from keyhole.tui.background import run_later

if TYPE_CHECKING:
    from textual.widget import Widget

# A mark that appears for a moment after each letter would only flicker, and painting it costs more than the search.
MARK_SECONDS = 0.3
# Marking only these is cheaper than a class of the screen, for which Textual computes the style of every widget again.
_OLD = "#results, #banner, #view, #gauge"


class SearchProgress:
    """Marks a screen while its results are older than its search."""

    def __init__(self, screen: "Widget", on_mark: Callable[[], None]) -> None:
        self._screen = screen
        self._on_mark = on_mark
        self._timer: TimerHandle | None = None
        # Whether the results on the screen are marked as old.
        self.is_marked = False
        # How many pages to go on, or back, in the answer that is awaited.
        self.pages = 0

    def begin(self) -> None:
        """Mark the results soon, unless the answer comes first."""
        if self._timer is None and not self.is_marked:
            self._timer = run_later(self._screen, MARK_SECONDS, self._mark)

    def end(self) -> None:
        """Show that the results are those of the search."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self.is_marked:
            self._set_mark(False)

    def next_step(self) -> int:
        """Return one of the pages to go on or back, and count it as gone; 0 if none is left."""
        step = (self.pages > 0) - (self.pages < 0)
        self.pages -= step
        return step

    def _mark(self) -> None:
        self._timer = None
        self._set_mark(True)
        self._on_mark()

    def _set_mark(self, is_old: bool) -> None:
        self.is_marked = is_old
        self._screen.query(_OLD).set_class(is_old, "-old")
