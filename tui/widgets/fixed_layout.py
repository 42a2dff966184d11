"""Scrolling views with a fixed place on the screen, whatever they contain."""

from textual.geometry import Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView


class FixedLayoutView(ScrollView):
    """Changes its content size without a new layout of the screen, which would take longer than drawing the content."""

    virtual_size: Reactive[Size] = Reactive(Size(0, 0), layout=False)

    def set_content_size(self, width: int, height: int) -> None:
        """Set the size of the content."""
        if self.virtual_size != Size(width, height):
            self.virtual_size = Size(width, height)
            self._scroll_update(self.virtual_size)

    def watch_show_vertical_scrollbar(self, is_shown: bool) -> None:
        """Set the bar to where the view is: Textual moves only a bar that is shown, and a hidden view has none."""
        if is_shown:
            self.vertical_scrollbar.position = self.scroll_y
