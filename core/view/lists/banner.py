"""The banner: one line at the top that says what is shown, what is missing, and what to do next."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from keyhole.core.types.completeness import Completeness
from keyhole.core.types.missing import NothingFound, StaleReason
from keyhole.core.view.budget.fitting import Plan
from keyhole.core.view.budget.sizes import Budget
from keyhole.core.view.lists.nothing_text import nothing_banner
from keyhole.core.view.text_parts import TextGap
from keyhole.core.view.writing import Page

# Far into a long list, the numbers of what is left out would push the next step past the first 120 characters, where
# clients still show the line. How many are left out is enough there.
_LONGEST_RANGE = len("1,001-1,050")


@dataclass(frozen=True, slots=True)
class Section:
    """One of several lists that an answer shows the start of: its name, its results on this page, and all of them."""

    name: str
    count: int
    total: int


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page of a list as planned: `count` results were to be shown, the plan says which are."""

    page: Page
    count: int
    plan: Plan
    sections: Sequence[Section] = ()
    # What follows the total: ` matching lines in 3 files`.
    unit: str = ""
    # A sentence after the next steps, which must stand near the start.
    aside: str = ""

    @property
    def shown(self) -> int:
        """How many results are shown."""
        return len(self.plan.levels)

    @property
    def completeness(self) -> Completeness:
        """What the page lacks."""
        if self.shown < self.count:
            return Completeness.LEFT_OUT
        if self.plan.lowered_from < self.shown:
            return Completeness.SHORTENED
        return Completeness.MORE_PAGES if self.next else Completeness.COMPLETE

    @property
    def next(self) -> str:
        """The parameters of the next page, empty after the last."""
        if self.sections:
            return sections_next(self.sections, self.shown)
        after = self.page.after(self.shown)
        return "" if after is None else f"offset={after}"

    def numbers(self, first: int, last: int) -> str:
        """Return the numbers of some results of this page, as people count them: `7-20`, or `7`."""
        start, end = self.page.offset + first + 1, self.page.offset + last
        return f"{start:,}" if start == end else f"{start:,}-{end:,}"


def shares(sections: Sequence[Section], shown: int) -> Iterator[tuple[Section, int]]:
    """Yield each section with how many of its results are among the first `shown`."""
    for section in sections:
        here = min(section.count, shown)
        shown -= here
        yield section, here


def sections_banner(page: ShownPage, budget: Budget) -> str:
    """Return the banner of several lists."""
    shared = list(shares(page.sections, page.shown))
    parts = [f"{part.name} {f'1-{here}' if here else 'none'} of {part.total:,}" for part, here in shared if part.total]
    parts += [f"no {part.name}" for part, _ in shared if not part.total]
    left_out = _left_out_of_sections(page)
    text = f"Links: {', '.join(parts)}."
    text += f" {budget.limit_text(page.plan.reason)}: {left_out} left out." if page.plan.reason else ""
    return text + (f" Next page: {page.next}." if page.next else "")


def _left_out_of_sections(page: ShownPage) -> str:
    shared = shares(page.sections, page.shown)
    return ", ".join(f"{part.name} {here + 1}-{part.count}" for part, here in shared if here < part.count)


def sections_next(sections: Sequence[Section], shown: int) -> str:
    """Return the parameters of the next page of each section that has more."""
    shared = shares(sections, shown)
    return ", or ".join(f"category={part.name} offset={here}" for part, here in shared if here < part.total)


def banner(page: ShownPage, budget: Budget, *, at_minimal: int = 0, too_large_step: str = "") -> str:
    """Return the banner of a list view that shows results.

    `at_minimal` is how many results the lowest detail would show; `too_large_step` says how to see a first result that
    is too large for the budget.
    """
    noun = "Result" if page.shown == 1 else "Results"
    text = f"{noun} {page.numbers(0, page.shown)} of {page.page.total:,}{page.unit}."
    if page.plan.reason:
        text += f" {budget.limit_text(page.plan.reason)}: {', '.join(_missing(page))}."
    return " ".join([text, *_steps(page, at_minimal, too_large_step), *([page.aside] if page.aside else [])])


