"""A line about the shown text: what a client delivers of it, and why JSON holds fewer results."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.widgets import Static

if TYPE_CHECKING:
    from keyhole.core.delivery import Delivery
    from keyhole.tui.lens import Lens


class LensLine(Static):
    """Shows the notes on a text; hidden when there are none."""

    def __init__(self) -> None:
        super().__init__(id="lens", markup=False)
        self._seen: tuple[Lens, Delivery, int] | None = None
        self._costs: Mapping[str, int] | None = None
        self._note = ""

    def show(self, lens: "Lens | None", delivery: "Delivery | None", note: str = "", budget: int = 0) -> None:
        """Show a note on a text, what a client delivers of it, and the budget of the client."""
        self._seen = (lens, delivery, budget) if lens and delivery else None
        self._note = note
        self._write()

    def show_costs(self, costs: Mapping[str, int] | None) -> None:
        """Show also what Keyhole's tool definitions cost the client."""
        self._costs = costs
        self._write()

    def _write(self) -> None:
        lines = [f"○ {self._note}"] if self._note else []
        if self._seen:
            from keyhole.tui.lens import lens_text

            lens, delivery, budget = self._seen
            lines.append(lens_text(lens, delivery, self._costs, budget))
            self.set_class(bool(delivery.overflow), "-overflow")
        if lines:
            self.update("\n".join(lines))
        self.set_class(bool(lines), "-shown")
