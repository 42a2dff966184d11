"""The trail through references: each definition that was followed, with its relation, page and cursor."""

from dataclasses import dataclass, replace

from keyhole.core.links.requests import ReferenceRelation, ReferencesRequest
from keyhole.core.view.budget.limits import DEEPEST
from keyhole.tui.history import Place

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
        return replace(self, relation=relation, offsets=(0,), cursor=None)

    def with_next_page(self, offset: int) -> "TrailStep":
        """Return the next page, which starts at an offset."""
        return replace(self, offsets=(*self.offsets, offset), cursor=None)

    def with_previous_page(self) -> "TrailStep":
        """Return the previous page."""
        return replace(self, offsets=self.offsets[:-1] or (0,), cursor=None)
