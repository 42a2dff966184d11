"""The links of the file that is open: a list to walk through."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

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
    """Outgoing, broken, external and incoming links; one is followed with the keyboard."""

    HELP_TITLE = "In the links"

    @dataclass
    class Followed(Message):
        """A link was followed to a place."""

        place: Place

    @dataclass
    class NotFollowed(Message):
        """A link leads nowhere in the workspace; `address` is where it leads else."""

        problem: str
        address: str

    @dataclass
    class MoreWanted(Message):
        """The next page of a category is wanted."""

        request: LinksRequest

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        self.path = ""
        self.rows: list[LinkRow] = []
        self._wanted: LinksRequest | None = None

    @property
    def is_settled(self) -> bool:
        """Whether everything asked for is on the screen."""
        return self._wanted is None

    def ask(self, service: "Service", request: LinksRequest) -> None:
        """Show the links of a file once they are known; a late answer to an earlier question is dropped."""
        self._wanted, self.path = request, request.path
        self.border_title = "links"
        self.border_subtitle = "⏎ follows · < back · > forward · l closes"
        self.run_worker(partial(self._answer, service, request), thread=True, name="links")

    def _answer(self, service: "Service", request: LinksRequest) -> None:
        try:
            self.post_message(RelationAnswered(request, service.relation_page(request)))
        except KeyholeError as error:
            self.post_message(RelationAnswered(request, error))

    def on_relation_answered(self, message: RelationAnswered) -> None:
        """Show what was asked for last."""
        if message.request != self._wanted or not isinstance(message.request, LinksRequest):
            return
        self._wanted = None
        if isinstance(message.answer, KeyholeError):
            self.rows = [LinkRow(f"✗ {one_line(problem_text(message.answer))}", is_title=True)]
        else:
            results, view = message.answer
            rows = link_rows(results.links, view, message.request.category)
            self.rows = rows or [LinkRow("no links from this file or to it", is_title=True)]
        titles = [Content(row.text) for row in self.rows if row.is_title and len(self.rows) > 1]
        self.border_title = Content(" · ").join([Content("links"), *titles])
        self.show_rows(len(self.rows), 1 if len(self.rows) > 1 else None)

    def can_highlight(self, number: int) -> bool:
        """Pass over titles."""
        return not self.rows[number].is_title

    def draw(self, number: int, width: int) -> list[Content]:
        """Write a row on one line."""
        row = self.rows[number]
        if row.is_title:
            return [Content.styled(row.text, "bold $secondary").truncate(width, ellipsis=True, pad=True)]
        style = "$warning" if row.problem else "$text-muted"
        line = Content.assemble(f"  {row.text}", (f"  {row.note}" if row.note else "", style))
        return [line.truncate(width, ellipsis=True, pad=True)]

    def on_row_list_selected(self) -> None:
        """Follow the link under the cursor, or go to the next page."""
        row = self.rows[self.highlighted] if self.highlighted is not None and self.rows else None
        if row is None:
            return
        if row.more:
            self.post_message(self.MoreWanted(LinksRequest(self.path, row.more[0], offset=row.more[1])))
        elif row.place:
            self.post_message(self.Followed(row.place))
        else:
            self.post_message(self.NotFollowed(row.problem, row.address))
