"""Panes whose sizes the user can change: by key, or by dragging the border between them."""

from dataclasses import dataclass

from textual import events
from textual.geometry import Offset
from textual.widget import Widget

from keyhole.tui.screens.base import KeyholeScreen

# A pane that is smaller shows too little to be of use.
LEAST_WIDTH, LEAST_HEIGHT = 30, 5
_STEP = 5
_LEAST_SHARE = 10


@dataclass(frozen=True, slots=True)
class Divider:
    """A border between two panes that can be moved: the name of the size, and the pane that it is the size of."""

    name: str
    pane: Widget
    # The pane that gets what the first one leaves; none if the layout takes care of that.
    other: Widget | None
    is_vertical: bool
    # The whole that the two panes share, in cells, and where it starts.
    whole: int
    start: int

    @property
    def least(self) -> int:
        """The smallest share of the pane, in percent; also what has to be left for the other one."""
        return min(50, -(-(LEAST_WIDTH if self.is_vertical else LEAST_HEIGHT) * 100 // max(1, self.whole)))

    @property
    def share(self) -> int:
        """The current share of the pane, in percent."""
        size = self.pane.outer_size.width if self.is_vertical else self.pane.outer_size.height
        return round(size * 100 / max(1, self.whole))

    def is_at(self, place: Offset) -> bool:
        """Return whether a place on the screen is on the border."""
        region = self.pane.region
        if self.is_vertical:
            # The frames of both panes are next to each other.
            return place.x in (region.right - 1, region.right) and region.y <= place.y < region.bottom
        return place.y == region.y and region.x <= place.x < region.right

    def share_at(self, place: Offset) -> int:
        """Return the share that puts the border at a place on the screen."""
        cells = place.x + 1 - self.start if self.is_vertical else self.start + self.whole - place.y
        return round(cells * 100 / max(1, self.whole))


class ResizableScreen(KeyholeScreen):
    """A screen with two panes side by side, and maybe one below them."""

    def __init__(self) -> None:
        super().__init__()
        self._dragged: Divider | None = None

    @property
    def size_name(self) -> str:
        """The name under which the sizes of this screen are kept."""
        return type(self).__name__.removesuffix("Screen").lower()

    @property
    def pane_below(self) -> Widget | None:
        """The pane below the two others, if it is shown."""
        return None

    def on_screen_resume(self, _: events.ScreenResume) -> None:
        """Apply the sizes that were chosen, also before the screen was made."""
        self.apply_pane_sizes()

    def apply_pane_sizes(self) -> None:
        """Give each pane the size that the user chose, or else its usual one."""
        first, second = self.query_one("#panes").children[:2]
        share = self._chosen(self.size_name)
        first.styles.width = f"{share}fr" if share else None
        second.styles.width = f"{100 - share}fr" if share else None
        if below := self.pane_below:
            height = self._chosen("links")
            below.styles.height = f"{height}%" if height else None
            below.styles.max_height = "100%" if height else None

    def _chosen(self, name: str) -> int | None:
        """Return the size that the user chose; one that is read from a file can be any number."""
        size = self.explorer.pane_sizes.get(name)
        return min(max(size, _LEAST_SHARE), 100 - _LEAST_SHARE) if size else None

    def _dividers(self) -> list[Divider]:
        """Return the borders that can be moved now."""
        found = []
        panes = self.query_one("#panes")
        first, second = panes.children[:2]
        # On a narrow terminal, or zoomed, only one of them is shown.
        if first.display and second.display and first.region and second.region:
            region = panes.region
            found.append(Divider(self.size_name, first, second, True, region.width, region.x))
        if (below := self.pane_below) and below.region:
            # The share is one of the height that its parent has, as in the style sheet.
            height = self.size.height
            found.append(Divider("links", below, None, False, height, below.region.bottom - height))
        return found

    # Keys

    def action_resize_pane(self, step: int) -> None:
        """Make the focused pane narrower or wider; the pane below, lower or taller."""
        dividers = self._dividers()
        below = [divider for divider in dividers if not divider.is_vertical and divider.pane.has_focus]
        beside = [divider for divider in dividers if divider.is_vertical]
        for divider in below or beside:
            is_other = divider.other is not None and divider.other.has_focus
            # Measured shares are rounded to cells, and a step may be smaller than a cell.
            share = self._chosen(divider.name) or divider.share
            self._resize(divider, share + (-step if is_other else step) * _STEP)
            return
        self.notify("Only one pane is shown: nothing to resize.", timeout=3)

    def action_reset_panes(self) -> None:
        """Give the panes of this screen their usual sizes."""
        for name in (self.size_name, "links"):
            self.explorer.pane_sizes.pop(name, None)
        self.apply_pane_sizes()

    def _resize(self, divider: Divider, share: int) -> None:
        rest = 100 - divider.least
        # Some rows above the lower pane are for the top line, and the panes above it need room too.
        most = rest if divider.is_vertical else min(rest, 70)
        self.explorer.pane_sizes[divider.name] = min(max(share, divider.least), most)
        self.apply_pane_sizes()

    # The mouse

    @property
    def allow_select(self) -> bool:
        """Whether dragging selects text: not while it moves a border."""
        return super().allow_select and self._dragged is None and self._divider_at(self.app.mouse_position) is None

    def _divider_at(self, place: Offset) -> Divider | None:
        return next((divider for divider in self._dividers() if divider.is_at(place)), None)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Start to move a border."""
        if event.button == 1 and (divider := self._divider_at(event.screen_offset)):
            self._dragged = divider
            divider.pane.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Move the border to the mouse."""
        if self._dragged:
            self._resize(self._dragged, self._dragged.share_at(event.screen_offset))

    def on_mouse_up(self, _: events.MouseUp) -> None:
        """Leave the border where it is."""
        if self._dragged:
            self._dragged.pane.release_mouse()
            self._dragged = None

    def on_click(self, event: events.Click) -> None:
        """Reset the size of a pane with two clicks on its border."""
        divider = self._divider_at(event.screen_offset)
        if divider and event.chain == 2:  # a double click
            self.explorer.pane_sizes.pop(divider.name, None)
            self.apply_pane_sizes()
