"""Walking from file to file along their links, back and forward."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from keyhole.core.links.requests import LinksRequest
from keyhole.tui.history import History, Place
from keyhole.tui.screens.panes import PanesScreen
from keyhole.tui.widgets.links_pane import LinksPane


class LinkNavigationScreen(PanesScreen):
    """A screen that shows a file, with a pane of its links below."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "links", "links", tooltip="Show or hide the links of this file, from it and to it"),
        Binding("less_than_sign", "walk(-1)", "back", key_display="<", tooltip="Back to the file before", show=False),
        Binding("greater_than_sign", "walk(1)", "on", key_display=">", tooltip="Forward to the file after", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._history = History()

    @property
    def links(self) -> LinksPane:
        """The pane of links."""
        return self.query_one(LinksPane)

    def go_to(self, place: Place) -> None:
        """Open a file at a line."""
        raise NotImplementedError

    def arrived(self, place: Place) -> None:
        """Note that a file is on the screen, and show its links if they are wanted."""
        self._history.visit(place)
        if self.links.display and self.links.path != place.path:
            self._ask(LinksRequest(place.path))

    def _ask(self, request: LinksRequest) -> None:
        if self.explorer.service is not None:
            self.links.ask(self.explorer.service, request)

    @property
    def is_reading(self) -> bool:
        """Links are walked beside what they lead to: also then the file counts more."""
        return super().is_reading or self.links.has_focus

    def action_links(self) -> None:
        """Show or hide the links."""
        place = self._history.step(0)
        if self.links.display or place is None:
            self.links.display = False
            self.view.focus()
            if place is None:
                self.notify("Open a file first: its links are shown below it.", timeout=3)
            return
        self.links.display = True
        self._ask(LinksRequest(place.path))
        self.links.focus()

    def action_walk(self, step: int) -> None:
        """Go back or forward."""
        if place := self._history.step(step):
            self.go_to(place)
        else:
            self.notify("That is where you came from first." if step < 0 else "There is nothing ahead.", timeout=3)

    def on_links_pane_followed(self, message: LinksPane.Followed) -> None:
        """Open what a link leads to; a folder is shown in the tree."""
        self.go_to(message.place)

    def on_links_pane_more_wanted(self, message: LinksPane.MoreWanted) -> None:
        """Show the next page of a category."""
        self._ask(message.request)

    def on_links_pane_not_followed(self, message: LinksPane.NotFollowed) -> None:
        """Say why a link cannot be followed; an address is copied."""
        if message.address:
            self.explorer.copy(message.address, "address")
        else:
            self.notify(f"This link cannot be followed: {message.problem}.", timeout=3, markup=False)
