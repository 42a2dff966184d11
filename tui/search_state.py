"""What the Explore screen asks for: the line as typed, the detail, the budget and the page."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace

from keyhole.core.types import Detail, SearchRequest
from keyhole.core.view.budget.limits import DEFAULT_TOKENS
from keyhole.tui.query_syntax import read_query

DETAILS = (Detail.MINIMAL, Detail.COMPACT, Detail.RICH, Detail.AUTO)
BUDGETS = (1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 10_000, 15_000, 20_000, 25_000)


@dataclass(frozen=True, slots=True)
class Variant:
    """Another way to ask the same: a detail or a budget to compare with."""

    detail: Detail | None = None
    max_tokens: int | None = None

    def of(self, request: SearchRequest) -> SearchRequest:
        """Ask that way."""
        if self.detail:
            request = replace(request, detail_level=self.detail)
        return replace(request, max_tokens=self.max_tokens) if self.max_tokens else request

    def __str__(self) -> str:
        return str(self.detail) if self.detail else f"budget {self.max_tokens:,}"


def next_budget(tokens: int, step: int) -> int:
    """Return the budget so many steps larger or smaller, up to what is allowed."""
    # An agent may have asked for a budget between two of them.
    place = bisect_left(BUDGETS, tokens) if step < 0 else bisect_right(BUDGETS, tokens) - 1
    return BUDGETS[min(max(place + step, 0), len(BUDGETS) - 1)]


@dataclass(frozen=True, slots=True)
class SearchState:
    """One way to ask; every change makes a new one."""

    line: str = ""
    detail: Detail = Detail.COMPACT
    max_tokens: int = DEFAULT_TOKENS
    # Where each page up to this one starts: pages have as many results as the budget let through.
    offsets: tuple[int, ...] = (0,)

    @property
    def request(self) -> SearchRequest:
        """Write it as every door would."""
        return replace(
            read_query(self.line), detail_level=self.detail, max_tokens=self.max_tokens, offset=self.offsets[-1]
        )

    @property
    def page(self) -> int:
        """Which page this is, from 1."""
        return len(self.offsets)

    def with_line(self, line: str) -> "SearchState":
        """Ask for something else, from its first page."""
        return replace(self, line=line, offsets=(0,))

    def with_detail(self, step: int) -> "SearchState":
        """Ask for the next level of detail, around in a circle."""
        detail = DETAILS[(DETAILS.index(self.detail) + step) % len(DETAILS)]
        return replace(self, detail=detail, offsets=(0,))

    def with_budget(self, step: int) -> "SearchState":
        """Ask for more or less, up to what is allowed."""
        return replace(self, max_tokens=next_budget(self.max_tokens, step), offsets=(0,))

    def with_limits(self, detail: str, max_tokens: object) -> "SearchState":
        """Ask with the detail and the budget of a call; what makes no sense stays as it is."""
        return replace(
            self,
            detail=Detail(detail) if detail in list(Detail) else self.detail,
            max_tokens=max_tokens if isinstance(max_tokens, int) and max_tokens > 0 else self.max_tokens,
        )

    def with_next_page(self, offset: int) -> "SearchState":
        """Go on where the answer ended."""
        return replace(self, offsets=(*self.offsets, offset))

    def with_previous_page(self) -> "SearchState":
        """Go back to where the page before started."""
        return replace(self, offsets=self.offsets[:-1] or (0,))

    def variants(self) -> list[Variant]:
        """List the other ways to ask the same: each other detail, then the budgets next to this one."""
        details = [Variant(detail=detail) for detail in (*DETAILS[2:], *DETAILS[:2]) if detail != self.detail]
        place = min(bisect_left(BUDGETS, self.max_tokens), len(BUDGETS) - 1)
        near = [BUDGETS[there] for there in (0, place - 2, place + 2) if 0 <= there < len(BUDGETS)]
        return details + [Variant(max_tokens=budget) for budget in dict.fromkeys(near) if budget != self.max_tokens]
