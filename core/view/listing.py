"""A page of any list: fitted into its budget, with its banner, as text or as JSON."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from keyhole.core.types import Detail, Format
from keyhole.core.view.banner import Page, Section, banner, detail_applied, sections_banner, sections_next, shares
from keyhole.core.view.budget import Budget, Fitting, Ladder, Plan, Size, TruncationInfo, measure
from keyhole.core.view.cursor import write_cursor
from keyhole.core.view.text import json_line, shorten

_LONGEST_NOTE = 120
# Stands for a size that is not known yet: no shorter than any can be.
WIDEST = Size(999_999, 999_999_000, 999_999)


@dataclass(frozen=True, slots=True)
class View:
    """A text exactly as every door gives it out, its banner, and what the budget did to it."""

    text: str
    banner: str
    truncation: TruncationInfo


@dataclass(frozen=True, slots=True)
class ListView(View):
    """A page of a list, and how each result is shown."""

    page: Page
    plan: Plan


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
    latency_ms: float | None = None
    # The starts of several lists, in the place of a page of one.
    sections: tuple[Section, ...] = ()


def list_view(listing: Listing, shown: Shown) -> ListView:
    """Fit a page into its budget and write it."""
    writer = _Writer(listing, shown)
    text, info = settle(writer.writing(), partial(writer.truncation, writer.plan))
    return ListView(text, writer.banner(writer.plan), info, listing.page, writer.plan)


@dataclass(frozen=True, slots=True)
class Writing:
    """A text in two parts of whole lines: what is written once, and what tells the size of both."""

    text: str
    telling: Callable[[TruncationInfo], str] = lambda _: ""

    def whole(self, info: TruncationInfo) -> str:
        """Write all of it."""
        return self.text + self.telling(info)


def settle(writing: Writing, truncation: Callable[[Size], TruncationInfo]) -> tuple[str, TruncationInfo]:
    """Write a text that may tell its own size, and return what it tells."""
    base = measure(writing.text)
    info = truncation(base)
    # A size that grows is told in as many digits or more: so this ends.
    while True:
        told = writing.telling(info)
        seen, info = info, truncation(base + measure(told))
        if info == seen:
            return writing.text + told, info


def head_text(banner: str, notes: Sequence[str]) -> str:
    """Write the lines at the top of a text."""
    return "\n".join([banner, *(f"Note: {note}." for note in notes)]) + "\n"


def note_texts(*notes: str) -> list[str]:
    """Write notes so that none can break a budget."""
    return [shorten(note, _LONGEST_NOTE) for note in notes]


def json_answer(
    banner: str,
    results: Sequence[str],
    facts: Callable[[TruncationInfo], Mapping[str, object]],
    latency_ms: float | None = None,
) -> Writing:
    """Write the one object that every view is in JSON; results are written already, one to a line."""
    written = "".join(f"{result}\n" for result in (*(f"{result}," for result in results[:-1]), *results[-1:]))

    def telling(info: TruncationInfo) -> str:
        rest = [f'"{key}": {json_line(value)}' for key, value in facts(info).items()]
        if latency_ms is not None:
            # Always as long, so that the size does not depend on how long it took; below 1 its sign differs.
            rest.append(f'"latency_ms": {latency_ms if latency_ms >= 1 else 0:.2e}')
        told = ",\n".join(rest)
        return f"],\n{told}\n}}\n"

    return Writing(f'{{\n"banner": {json_line(banner)},\n"results": [\n{written}', telling)


def count_facts(page: Page, shown: int, info: TruncationInfo, cursor: str | None = None) -> dict[str, object]:
    """Tell in JSON how many results there are, how to page, and what the budget did."""
    return {
        "total_count": page.total,
        "returned_count": shown,
        "pagination": {
            "total": page.total,
            "limit": page.limit,
            "offset": page.offset,
            "has_more": page.after(shown) is not None,
            "cursor": cursor,
        },
        "truncated": info.reason is not None,
        "truncation_info": {name: getattr(info, name) for name in TruncationInfo.__slots__},
    }


class _Writer:
    """Writes one page."""

    def __init__(self, listing: Listing, shown: Shown) -> None:
        self._listing = listing
        self._shown = shown
        self._notes = note_texts(*shown.notes, *listing.notes)
        self._is_json = shown.format == Format.JSON
        self._pieces: dict[tuple[int, str], tuple[str, Size]] = {}

    @cached_property
    def plan(self) -> Plan:
        """Which results are shown, and how."""
        ladders = self._listing.ladders(self._shown.detail)
        return Fitting(ladders, self._size_of, self._frame, self._shown.budget).plan()

    def writing(self) -> Writing:
        """Write the whole view."""
        results = [self._piece(number, level)[0] for number, level in enumerate(self.plan.levels)]
        if self._is_json:
            return self._json(self.plan, [result.removesuffix(",\n") for result in results])
        return Writing(self._head(self.plan) + "".join(results))

    def banner(self, plan: Plan) -> str:
        """Write the line at the top."""
        if self._listing.sections:
            return sections_banner(self._listing.sections, plan, self._shown.budget)
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
            next=self._next(after, len(plan.levels)),
        )

    def _next(self, after: int | None, shown: int) -> str:
        if self._listing.sections:
            return sections_next(self._listing.sections, shown)
        return "" if after is None else f"offset={after}"

    @cached_property
    def _at_minimal(self) -> int:
        """Count the results of this page that detail minimal would show."""
        if self._shown.detail == Detail.MINIMAL or self._shown.has_clamped_limit:
            return 0
        return len(_Writer(self._listing, replace(self._shown, detail=Detail.MINIMAL)).plan.levels)

    def _size_of(self, number: int, level: str) -> Size:
        return self._piece(number, level)[1]

    def _piece(self, number: int, level: str) -> tuple[str, Size]:
        """Write and measure one result, once."""
        if (number, level) not in self._pieces:
            text = self._rendered(number, level)
            self._pieces[number, level] = text, measure(text)
        return self._pieces[number, level]

    def _rendered(self, number: int, level: str) -> str:
        if self._is_json:
            return f"{json_line(self._listing.facts_of(number, level))},\n"
        return self._listing.text_of(number, level)

    def _frame(self, plan: Plan) -> str:
        """Write everything but the results, at its longest."""
        return self._json(plan, []).whole(self.truncation(plan, WIDEST)) if self._is_json else self._head(plan)

    def _head(self, plan: Plan) -> str:
        return head_text(self.banner(plan), self._notes)

    def _json(self, plan: Plan, results: list[str]) -> Writing:
        listing, after = self._listing, self._listing.page.after(len(plan.levels))
        is_paged = after is not None and not listing.sections
        cursor = write_cursor(listing.request, listing.generation, after or 0) if is_paged else None
        facts: dict[str, object] = {}
        if listing.sections:
            told = shares(listing.sections, len(plan.levels))
            facts["categories"] = {part.name: {"total": part.total, "returned": here} for part, here in told}
        facts |= {"notes": self._notes, **listing.facts}
        count = partial(count_facts, listing.page, len(plan.levels), cursor=cursor)
        return json_answer(self.banner(plan), results, lambda info: {**count(info=info), **facts}, listing.latency_ms)
