"""The view's own banner, unchanged."""

from typing import TYPE_CHECKING

from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget

if TYPE_CHECKING:
    from keyhole.core.view.writing import View

_INVITATION = "What an agent would get appears here as you type."


class Banner(Widget):
    """Shows what the first line of the answer says, with a sign for how it stands."""

    text = ""

    def show(self, view: "View | None") -> None:
        """Show the banner of a view."""
        before, self.text = self.text, view.banner if view else ""
        self._is_cut = bool(view and view.truncation.reason)
        self.set_class(self._is_cut, "-cut")
        # Only a banner that takes more than a line moves what stands below it.
        self.refresh(layout=max(len(before), len(self.text)) > self.size.width - 2)

    _is_cut = False

    def render(self) -> RenderResult:
        """Draw the lines."""
        if not self.text:
            return Content.styled(_INVITATION, "$text-muted")
        sign = ("▲ ", "bold $error") if self._is_cut else ("● ", "$success")
        return Content.assemble(sign, self.text)
