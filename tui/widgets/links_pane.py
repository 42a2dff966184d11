"""The pane with the links of the open file, and who calls what is selected in it."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.message import Message

from keyhole.core.deadline import Deadline, within
from keyhole.core.errors import KeyholeError
from keyhole.core.links.requests import LinksRequest
from keyhole.core.view.text import one_line
from keyhole.tui import keys
from keyhole.tui.background import run_in_thread
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.history import Place
from keyhole.tui.link_rows import LinkRow, link_rows
from keyhole.tui.messages import CallersFound, RelationAnswered
from keyhole.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from keyhole.core.service import Service


# Callers are an addition to the links: if they take longer, the pane does without them.
LONGEST_WAIT = 10.0


class LinksPane(RowList):
    """Lists callers, then internal, broken, external and incoming links; Enter follows one."""

    HELP_TITLE = "Links"
    BINDINGS: ClassVar[list[BindingType]] = keys.LINKS

    @dataclass
    class Followed(Message):
        """A link was followed to a place."""

        place: Place

    @dataclass
    class NotFollowed(Message):
        """A link has no target in the workspace; `address` is set for an external link."""

        problem: str
        address: str

    @dataclass
    class MoreWanted(Message):
        """The user asked for the next page of a category."""

        request: LinksRequest

    @dataclass
    class CallersWanted(Message):
        """The user asked for all callers of a symbol."""

        place: Place

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        self.path = ""
        self.rows: list[LinkRow] = []
        self._wanted: LinksRequest | None = None
        self._links: list[LinkRow] = []
        self._callers: list[LinkRow] = []
        self._callers_wanted: Place | None = None
        self._deadline = Deadline(LONGEST_WAIT)

    @property
    def is_settled(self) -> bool:
        """Whether everything requested is on the screen."""
        return self._wanted is None and self._callers_wanted is None

    def on_unmount(self) -> None:
        """Stop looking for callers."""
        self._deadline.cancel()

    def load(self, service: "Service", request: LinksRequest) -> None:
        """Load and show the links of a file; late answers to earlier requests are ignored."""
        if request.path != self.path or request.category:
            self.forget_callers()
        self._wanted, self.path = request, request.path
        self.border_title = "Links"
        self.border_subtitle = "⏎ Follow · < Back · > Forward · l Close"
        run_in_thread(self, partial(self._answer, service, request), "links")

    def _answer(self, service: "Service", request: LinksRequest) -> None:
        try:
            self.post_message(RelationAnswered(request, service.relation_page(request)))
        except KeyholeError as error:
            self.post_message(RelationAnswered(request, error))

    def on_relation_answered(self, message: RelationAnswered) -> None:
        """Show the answer to the last request."""
        if message.request != self._wanted or not isinstance(message.request, LinksRequest):
            return
        self._wanted = None
        if isinstance(message.answer, KeyholeError):
            self._links = [LinkRow(f"✗ {one_line(problem_text(message.answer))}", is_title=True)]
        else:
            results, view = message.answer
            rows = link_rows(results.links, view, message.request.category)
            self._links = rows or [LinkRow(line, is_title=True) for line in view.text.splitlines()]
        self._show(None)

    def load_callers(self, service: "Service", path: str, line: int | None) -> None:
        """Load and show who calls the symbol at a line, or the symbols of a file; an earlier request stops."""
        self._deadline.cancel()
        self._deadline, self._callers_wanted = Deadline(LONGEST_WAIT), Place(path, line or 0)
        work = partial(self._find_callers, service, self._callers_wanted, self._deadline)
        run_in_thread(self, work, "callers")

    def forget_callers(self) -> None:
        """Remove the callers: they are those of another file."""
        self._deadline.cancel()
        self._callers, self._callers_wanted = [], None

    def _find_callers(self, service: "Service", place: Place, deadline: Deadline) -> None:
        from keyhole.tui.caller_rows import called_by

        try:
            with within(deadline):
                rows = called_by(service, place.path, place.line or None)
        except KeyholeError as error:
            rows = [LinkRow(f"called by: ✗ {one_line(problem_text(error))}", is_title=True)]
        self.post_message(CallersFound(place, rows))

    def on_callers_found(self, message: CallersFound) -> None:
        """Show the callers above the links; the cursor stays on its row."""
        if message.place is not self._callers_wanted:
            return
        self._callers_wanted, self._callers = None, message.rows
        # The links may be on their way; they are shown with the callers then.
        if self._wanted is None:
            self._show(self.highlighted)

    def _show(self, cursor: int | None) -> None:
        """Show callers and links, with the cursor on the row where it was, or else on the first link."""
        kept = self.rows[cursor] if cursor is not None and cursor < len(self.rows) else None
        self.rows = [*self._callers, *self._links]
        can_follow = [number for number, row in enumerate(self.rows) if not row.is_title]
        first_link = next((number for number in can_follow if number >= len(self._callers)), None)
        # Without links, their only rows say so, at length.
        titled = self._callers if first_link is None else self.rows
        titles = [Content(row.text) for row in titled if row.is_title]
        self.border_title = Content(" · ").join([Content("Links"), *titles])
        same = next((number for number in can_follow if self.rows[number] is kept), None)
        chosen = [number for number in (same, first_link, *can_follow[:1]) if number is not None]
        self.show_rows(len(self.rows), chosen[0] if chosen else None)

    def can_highlight(self, number: int) -> bool:
        """Return whether a row is not a title."""
        return not self.rows[number].is_title

    def draw(self, number: int, width: int) -> list[Content]:
        """Return a row on one line."""
        row = self.rows[number]
        if row.is_title:
            note = (f"  {row.note}" if row.note else "", "$text-muted")
            title = Content.assemble((row.text, "bold $secondary"), note)
            return [title.truncate(width, ellipsis=True, pad=True)]
        style = "$warning" if row.problem else "$text-muted"
        line = Content.assemble(f"  {row.text}", (f"  {row.note}" if row.note else "", style))
        return [line.truncate(width, ellipsis=True, pad=True)]

    def on_row_list_selected(self) -> None:
        """Follow the link under the cursor, or load the next page."""
        row = self.rows[self.highlighted] if self.highlighted is not None and self.rows else None
        if row is None:
            return
        if row.more:
            self.post_message(self.MoreWanted(LinksRequest(self.path, row.more[0], offset=row.more[1])))
        elif row.callers_of:
            self.post_message(self.CallersWanted(row.callers_of))
        elif row.place:
            self.post_message(self.Followed(row.place))
        else:
            self.post_message(self.NotFollowed(row.problem, row.address))
