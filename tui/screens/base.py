"""What every screen has: the first line, the last line, and a word when the terminal is too small."""

from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Static

from keyhole.tui.widgets.bars import KeyBar, TopBar

if TYPE_CHECKING:
    from keyhole.tui.app import KeyholeApp

SMALLEST = (60, 16)


class KeyholeScreen(Screen[None]):
    """A screen of the explorer."""

    def compose(self) -> ComposeResult:
        """Put the body between the two lines."""
        yield TopBar()
        yield from self.compose_body()
        yield KeyBar()
        yield Static(f"keyhole needs {SMALLEST[0]}x{SMALLEST[1]}: make the terminal larger", id="too-small")

    def compose_body(self) -> ComposeResult:
        """Make what is special about this screen."""
        yield from ()

    @property
    def explorer(self) -> "KeyholeApp":
        """The app, with all it knows about the workspace."""
        return cast("KeyholeApp", self.app)
