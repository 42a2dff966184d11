"""Keys that scroll a screen without a cursor."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.widget import Widget


class Scrolling:
    """The actions of a screen that scrolls one box."""

    @property
    def scrolled(self) -> "Widget":
        """The box that scrolls."""
        raise NotImplementedError

    def action_scroll(self, step: int) -> None:
        """Scroll by a line."""
        self.scrolled.scroll_relative(y=step, animate=False)

    def action_scroll_half(self, step: int) -> None:
        """Scroll by half a screen."""
        self.scrolled.scroll_relative(y=step * max(1, self.scrolled.size.height // 2), animate=False)

    def action_scroll_edge(self, step: int) -> None:
        """Go to the top or to the end."""
        box = self.scrolled
        box.scroll_end(animate=False) if step > 0 else box.scroll_home(animate=False)
