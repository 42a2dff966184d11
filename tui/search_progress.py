"""What happens between a search and its answer: old results are marked as old, and pages wait for the answer."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.timer import Timer
    from textual.widget import Widget

# A mark that appears for a moment after each letter would only flicker.
MARK_SECONDS = 0.15


class SearchProgress:
    """Marks a screen while its results are older than its search."""

    def __init__(self, screen: "Widget", on_mark: Callable[[], None]) -> None:
        self._screen = screen
        self._on_mark = on_mark
        self._timer: Timer | None = None
        # How many pages to go on, or back, in the answer that is awaited.
        self.pages = 0

    @property
    def is_marked(self) -> bool:
        """Whether the results on the screen are marked as old."""
        return self._screen.has_class("-old")

    def begin(self) -> None:
        """Mark the results soon, unless the answer comes first."""
        if self._timer is None and not self.is_marked:
            self._timer = self._screen.set_timer(MARK_SECONDS, self._mark)

    def end(self) -> None:
        """Show that the results are those of the search."""
        if self._timer:
            self._timer.stop()
            self._timer = None
        self._screen.remove_class("-old")

    def next_step(self) -> int:
        """Return one of the pages to go on or back, and count it as gone; 0 if none is left."""
        step = (self.pages > 0) - (self.pages < 0)
        self.pages -= step
        return step

    def _mark(self) -> None:
        self._timer = None
        self._screen.add_class("-old")
        self._on_mark()
