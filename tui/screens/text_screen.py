"""A dialog that shows a text to read, select and copy."""

from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from keyhole.core.untrusted_text import visible
from keyhole.tui import keys
from keyhole.tui.key_names import marked_up_key

if TYPE_CHECKING:
    from keyhole.tui.explorer import Explorer


class TextScreen(ModalScreen[None]):
    """Shows a text; what the mouse selects is copied."""

    HELP_TITLE = "Text"
    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.TEXT

    def __init__(self, title: str, text: str, what: str) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._what = what

    def compose(self) -> ComposeResult:
        """Yield the box."""
        with VerticalScroll(id="text") as box:
            box.border_title = self._title
            box.border_subtitle = f"{marked_up_key('copy')} Copy · {marked_up_key('close')} Close"
            yield Static(Content("\n".join(map(visible, self._text.split("\n")))))

    def action_copy(self) -> None:
        """Copy the whole text."""
        cast("Explorer", self.app).copy(self._text, self._what)

    def on_text_selected(self, event: events.TextSelected) -> None:
        """Copy what was selected with the mouse."""
        event.stop()
        if selected := self.get_selected_text():
            cast("Explorer", self.app).copy(selected, "selection")
