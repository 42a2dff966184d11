"""A page of any list: fitted into its budget, with its banner, as text or as JSON."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property

from keyhole.core.types import Detail, Format
from keyhole.core.view.banner import Page, banner, detail_applied
from keyhole.core.view.budget import Budget, Fitting, Ladder, Plan, Size, TruncationInfo, measure
from keyhole.core.view.cursor import write_cursor
from keyhole.core.view.text import json_line, shorten

_LONGEST_NOTE = 120
# Stands for a size that is not known yet: no shorter than any can be.
_WIDEST = Size(999_999, 999_999_000)


@dataclass(frozen=True, slots=True)
class View:
    """A text exactly as every door gives it out, and the facts behind it."""

    text: str
    banner: str
    page: Page
    plan: Plan
    truncation: TruncationInfo


@dataclass(frozen=True, slots=True)
class Shown:
    """How a list is to be shown; `notes` say what was changed about the request."""

    detail: Detail = Detail.COMPACT
    format: Format = Format.TEXT
    budget: Budget = field(default_factory=Budget)
    notes: tuple[str, ...] = ()

    @property
    def has_clamped_limit(self) -> bool:
        """Whether a page has fewer results than were asked for."""
        return any(note.startswith("limit=") for note in self.notes)


@dataclass(frozen=True, slots=True)
class Listing:
    """What a list view shows: one page of results that can be written at several levels, and facts about them."""

    page: Page
    count: int
    ladders: Callable[[Detail], Sequence[Ladder]]
    text_of: Callable[[int, str], str]
    facts_of: Callable[[int, str], Mapping[str, object]]
    request: bytes
    generation: int
    notes: tuple[str, ...] = ()
    # How to see the first result when no budget holds it.
    otherwise: str = ""
    # What JSON tells besides.
    facts: Mapping[str, object] = field(default_factory=dict)


def list_view(listing: Listing, shown: Shown) -> View:
    """Fit a page into its budget and write it."""
    writer = _Writer(listing, shown)
    plan = writer.plan
    results, size = writer.results()
    info = writer.truncation(plan, _WIDEST)
    # Only JSON tells its own size, which may change by a digit.
    while info != (measured := writer.truncation(plan, size + measure(writer.around("", info)))):
        info = measured
    return View(writer.around(results, info), writer.banner(plan), listing.page, plan, info)


class _Writer:
    """Writes one page."""

    def __init__(self, listing: Listing, shown: Shown) -> None:
        self._listing = listing
        self._shown = shown
        self._notes = [shorten(note, _LONGEST_NOTE) for note in (*shown.notes, *listing.notes)]
        self._is_json = shown.format == Format.JSON
        self._pieces: dict[tuple[int, str], tuple[str, Size]] = {}

    @cached_property
    def plan(self) -> Plan:
        """Which results are shown, and how."""
        ladders = self._listing.ladders(self._shown.detail)
        return Fitting(
            ladders, lambda number, level: self._piece(number, level)[1], self._frame, self._shown.budget
        ).plan()

    def results(self) -> tuple[str, Size]:
        """Write the results, and say what they cost: the pieces are whole lines, whose sizes add up."""
        pieces = [self._piece(number, level) for number, level in enumerate(self.plan.levels)]
        if pieces and self._is_json:
            last = pieces[-1][0].removesuffix(",\n") + "\n"
            pieces[-1] = last, measure(last)
        return "".join(text for text, _ in pieces), sum((size for _, size in pieces), Size(0, 0))

    def around(self, results: str, info: TruncationInfo) -> str:
        """Write the whole view around the results."""
        return self._json(self.plan, info, results) if self._is_json else self._head(self.plan) + results

    def banner(self, plan: Plan) -> str:
        """Write the line at the top."""
        is_dropped = len(plan.levels) < self._listing.count
        at_minimal = self._at_minimal if plan.reason and is_dropped else 0
        return banner(
            self._listing.page, plan, self._shown.budget, at_minimal=at_minimal, otherwise=self._listing.otherwise
        )

    def truncation(self, plan: Plan, size: Size) -> TruncationInfo:
        """Tell what the budget did."""
        after = self._listing.page.after(len(plan.levels))
        return TruncationInfo(
            reason=plan.reason,
            original_count=self._listing.count,
            returned_count=len(plan.levels),
            estimated_chars=size.chars,
            limit_chars=self._shown.budget.chars,
            estimated_tokens=size.tokens,
            limit_tokens=self._shown.budget.tokens,
            detail_requested=self._shown.detail,
            detail_applied=detail_applied(self._listing.page, plan),
            next="" if after is None else f"offset={after}",
        )

    @cached_property
    def _at_minimal(self) -> int:
        """Count the results of this page that detail minimal would show."""
        if self._shown.detail == Detail.MINIMAL or self._shown.has_clamped_limit:
            return 0
        return len(_Writer(self._listing, replace(self._shown, detail=Detail.MINIMAL)).plan.levels)

    def _piece(self, number: int, level: str) -> tuple[str, Size]:
        """Write one result, once."""
        if (number, level) not in self._pieces:
            text = self._rendered(number, level)
            self._pieces[number, level] = text, measure(text)
        return self._pieces[number, level]

    def _size_of(self, number: int, level: str) -> Size:
        return self._piece(number, level)[1]

    def _rendered(self, number: int, level: str) -> str:
        if self._is_json:
            return f"{json_line(self._listing.facts_of(number, level))},\n"
        return self._listing.text_of(number, level)

    def _frame(self, plan: Plan) -> str:
        """Write everything but the results, at its longest."""
        return self._json(plan, self.truncation(plan, _WIDEST), "") if self._is_json else self._head(plan)

    def _head(self, plan: Plan) -> str:
        return "\n".join([self.banner(plan), *(f"Note: {note}." for note in self._notes)]) + "\n"

    def _json(self, plan: Plan, info: TruncationInfo, results: str) -> str:
        listing, after = self._listing, self._listing.page.after(len(plan.levels))
        rest = {
            "total_count": listing.page.total,
            "returned_count": len(plan.levels),
            "pagination": {
                "total": listing.page.total,
                "limit": listing.page.limit,
                "offset": listing.page.offset,
                "has_more": after is not None,
                "cursor": None if after is None else write_cursor(listing.request, listing.generation, after),
            },
            "truncated": info.reason is not None,
            "truncation_info": asdict(info),
            "notes": self._notes,
            **listing.facts,
        }
        facts = ",\n".join(f"{json_line(key)}: {json_line(value)}" for key, value in rest.items())
        return f'{{\n"banner": {json_line(self.banner(plan))},\n"results": [\n{results}],\n{facts}\n}}\n'
