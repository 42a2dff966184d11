"""How much of the budget an answer uses, and what it lacks."""

from typing import TYPE_CHECKING

from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.usage import NEARLY_FULL, utilisation
from keyhole.tui.status_words import WORDS

if TYPE_CHECKING:
    from keyhole.core.view.writing import View


class Gauge(Widget):
    """A bar of used and free tokens, with figures and the word for what the answer lacks."""

    view: "reactive[View | None]" = reactive(None)

    @property
    def share(self) -> float:
        """The used part of whichever limit is closer, 0 to 1."""
        return utilisation(self.view.truncation) if self.view else 0.0

    @property
    def is_nearly_full(self) -> bool:
        """Whether the gauge warns."""
        return self.share > NEARLY_FULL

    def render(self) -> RenderResult:
        """Draw the line."""
        if self.view is None:
            return Content.styled("No answer yet", "$text-muted")
        info, (words, style) = self.view.truncation, WORDS[CallStatus(self.view.completeness)]
        bar_style = "$warning" if self.is_nearly_full else "$success"
        figures = f" {info.estimated_tokens:,} / {info.limit_tokens:,} tokens "
        # The diamond warns where colours can't be seen.
        share = f"{'◆' if self.is_nearly_full else ' '}{self.share:>4.0%}  "
        width = max(0, self.size.width - len(figures) - len(share) - len(words) - 1)
        filled = min(width, round(width * self.share))
        return Content.assemble(
            ("█" * filled, bar_style),
            ("░" * (width - filled), "$text-muted"),
            figures,
            (share, f"bold {bar_style}" if self.is_nearly_full else ""),
            (words, f"bold {style}"),
        )
