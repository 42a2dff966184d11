"""What a view draws on the text of an answer: the kind of each line, the cost of each result, and where it has gaps.

Nothing of this is part of the text: it is not copied, selected, found or compared.
"""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from rich.cells import cell_len

from keyhole.core.types.completeness import Completeness
from keyhole.core.view.budget.spending import spending
from keyhole.core.view.text import count_lines
from keyhole.core.view.text_parts import PartKind
from keyhole.tui.key_names import key_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from keyhole.core.view.text_parts import TextGap
    from keyhole.core.view.writing import View

# The names of commands that get what an answer lacks.
IN_FULL, RAISE_BUDGET = "in-full", "raise-budget"
_RULE = "┄"
_GAP_WORDS = {
    Completeness.LEFT_OUT: "left out here",
    Completeness.SHORTENED: "shortened from here",
    Completeness.MORE_PAGES: "more pages",
}


@dataclass(frozen=True, slots=True)
class DrawnRow:
    """A row between two lines that is drawn but not part of the text."""

    text: str
    lacks: Completeness


@dataclass(frozen=True)
class AnswerLayout:
    """What is drawn on a text; lines count from 0."""

    kinds: tuple[PartKind, ...]
    # The lines of each result, and what to write beside its first line.
    results: tuple[range, ...]
    costs: "Mapping[int, str]"
    # Rows that are drawn below a line.
    drawn: "Mapping[int, tuple[DrawnRow, ...]]"

    @property
    def cost_width(self) -> int:
        """The width of the costs."""
        return max(map(len, self.costs.values()), default=0)

    def result_at(self, line: int) -> int | None:
        """Return which result a line belongs to."""
        number = bisect_right(self.results, line, key=lambda lines: lines.start) - 1
        return number if number >= 0 and line in self.results[number] else None


def answer_layout(view: "View", *, commands: "Collection[str]") -> AnswerLayout | None:
    """Return what to draw on the text of a view; `commands` are those that have a key there."""
    if not view.parts:
        return None
    counts = [count_lines(part.text) for part in view.parts]
    starts = [0, *accumulate(counts)]
    kinds = tuple(part.kind for part, count in zip(view.parts, counts, strict=True) for _ in range(count))
    results: dict[int, range] = {}
    for part, start, count in zip(view.parts, starts, counts, strict=False):
        if part.result is not None:
            first = results[part.result].start if part.result in results else start
            results[part.result] = range(first, start + count)
    costs = {
        results[spent.result].start: f"{spent.tokens:,}" for spent in spending(view.parts) if spent.result is not None
    }
    drawn: dict[int, tuple[DrawnRow, ...]] = {}
    for gap in view.gaps:
        line = starts[gap.after] - 1
        drawn[line] = (*drawn.get(line, ()), DrawnRow(gap_text(gap, commands), gap.lacks))
    return AnswerLayout(kinds, tuple(results.values()), costs, drawn)


def gap_text(gap: "TextGap", commands: "Collection[str]") -> str:
    """Return what is missing at a place, how an agent gets it, and which keys do."""
    text = _GAP_WORDS[gap.lacks] + (f": {gap.numbers}" if gap.numbers else "")
    step = "full detail" if gap.lacks == Completeness.SHORTENED else "next page"
    text += f", {step} {gap.next}" if gap.next else ""
    keys = [f"{key_of('next-page')}: next page"] if gap.lacks != Completeness.SHORTENED else []
    if IN_FULL in commands and gap.lacks == Completeness.SHORTENED:
        keys.append(f"{key_of(IN_FULL)}: show in full")
    if RAISE_BUDGET in commands and gap.lacks.is_truncated:
        keys.append(f"{key_of(RAISE_BUDGET)}: raise the budget")
    return " · ".join([text, *keys])


def drawn_row_cells(row: DrawnRow, before: int, width: int) -> str:
    """Return a drawn row over the whole width; too long a text is cut at its end."""
    text = f"{' ' * (before - 1)}{_RULE * 2} {row.text} "
    return f"{text[: width - 1]}…" if cell_len(text) > width else text + _RULE * (width - cell_len(text))
