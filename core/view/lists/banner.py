"""The banner: one line at the top that says what is shown, of how many, what cut it, and how to get the rest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from keyhole.core.view.budget.fitting import Plan
from keyhole.core.view.budget.sizes import Budget
from keyhole.core.view.text import count_of
from keyhole.core.view.writing import Page


@dataclass(frozen=True, slots=True)
class Section:
    """One of several lists that an answer shows the start of: its name, how much of it is here, and all of it."""

    name: str
    count: int
    total: int


def shares(sections: Sequence[Section], shown: int) -> Iterator[tuple[Section, int]]:
    """Tell how many results of each section are shown, when so many are shown in all."""
    for section in sections:
        here = min(section.count, shown)
        shown -= here
        yield section, here


def sections_banner(sections: Sequence[Section], plan: Plan, budget: Budget) -> str:
    """Write the banner of several lists."""
    shared = list(shares(sections, len(plan.levels)))
    parts = [f"{part.name} {f'1-{here}' if here else 'none'} of {part.total:,}" for part, here in shared if part.total]
    parts += [f"no {part.name}" for part, _ in shared if not part.total]
    cut = f" ({budget.limit_text(plan.reason)})" if plan.reason else ""
    ways = sections_next(sections, len(plan.levels))
    return f"Showing {', '.join(parts)}{cut}{f': next {ways}' if ways else ''}."


def sections_next(sections: Sequence[Section], shown: int) -> str:
    """Say how to go on in each section that has more."""
    shared = shares(sections, shown)
    return ", or ".join(f"category={part.name} offset={here}" for part, here in shared if here < part.total)


def banner(page: Page, plan: Plan, budget: Budget, *, at_minimal: int = 0, otherwise: str = "") -> str:
    """Write the banner of a list view.

    `at_minimal` is how many results the lowest detail would show; `otherwise` is how to see a result that no
    budget holds.
    """
    shown = len(plan.levels)
    if not shown:
        return _nothing_here(page)
    cut = f" ({'; '.join(_cut(page, plan, budget))})" if plan.reason else ""
    ways = list(_ways(page, plan, at_minimal, otherwise))
    rest = f": {', or '.join(ways)}" if ways else ""
    return f"Showing {page.offset + 1}-{page.offset + shown} of {page.total:,}{cut}{rest}."


def detail_applied(page: Page, plan: Plan) -> str:
    """Say which results are shown at which level: `rich`, or `rich 1-3, minimal 4-9`."""
    runs, start = [], page.offset
    for level, group in groupby(plan.levels):
        end = start + len(list(group))
        runs.append((level, f"{level} {start + 1}-{end}"))
        start = end
    return runs[0][0] if len(runs) == 1 else ", ".join(text for _, text in runs)


def _nothing_here(page: Page) -> str:
    if not page.total:
        return "Nothing found."
    last = (page.total - 1) // page.limit * page.limit
    return (
        f"Nothing at offset={page.offset}: there are {count_of(page.total, 'result')}; the last page is offset={last}."
    )


def _cut(page: Page, plan: Plan, budget: Budget) -> Iterator[str]:
    limit = budget.limit_text(plan.reason or "")
    yield f"{limit}, too small for result {page.offset + 1}" if plan.reason == "single_result_too_large" else limit
    if plan.lowered_from < len(plan.levels):
        first, last = page.offset + plan.lowered_from + 1, page.offset + len(plan.levels)
        yield f"{f'{first}-{last}' if first < last else first} at {plan.levels[-1]}"


def _ways(page: Page, plan: Plan, at_minimal: int, otherwise: str) -> Iterator[str]:
    shown, whole = len(plan.levels), plan.lowered_from
    if page.after(shown) is not None:
        yield f"next page offset={page.after(shown)}"
    if at_minimal > shown:
        yield f"detail_level=minimal shows {at_minimal}"
    if 0 < whole < shown:
        yield f"offset={page.offset + whole} shows {page.offset + whole + 1} in more detail"
    elif whole == 0 and plan.reason == "single_result_too_large":
        yield otherwise
    elif whole == 0:
        yield f"limit=1 shows {page.offset + 1} in more detail"
