"""What a client makes of the text that is shown, on a line of its own."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.widgets import Static

if TYPE_CHECKING:
    from keyhole.core.clients import Delivery
    from keyhole.tui.lens import Lens


class LensLine(Static):
    """Hidden as long as the text is shown as it was sent."""

    def __init__(self) -> None:
        super().__init__(id="lens", markup=False)
        self._seen: tuple[Lens, Delivery] | None = None
        self._costs: Mapping[str, int] | None = None

    def show(self, lens: "Lens | None", delivery: "Delivery | None") -> None:
        """Say what a client makes of a text."""
        self._seen = (lens, delivery) if lens and delivery else None
        self._write()

    def show_costs(self, costs: Mapping[str, int] | None) -> None:
        """Say too what our own tools cost it."""
        self._costs = costs
        self._write()

    def _write(self) -> None:
        if self._seen:
            from keyhole.tui.lens import lens_text

            lens, delivery = self._seen
            self.update(lens_text(lens, delivery, self._costs))
            self.set_class(bool(delivery.overflow), "-cut")
        self.set_class(bool(self._seen), "-shown")
