"""Following links from file to file, and going back and forward."""

from keyhole.core.links.requests import LinksRequest, ReferenceRelation
from keyhole.core.view.budget.limits import LIMITS
from keyhole.tui.history import History, KeptView, Place
from keyhole.tui.reference_trail import TrailStep
from keyhole.tui.screens.panes import PanesScreen
from keyhole.tui.widgets.links_pane import LinksPane


class LinkNavigationScreen(PanesScreen):
    """A screen with a file, and a pane with its links below."""

    def __init__(self) -> None:
        super().__init__()
        self._history = History()

    @property
    def links(self) -> LinksPane:
        """The pane of links."""
        return self.query_one(LinksPane)

    @property
    def pane_below(self) -> LinksPane | None:
        """The pane of links, if it is shown."""
        return self.links if self.links.display else None

    def go_to(self, place: Place) -> None:
        """Open a file at a line."""
        raise NotImplementedError

    def go_back_to(self, place: Place, kept: KeptView | None) -> None:
        """Open a file as it was when it was left."""
        raise NotImplementedError

    def keep_view(self) -> None:
        """Keep what is shown, to go back to it."""
        raise NotImplementedError

    @property
    def marked_line(self) -> int | None:
        """The first marked line of the file, if there is one."""
        raise NotImplementedError

    def arrived(self, place: Place) -> None:
        """Add the file to the history, and show its links and callers if the pane is open."""
        self._history.visit(place)
        if not self.links.display:
            return
        if self.links.path != place.path:
            self._load_links(place.path)
        else:
            self._load_callers(place.path)

    def _load_links(self, path: str) -> None:
        """Load the links of a file, and who calls what is selected in it."""
        if self.explorer.service is not None:
            self.links.load(self.explorer.service, LinksRequest(path, most_incoming=LIMITS["get_links"].default))
            self._load_callers(path)

    def _load_callers(self, path: str) -> None:
        if self.explorer.service is not None:
            self.links.load_callers(self.explorer.service, path, self.marked_line)

    @property
    def is_reading(self) -> bool:
        """Whether the view gets the width: also while following links, which open files in it."""
        return super().is_reading or self.links.has_focus

    def action_links(self) -> None:
        """Show or hide the links."""
        place = self._history.step(0)
        if self.links.display or place is None:
            self.links.display = False
            self.view.focus()
            if place is None:
                self.notify("Open a file first to see its links.", timeout=3)
            return
        self.links.display = True
        self.apply_pane_sizes()
        self._load_links(place.path)
        self.links.focus()

    def action_history(self, step: int) -> None:
        """Go back or forward in the history."""
        self.keep_view()
        if place := self._history.step(step):
            self.go_back_to(place, self._history.kept)
        else:
            self.notify("Start of history." if step < 0 else "End of history.", timeout=3)

    def on_links_pane_followed(self, message: LinksPane.Followed) -> None:
        """Open the target of a link; a folder is shown in the tree."""
        self.go_to(message.place)

    def on_links_pane_more_wanted(self, message: LinksPane.MoreWanted) -> None:
        """Show the next page of a category."""
        if self.explorer.service is not None:
            self.links.load(self.explorer.service, message.request)

    def on_links_pane_callers_wanted(self, message: LinksPane.CallersWanted) -> None:
        """List all callers of a symbol."""
        self.explorer.show_references(TrailStep(message.place, ReferenceRelation.CALLERS))

    def on_links_pane_not_followed(self, message: LinksPane.NotFollowed) -> None:
        """Show why a link has no target here; copy the address of an external link."""
        if message.address:
            self.explorer.copy(message.address, "address")
        else:
            self.notify(f"Can't follow this link: {message.problem}.", timeout=3, markup=False)