def page_gaps(page: ShownPage, before_lowered: int, end: int) -> Iterator[TextGap]:
    """Yield what is missing from a page that shows results, and after how many parts of the text.

    `before_lowered` parts come before the first shortened result, and `end` parts are there in all.
    """
    lowered = page.plan.lowered_from
    if lowered < page.shown:
        step = f"offset={page.page.offset + lowered}" if lowered else "limit=1"
        is_only = lowered == 0 and page.plan.reason == "single_result_too_large"
        numbers = page.numbers(lowered, page.shown)
        yield TextGap(before_lowered, Completeness.SHORTENED, numbers, "" if is_only else step)
    if page.shown < page.count:
        numbers = _left_out_of_sections(page) if page.sections else page.numbers(page.shown, page.count)
        yield TextGap(end, Completeness.LEFT_OUT, numbers, page.next)
    elif page.next:
        rest = "" if page.sections else page.numbers(page.shown, page.page.total - page.page.offset)
        yield TextGap(end, Completeness.MORE_PAGES, rest, page.next)


def detail_applied(page: Page, plan: Plan) -> str:
    """Return which results are shown at which level: `rich`, or `rich 1-3, minimal 4-9`."""
    runs, start = [], page.offset
    for level, group in groupby(plan.levels):
        end = start + len(list(group))
        runs.append((level, f"{level} {start + 1}-{end}"))
        start = end
    return runs[0][0] if len(runs) == 1 else ", ".join(text for _, text in runs)


def empty_banner(shown: ShownPage, incomplete: str = "", nothing: NothingFound | None = None) -> str:
    """Return the banner of a page without results.

    `incomplete` says why files are missing from the index, and `nothing` what was looked for.
    """
    page = shown.page
    if page.unshown.count:
        return _all_unshown(shown)
    if not page.total:
        return f"Nothing found yet: {incomplete}." if incomplete else nothing_banner(nothing)
    last = (page.total - 1) // page.limit * page.limit
    there_are = f"there are {page.total:,}" if page.total > 1 else "there is 1"
    return f"No results at offset={page.offset}: {there_are}. Last page: offset={last}."


def _all_unshown(shown: ShownPage) -> str:
    unshown = shown.page.unshown
    subject = "Result" if unshown.count == 1 else "Results"
    text = f"{subject} {shown.numbers(0, unshown.count)} of {shown.page.total:,} not shown: {unshown.why}."
    if unshown.reason == StaleReason.CHANGING:
        text += " Try again in a few seconds."
    return text + (f" Next page: {shown.next}." if shown.next else "")


def _missing(page: ShownPage) -> Iterator[str]:
    """Yield what the budget shortened and left out."""
    if page.plan.lowered_from < page.shown:
        yield f"{page.numbers(page.plan.lowered_from, page.shown)} shortened to {page.plan.levels[-1]}"
    if page.shown < page.count:
        numbers = page.numbers(page.shown, page.count)
        yield f"{numbers if len(numbers) <= _LONGEST_RANGE else page.count - page.shown} left out"


def _steps(page: ShownPage, at_minimal: int, too_large_step: str) -> Iterator[str]:
    """Yield how to get the rest, the likeliest step first."""
    full = page.plan.lowered_from
    if page.next:
        yield f"Next page: {page.next}."
    if full == 0 and page.plan.reason == "single_result_too_large":
        yield f"{too_large_step}."
    elif full < page.shown:
        step = f"offset={page.page.offset + full}" if full else "limit=1"
        yield f"Full detail of {page.numbers(full, full + 1)}: {step}."
    if at_minimal > page.shown:
        yield f"Show {at_minimal:,} results: detail_level=minimal."
