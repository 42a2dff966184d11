"""The base of every screen: top line, footer, and a message when the terminal is too small."""

from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.events import ScreenResume
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import Static

from keyhole.tui.widgets.bars import KeyBar, TopBar

if TYPE_CHECKING:
    from keyhole.tui.explorer import Explorer
    from keyhole.tui.screens.jump import Target

SMALLEST = (60, 16)


def is_too_small(size: Size) -> bool:
    """Return whether a terminal is too small to show anything but a message."""
    return size.width < SMALLEST[0] or size.height < SMALLEST[1]


class KeyholeScreen(Screen[None]):
    """A screen of the explorer."""

    def __init__(self) -> None:
        super().__init__()
        # With the classes of its size from the start, a new screen is styled once: as its widgets are mounted.
        self._is_new = True
        breakpoints = (self.app.HORIZONTAL_BREAKPOINTS, self.app.VERTICAL_BREAKPOINTS)
        for length, names in zip(self.app.size, breakpoints, strict=True):
            self.add_class(*[name for least, name in names or () if length >= least][-1:], update=False)

    def compose(self) -> ComposeResult:
        """Yield the body between the top line and the footer."""
        yield TopBar()
        yield from self.compose_body()
        yield KeyBar()
        yield Static(f"Keyhole needs {SMALLEST[0]}x{SMALLEST[1]} characters: enlarge the terminal", id="too-small")

    def compose_body(self) -> ComposeResult:
        """Yield the widgets of this screen."""
        yield from ()

    def _compositor_refresh(self) -> None:
        """Draw, but nothing before the app is set up: Textual shows no picture until then, and draws it again."""
        if self.explorer.is_set_up:
            super()._compositor_refresh()
            self.explorer.frame_drawn()

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Show what another screen has requested; styles are applied again unless they just were."""
        event.refresh_styles = not self._is_new
        self._is_new = False
        self.show_wanted()

    def show_wanted(self) -> None:
        """Show what was requested of this screen."""

    def jump_targets(self) -> "list[Target]":
        """Return the jump targets: everything that can have the focus."""
        from textual.geometry import Offset

        from keyhole.tui.screens.jump import Target

        return [Target(pane.region.offset + Offset(0, 1), pane.focus) for pane in self.focus_chain]

    @property
    def explorer(self) -> "Explorer":
        """The app, which holds the workspace."""
        return cast("Explorer", self.app)
