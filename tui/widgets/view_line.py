"""Lines over the lower frame of a view: one finds a text in it, one goes to a line."""

from typing import TYPE_CHECKING, ClassVar, Protocol

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Static

from keyhole.core.view.text import count_of
from keyhole.tui import keys

if TYPE_CHECKING:
    from textual.css.styles import RenderStyles
    from textual.geometry import Region

    from keyhole.tui.document import Document


class AskingView(Protocol):
    """The view that a line belongs to."""

    document: "Document"

    @property
    def region(self) -> "Region":
        """Its place on the screen."""

    @property
    def styles(self) -> "RenderStyles":
        """Its styles, for the width of its frame."""

    def find(self, text: str) -> None:
        """Find a text while it is typed."""

    def find_next(self, step: int) -> None:
        """Go to the next or the previous match."""

    def go_to_line(self, line: int) -> None:
        """Go to a line."""

    def close_line(self) -> None:
        """Close the line, and read on."""


class ViewLine(Horizontal):
    """An input line with a label before it and a note after it."""

    DEFAULT_CSS = """
    ViewLine {
        overlay: screen;
        position: absolute;
        height: 1;
        background: $panel;
    }
    ViewLine > Static {
        width: auto;
        height: 1;
        padding: 0 1;
    }
    ViewLine > .view-line--label {
        color: $primary;
        text-style: bold;
    }
    ViewLine > .view-line--note {
        color: $text-muted;
    }
    ViewLine > .view-line--note.-problem {
        color: $warning;
        text-style: bold;
    }
    ViewLine > Input {
        width: 1fr;
        height: 1;
        background: $panel;
    }
    """
    label: ClassVar[str]

    def __init__(self, view: AskingView, text: str = "") -> None:
        super().__init__()
        self._view = view
        self._text = text

    def compose(self) -> ComposeResult:
        """Yield label, input and note."""
        yield Static(self.label, classes="view-line--label", markup=False)
        line = Input(self._text, compact=True)
        line.cursor_blink = False
        yield line
        yield Static("", classes="view-line--note", markup=False)

    def on_mount(self) -> None:
        """Take the place of the view's lower frame."""
        self.follow_view()

    def follow_view(self) -> None:
        """Move to where the view is now."""
        region = self._view.region
        frame = 1 if self._view.styles.border_left[0] else 0
        self.styles.offset = (region.x + frame, region.bottom - 1)
        self.styles.width = region.width - 2 * frame

    @property
    def input(self) -> Input:
        """The input line."""
        return self.query_one(Input)

    def say(self, text: str, *, is_problem: bool = False) -> None:
        """Show a note."""
        note = self.query_one(".view-line--note", Static)
        note.update(text)
        note.set_class(is_problem, "-problem")

    def action_close(self) -> None:
        """Close the line, and read on at the same place."""
        self._view.close_line()


class FindLine(ViewLine):
    """Finds a text while it is typed."""

    HELP_TITLE = "Find"
    label = "Find"
    BINDINGS: ClassVar[list[BindingType]] = keys.FIND_LINE

    def on_input_changed(self, event: Input.Changed) -> None:
        """Find the text."""
        event.stop()
        self._view.find(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the next match."""
        event.stop()
        self.action_find_next(1)

    def action_find_next(self, step: int) -> None:
        """Go to the next or the previous match."""
        self._view.find_next(step)


class GoToLine(ViewLine):
    """Goes to a line by its number."""

    HELP_TITLE = "Go to line"
    label = "Go to line"
    BINDINGS: ClassVar[list[BindingType]] = keys.NUMBER_LINE

    def on_mount(self) -> None:
        """Say which lines there are."""
        super().on_mount()
        self.say(f"of {count_of(len(self._view.document.lines), 'line')}")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Keep it from the screen, whose own line this is not."""
        event.stop()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the line."""
        event.stop()
        typed = event.value.strip().replace(",", "")
        if not typed:
            self.action_close()
        elif typed.isascii() and typed.isdecimal() and int(typed) > 0:
            self._view.close_line()
            # A longer number means the last line too, and Python refuses to read the longest ones.
            self._view.go_to_line(int(typed[:9]))
        else:
            self.say(f"Type a number from 1 to {len(self._view.document.lines):,}", is_problem=True)
