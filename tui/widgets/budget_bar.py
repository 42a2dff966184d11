"""A bar of where the budget went: the banner, the notes, each result, and what is left."""

from typing import TYPE_CHECKING

from textual.app import RenderResult
from textual.content import Content

from keyhole.core.view.budget.spending import RESULT, Spent, spending, whole_shares
from keyhole.core.view.budget.tokens import MILLI
from keyhole.core.view.text_parts import PartKind
from keyhole.tui.widgets.bars import Line, clickable

if TYPE_CHECKING:
    from keyhole.core.view.writing import View

# Below this width the bar needs the room of the figures.
_NARROWEST_BAR = 16
_FRAME, _FREE, _SELECTED = "▒", "░", "█"
# Neighbouring results differ, also without colours.
_RESULTS = (("▓", "$success"), ("█", "$success 70%"))


class BudgetBar(Line):
    """Shows what each result of an answer costs, as a share of the budget; a click on one selects it."""

    def __init__(self) -> None:
        super().__init__()
        self._spent: list[Spent] = []
        self._budget = 0
        self._selected: int | None = None
        # What the figures are about, to measure a text only once.
        self._view: View | None = None

    def show(self, view: "View | None", selected: int | None) -> None:
        """Show where the tokens of a view went; without one, hide the bar."""
        if view is not self._view:
            self._view = view
            self._spent = spending(view.parts) if view else []
            self._budget = view.truncation.limit_tokens if view else 0
        self._selected = selected
        self.set_class(bool(self._spent), "-shown")
        self.refresh()

    def render(self) -> RenderResult:
        """Draw the line."""
        figures = self.figures()
        while len(figures) > 1 and self._width_beside(figures) < _NARROWEST_BAR:
            figures.pop(0)
        return self._bar(self._width_beside(figures)) + Content(f"  {' · '.join(figures)}")

    def _width_beside(self, figures: list[str]) -> int:
        return max(0, self.content_size.width - len(" · ".join(figures)) - 2)

    def figures(self) -> list[str]:
        """Return the figures, the least important first; they add up to the budget."""
        groups = [
            sum(spent.weight for spent in self._spent if spent.item == PartKind.BANNER),
            sum(spent.weight for spent in self._spent if spent.item == PartKind.NOTE),
            sum(spent.weight for spent in self._spent if spent.item not in (PartKind.BANNER, PartKind.NOTE)),
        ]
        banner, notes, results = whole_shares(groups, MILLI)
        figures = [f"banner {banner:,}", *([f"notes {notes:,}"] if notes else []), f"results {results:,}"]
        chosen = [spent for spent in self._spent if spent.result is not None and spent.result == self._selected]
        figures += [f"free {max(0, self._budget - banner - notes - results):,}"]
        return [*figures, *(f"selected {spent.tokens:,}" for spent in chosen)]

    def _bar(self, width: int) -> Content:
        # Free cells come last, so the bar is as long as the budget.
        unit = max(1, -(-max(self._budget * MILLI, sum(spent.weight for spent in self._spent)) // max(1, width)))
        cells = whole_shares((spent.weight for spent in self._spent), unit)
        parts = [self._segment(spent, count) for spent, count in zip(self._spent, cells, strict=True)]
        rest = max(0, width - sum(cells))
        return Content("").join([*parts, Content.styled(_FREE * rest, "$text-muted")])

    def _segment(self, spent: Spent, count: int) -> Content:
        if spent.item != RESULT or spent.result is None:
            return Content.styled(_FRAME * count, "$warning" if spent.item == PartKind.NOTE else "$secondary")
        sign, style = _RESULTS[spent.result % 2]
        if spent.result == self._selected:
            sign, style = _SELECTED, "bold $primary"
        return clickable(Content.styled(sign * count, style), f"screen.select_result({spent.result})")
