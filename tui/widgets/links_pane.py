"""The pane with the links of the open file."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from keyhole.core.errors import KeyholeError
from keyhole.core.links.requests import LinksRequest
from keyhole.core.view.text import one_line
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.history import Place
from keyhole.tui.link_rows import LinkRow, link_rows
from keyhole.tui.messages import RelationAnswered
from keyhole.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from keyhole.core.service import Service


class LinksPane(RowList):
    """Lists internal, broken, external and incoming links; Enter follows one."""

    HELP_TITLE = "Links"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select", "Follow", tooltip="Follow the link")]

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

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        self.path = ""
        self.rows: list[LinkRow] = []
        self._wanted: LinksRequest | None = None

    @property
    def is_settled(self) -> bool:
        """Whether everything requested is on the screen."""
        return self._wanted is None

    def load(self, service: "Service", request: LinksRequest) -> None:
        """Load and show the links of a file; late answers to earlier requests are ignored."""
        self._wanted, self.path = request, request.path
        self.border_title = "Links"
        self.border_subtitle = "⏎ Follow · < Back · > Forward · l Close"
        self.run_worker(partial(self._answer, service, request), thread=True, name="links")

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
            self.rows = [LinkRow(f"✗ {one_line(problem_text(message.answer))}", is_title=True)]
        else:
            results, view = message.answer
            rows = link_rows(results.links, view, message.request.category)
            self.rows = rows or [LinkRow(line, is_title=True) for line in view.text.splitlines()]
        has_links = any(not row.is_title for row in self.rows)
        titles = [Content(row.text) for row in self.rows if row.is_title and has_links]
        self.border_title = Content(" · ").join([Content("Links"), *titles])
        self.show_rows(len(self.rows), 1 if has_links else None)

    def can_highlight(self, number: int) -> bool:
        """Return whether a row is not a title."""
        return not self.rows[number].is_title

    def draw(self, number: int, width: int) -> list[Content]:
        """Return a row on one line."""
        row = self.rows[number]
        if row.is_title:
            return [Content.styled(row.text, "bold $secondary").truncate(width, ellipsis=True, pad=True)]
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
        elif row.place:
            self.post_message(self.Followed(row.place))
        else:
            self.post_message(self.NotFollowed(row.problem, row.address))
