"""The trail through references: each definition that was followed, with its relation, page and cursor."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from keyhole.core.links.requests import ReferenceRelation, ReferencesRequest
from keyhole.core.view.budget.limits import DEEPEST
from keyhole.tui.history import Place

if TYPE_CHECKING:
    from keyhole.tui.document import ViewPlace

RELATIONS = tuple(ReferenceRelation)


@dataclass(frozen=True, slots=True)
class TrailStep:
    """A definition, given by a line of it or as an agent did, by `symbol`, and what is listed about it.

    `name` is known once there is an answer.
    """

    place: Place
    relation: ReferenceRelation = ReferenceRelation.REFERENCES
    name: str = ""
    # The start of each page up to this one: pages differ in length, since the budget limits them.
    offsets: tuple[int, ...] = (0,)
    cursor: int | None = None
    symbol: str = ""
    # How far the list was scrolled, the tab, and where the view was.
    top: int = 0
    tab: str = ""
    view: "ViewPlace | None" = None

    @property
    def request(self) -> ReferencesRequest:
        """The request, the same as the CLI and MCP make; classes are followed as far as possible, calls by hand."""
        depth = DEEPEST if self.relation == ReferenceRelation.HIERARCHY else 1
        path, line = self.place
        return ReferencesRequest(self.symbol, path, line, self.relation, depth=depth, offset=self.offsets[-1])

    @property
    def page(self) -> int:
        """The number of this page, from 1."""
        return len(self.offsets)

    def with_relation(self, relation: ReferenceRelation) -> "TrailStep":
        """Return the same definition with another relation, at its first page."""
        return self._with(relation=relation, offsets=(0,))

    def with_next_page(self, offset: int) -> "TrailStep":
        """Return the next page, which starts at an offset."""
        return self._with(offsets=(*self.offsets, offset))

    def with_previous_page(self) -> "TrailStep":
        """Return the previous page."""
        return self._with(offsets=self.offsets[:-1] or (0,))

    def _with(self, *, offsets: tuple[int, ...], relation: ReferenceRelation | None = None) -> "TrailStep":
        """Return another list, seen from its start."""
        return replace(self, offsets=offsets, relation=relation or self.relation, cursor=None, top=0, tab="", view=None)
