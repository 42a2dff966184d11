"""The state of the Explore screen's search: line, detail, budget and page."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from keyhole.core.types.choices import Detail
from keyhole.core.view.budget.limits import DEFAULT_TOKENS
from keyhole.tui.query_syntax import read_query

if TYPE_CHECKING:
    from keyhole.core.types.view_requests import SearchRequest

DETAILS = (Detail.MINIMAL, Detail.COMPACT, Detail.RICH, Detail.AUTO)
BUDGETS = (1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 10_000, 15_000, 20_000, 25_000)


@dataclass(frozen=True, slots=True)
class Variant:
    """Another detail or budget for the same search, to compare with."""

    detail: Detail | None = None
    max_tokens: int | None = None

    def of(self, request: "SearchRequest") -> "SearchRequest":
        """Return the request with this detail or budget."""
        if self.detail:
            request = replace(request, detail_level=self.detail)
        return replace(request, max_tokens=self.max_tokens) if self.max_tokens else request

    def __str__(self) -> str:
        return str(self.detail) if self.detail else f"budget {self.max_tokens:,}"


def next_budget(tokens: int, step: int) -> int:
    """Return the budget some steps larger or smaller, within the allowed range."""
    # A call of an agent may have a budget between two of ours.
    place = bisect_left(BUDGETS, tokens) if step < 0 else bisect_right(BUDGETS, tokens) - 1
    return BUDGETS[min(max(place + step, 0), len(BUDGETS) - 1)]


@dataclass(frozen=True, slots=True)
class SearchState:
    """Holds everything that defines a search; immutable."""

    line: str = ""
    detail: Detail = Detail.COMPACT
    max_tokens: int = DEFAULT_TOKENS
    # The start of each page up to this one: pages differ in length, since the budget limits them.
    offsets: tuple[int, ...] = (0,)
    # How many results a page has; None: as the line says, or as many as usual.
    limit: int | None = None

    @property
    def request(self) -> "SearchRequest":
        """The search as a request, the same as the CLI and MCP make."""
        asked = read_query(self.line)
        return replace(
            asked,
            detail_level=self.detail,
            max_tokens=self.max_tokens,
            offset=self.offsets[-1],
            limit=self.limit or asked.limit,
        )

    @property
    def page(self) -> int:
        """The number of this page, from 1."""
        return len(self.offsets)

    def with_line(self, line: str) -> "SearchState":
        """Return a search for another line, at its first page."""
        return replace(self, line=line, offsets=(0,), limit=None)

    def with_detail(self, step: int) -> "SearchState":
        """Return the search at the next detail; after the last comes the first."""
        detail = DETAILS[(DETAILS.index(self.detail) + step) % len(DETAILS)]
        return replace(self, detail=detail, offsets=(0,), limit=None)

    def with_budget(self, step: int) -> "SearchState":
        """Return the search with a larger or smaller budget."""
        return replace(self, max_tokens=next_budget(self.max_tokens, step), offsets=(0,), limit=None)

    def with_limits(self, detail: str, max_tokens: object) -> "SearchState":
        """Return the search with the detail and budget of a call; invalid values are ignored."""
        return replace(
            self,
            detail=Detail(detail) if detail in list(Detail) else self.detail,
            max_tokens=max_tokens if isinstance(max_tokens, int) and max_tokens > 0 else self.max_tokens,
        )

    def with_next_page(self, offset: int) -> "SearchState":
        """Return the search at the next page, which starts at an offset."""
        return replace(self, offsets=(*self.offsets, offset))

    def with_previous_page(self) -> "SearchState":
        """Return the search at the previous page, with as many results as usual."""
        return replace(self, offsets=self.offsets[:-1] or (0,), limit=None)

    def with_result_in_full(self, position: int) -> "SearchState":
        """Return the search at a page that starts with a shortened result of this page, or that has only the first.

        The budget shortens the first results of a page last, and a result that is alone only if it is too large.
        """
        return replace(self, offsets=(*self.offsets, self.offsets[-1] + position), limit=None if position else 1)

    def variants(self) -> list[Variant]:
        """Return the variants to compare with: each other detail, then the budgets around this one."""
        details = [Variant(detail=detail) for detail in (*DETAILS[2:], *DETAILS[:2]) if detail != self.detail]
        place = min(bisect_left(BUDGETS, self.max_tokens), len(BUDGETS) - 1)
        near = [BUDGETS[there] for there in (0, place - 2, place + 2) if 0 <= there < len(BUDGETS)]
        return details + [Variant(max_tokens=budget) for budget in dict.fromkeys(near) if budget != self.max_tokens]
