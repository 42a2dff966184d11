"""The view's own banner, unchanged."""

from typing import TYPE_CHECKING

from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget

from keyhole.core.types.completeness import CallStatus
from keyhole.tui.status_words import WORDS

if TYPE_CHECKING:
    from keyhole.core.view.writing import View

_INVITATION = "What an agent would get appears here as you type."


class Banner(Widget):
    """Shows the first line of the answer, with the sign for what the answer lacks."""

    _view: "View | None" = None

    @property
    def text(self) -> str:
        """The banner as the answer has it."""
        return self._view.banner if self._view else ""

    def show(self, view: "View | None") -> None:
        """Show the banner of a view."""
        before, self._view = self.text, view
        self.set_class(bool(view and view.completeness.is_truncated), "-truncated")
        # Only a banner of more than one line moves what is below it.
        self.refresh(layout=max(len(before), len(self.text)) > self.size.width - 2)

    def render(self) -> RenderResult:
        """Draw the lines."""
        if self._view is None:
            return Content.styled(_INVITATION, "$text-muted")
        words, style = WORDS[CallStatus(self._view.completeness)]
        return Content.assemble((f"{words[0]} ", f"bold {style}"), self.text)
