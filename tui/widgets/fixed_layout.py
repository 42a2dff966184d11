"""Scrolling views of a fixed place on the screen: what they hold changes, and the layout does not."""

from textual.geometry import Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView


class FixedLayoutView(ScrollView):
    """Takes content of another size without a new layout of the whole screen, which would cost more than to draw it."""

    virtual_size: Reactive[Size] = Reactive(Size(0, 0), layout=False)

    def set_content_size(self, width: int, height: int) -> None:
        """Say how large the content is now."""
        if self.virtual_size != Size(width, height):
            self.virtual_size = Size(width, height)
            self._scroll_update(self.virtual_size)
