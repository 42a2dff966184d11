"""A page of any list, fitted into its budget, with its banner, as text or as JSON."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple

from keyhole.core.notes import Note, NoteKind
from keyhole.core.types.choices import Detail, Format
from keyhole.core.types.missing import NothingFound
from keyhole.core.view.budget.fitting import Fitting, Ladder, Plan
from keyhole.core.view.budget.sizes import Budget, Size, TruncationInfo, measure
from keyhole.core.view.lists.banner import (
    Section,
    ShownPage,
    banner,
    detail_applied,
    empty_banner,
    page_gaps,
    sections_banner,
    shares,
)
from keyhole.core.view.lists.cursor import write_cursor
from keyhole.core.view.lists.nothing_text import nothing_facts, nothing_notes
from keyhole.core.view.masked import MaskedPlace, masked_facts, masked_sentence
from keyhole.core.view.text import json_line
from keyhole.core.view.text_parts import PartKind, Parts, TextGap, TextPart, joined, of_result
from keyhole.core.view.writing import (
    WIDEST,
    Draft,
    Page,
    View,
    count_facts,
    finish,
    head_parts,
    json_answer,
    note_texts,
)


@dataclass(frozen=True, slots=True)
class ListView(View):
    """A page of a list, and how each result is shown; `size_of` measures a result at a level, even one left out.

    `notes` are those below the banner.
    """

    page: Page
    plan: Plan
    size_of: Callable[[int, str], Size] = field(compare=False, repr=False)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """How to show a list; `notes` say what was changed about the request."""

    detail: Detail = Detail.COMPACT
    format: Format = Format.TEXT
    budget: Budget = field(default_factory=Budget)
    notes: tuple[Note, ...] = ()
    # How many lines to show around a line that matches a pattern.
    context_lines: int = 0
    # Whether source has line numbers; without, it is in a fence.
    line_numbers: bool = True

    @property
    def has_clamped_limit(self) -> bool:
        """Whether a page has fewer results than were asked for."""
        return any(note.kind == NoteKind.LIMIT_LOWERED for note in self.notes)


@dataclass(frozen=True, slots=True)
class Listing:
    """What a list view shows: one page of results that can be written at several levels, and facts about it."""

    page: Page
    count: int
    ladders: Callable[[Detail], Sequence[Ladder]]
    parts_of: Callable[[int, str], Parts]
    facts_of: Callable[[int, str], Mapping[str, object]]
    request: bytes
    generation: int
    notes: tuple[Note, ...] = ()
    # Why files are missing from the index; empty if none are.
    incomplete: str = ""
    # What was looked for, if nothing was found and the index is complete.
    nothing: NothingFound | None = None
    # How to see the first result when it is too large for the budget.
    too_large_step: str = ""
    # Further facts for JSON.
    facts: Mapping[str, object] = field(default_factory=dict)
    latency_ms: float | None = None
    # The starts of several lists, instead of a page of one.
    sections: tuple[Section, ...] = ()
    # What the banner says after the total, if the results are not just results.
    unit: str = ""
    # A sentence at the end of the banner.
    aside: str = ""
    # Whether anything may be masked, and what is masked in a result that is written as a text.
    has_masks: bool = True
    masks_of: Callable[[int, str, str], Iterable[MaskedPlace]] = lambda *_: ()
    # How to write the banner and the notes, and what follows the results.
    head: Callable[[str, Sequence[str]], list[TextPart]] = head_parts
    tail: str = ""
    # Whether a cursor continues the list.
    has_cursor: bool = True


def list_view(listing: Listing, shown: Shown) -> ListView:
    """Fit a page into its budget and write it."""
    writer = _Writer(listing, shown)
    text, info = finish(writer.draft(), partial(writer.truncation, writer.plan))
    page = writer.shown_page(writer.plan)
    return ListView(
        text,
        writer.banner(writer.plan),
        page.completeness,
        info,
        listing.page,
        writer.plan,
        writer.size_of,
        writer.notes,
        parts=writer.parts,
        gaps=writer.gaps(page),
    )


class _Piece(NamedTuple):
    """A result at a level: its text, and the parts of the text, unless it is JSON."""

    text: str
    parts: Parts = ()


class _Writer:
    """Writes one page."""

    def __init__(self, listing: Listing, shown: Shown) -> None:
        self._listing = listing
        self._shown = shown
        self.notes = tuple(note_texts(*shown.notes, *listing.notes, *nothing_notes(listing.nothing)))
        self._is_json = shown.format == Format.JSON
        self._pieces: dict[tuple[int, str], _Piece] = {}
        self._sizes: dict[tuple[int, str], Size] = {}
        self._masks: dict[tuple[int, str], tuple[MaskedPlace, ...]] = {}

    @cached_property
    def plan(self) -> Plan:
        """Which results are shown, and at which level."""
        ladders = self._listing.ladders(self._shown.detail)
        return Fitting(ladders, self._text_of, self.size_of, self._frame, self._shown.budget).plan()

    def draft(self) -> Draft:
        """Return the whole view, as text or JSON."""
        if self._is_json:
            results = [self._piece(number, level).text for number, level in enumerate(self.plan.levels)]
            return self._json(self.plan, [result.removesuffix(",\n") for result in results])
        return Draft(joined(self.parts))

    @cached_property
    def parts(self) -> Parts:
        """What the lines of the text are; none in JSON."""
        if self._is_json:
            return ()
        parts = self._head(self.plan)
        for number, level in enumerate(self.plan.levels):
            parts += of_result(self._piece(number, level).parts, number)
        return [*parts, *self._tail]

    def gaps(self, page: ShownPage) -> tuple[TextGap, ...]:
        """Return where the text lacks something."""
        if self._is_json or not page.shown:
            return ()
        lowered = page.plan.lowered_from
        before_lowered = next((n for n, part in enumerate(self.parts) if part.result == lowered), len(self.parts))
        return tuple(page_gaps(page, before_lowered, len(self.parts) - len(self._tail)))

    def shown_page(self, plan: Plan) -> ShownPage:
        """Return the page as a plan shows it."""
        return ShownPage(
            self._listing.page,
            self._listing.count,
            plan,
            self._listing.sections,
            self._listing.unit,
            self._listing.aside,
        )

    def banner(self, plan: Plan) -> str:
        """Return the line at the top."""
        return self._page_banner(plan) + masked_sentence(self._masked(plan))

    def _page_banner(self, plan: Plan) -> str:
        page = self.shown_page(plan)
        if self._listing.sections and not self._listing.nothing:
            return sections_banner(page, self._shown.budget)
        at_minimal = self._at_minimal if page.shown < page.count else 0
        if not page.shown:
            return empty_banner(page, self._listing.incomplete, self._listing.nothing)
        return banner(page, self._shown.budget, at_minimal=at_minimal, too_large_step=self._listing.too_large_step)

    def truncation(self, plan: Plan, size: Size) -> TruncationInfo:
        """Return what the budget did."""
        return TruncationInfo(
            reason=plan.reason,
            original_count=self._listing.count,
            returned_count=len(plan.levels),
            estimated_chars=size.chars,
            limit_chars=self._shown.budget.limit_chars,
            estimated_tokens=size.tokens,
            limit_tokens=self._shown.budget.tokens,
            detail_requested=self._shown.detail,
            detail_applied=detail_applied(self._listing.page, plan),
            next=self.shown_page(plan).next,
        )

    @cached_property
    def _at_minimal(self) -> int:
        """How many results of this page would fit at detail_level=minimal."""
        if self._shown.detail == Detail.MINIMAL or self._shown.has_clamped_limit:
            return 0
        other = _Writer(self._listing, replace(self._shown, detail=Detail.MINIMAL))
        # A result at a level is the same whatever was asked for, and writing takes most of the time.
        other._pieces, other._sizes, other._masks = self._pieces, self._sizes, self._masks
        return len(other.plan.levels)

    def size_of(self, number: int, level: str) -> Size:
        """Return the size of one result."""
        if (number, level) not in self._sizes:
            self._sizes[number, level] = measure(self._text_of(number, level))
        return self._sizes[number, level]

    def _text_of(self, number: int, level: str) -> str:
        return self._piece(number, level).text

    def _piece(self, number: int, level: str) -> _Piece:
        """Return one result; each is written only once."""
        piece = self._pieces.get((number, level))
        if piece is None:
            parts = () if self._is_json else self._listing.parts_of(number, level)
            text = self._json_row(number, level) if self._is_json else joined(parts)
            piece = self._pieces[number, level] = _Piece(text, parts)
        return piece

    def _masked(self, plan: Plan) -> list[MaskedPlace]:
        """Return what is masked in the results that are shown."""
        # Most answers are about files without any, and looking for them would write every result.
        if not self._listing.has_masks:
            return []
        found = (self._masked_in(number, level) for number, level in enumerate(plan.levels))
        return list(dict.fromkeys(place for places in found for place in places))

    def _masked_in(self, number: int, level: str) -> tuple[MaskedPlace, ...]:
        if (number, level) not in self._masks:
            text = self._piece(number, level).text
            self._masks[number, level] = tuple(self._listing.masks_of(number, level, text))
        return self._masks[number, level]

    def _json_row(self, number: int, level: str) -> str:
        return f"{json_line(self._listing.facts_of(number, level))},\n"

    def _frame(self, plan: Plan) -> str:
        """Return everything but the results, at its longest."""
        if self._is_json:
            return self._json(plan, []).with_info(self.truncation(plan, WIDEST))
        return joined([*self._head(plan), *self._tail])

    def _head(self, plan: Plan) -> list[TextPart]:
        return self._listing.head(self.banner(plan), self.notes)

    @property
    def _tail(self) -> list[TextPart]:
        return [TextPart(PartKind.CONTEXT, self._listing.tail)] if self._listing.tail else []

    def _json(self, plan: Plan, results: list[str]) -> Draft:
        listing, after = self._listing, self._listing.page.after(len(plan.levels))
        is_paged = after is not None and listing.has_cursor and not listing.sections
        cursor = write_cursor(listing.request, listing.generation, after or 0) if is_paged else None
        facts: dict[str, object] = {}
        if listing.sections:
            shared = shares(listing.sections, len(plan.levels))
            facts["categories"] = {part.name: {"total": part.total, "returned": here} for part, here in shared}
        facts |= nothing_facts(listing.nothing)
        facts |= {"notes": self.notes, **listing.facts, **masked_facts(self._masked(plan), self._shown.budget)}
        count = partial(count_facts, listing.page, len(plan.levels), cursor=cursor)
        return json_answer(self.banner(plan), results, lambda info: {**count(info=info), **facts}, listing.latency_ms)
