"""How much of the budget an answer uses."""

from enum import StrEnum
from typing import TYPE_CHECKING

from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

if TYPE_CHECKING:
    from keyhole.core.view.budget.sizes import TruncationInfo

# From here on the gauge warns: the next page or a little more detail may not fit.
FULL_FROM = 0.7


class Standing(StrEnum):
    """How an answer fits its budget, with a sign so that colour is never needed."""

    FITS = "✓ fits"
    NEARLY_FULL = "◆ over 70%"
    CUT = "▲ cut"


_STYLES = {Standing.FITS: "$success", Standing.NEARLY_FULL: "$warning", Standing.CUT: "$error"}


class Gauge(Widget):
    """A bar of used and free tokens, with figures and a word for how it stands."""

    info: "reactive[TruncationInfo | None]" = reactive(None)

    @property
    def share(self) -> float:
        """The used part of whichever limit is nearer, 0 to 1."""
        if self.info is None:
            return 0.0
        tokens = self.info.estimated_tokens / self.info.limit_tokens
        return max(tokens, self.info.estimated_chars / self.info.limit_chars)

    @property
    def standing(self) -> Standing:
        """Tell how the answer fits its budget."""
        if self.info and self.info.reason:
            return Standing.CUT
        return Standing.NEARLY_FULL if self.share > FULL_FROM else Standing.FITS

    def render(self) -> RenderResult:
        """Draw the line."""
        if self.info is None:
            return Content.styled("no answer yet", "$text-muted")
        figures = f" {self.info.estimated_tokens:,} / {self.info.limit_tokens:,} tokens  {self.share:>4.0%}  "
        style = _STYLES[self.standing]
        width = max(0, self.size.width - len(figures) - len(self.standing) - 1)
        filled = min(width, round(width * self.share))
        return Content.assemble(
            ("█" * filled, style),
            ("░" * (width - filled), "$text-muted"),
            figures,
            (self.standing, f"bold {style}"),
        )
