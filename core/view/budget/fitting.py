"""Fit results into a budget: first shorten the tail, then leave results out from the end.

Nothing is guessed: sizes are measured on the rendered text, including the frame around the results.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from keyhole.core.view.budget.sizes import Budget, Size, largest, measure

# The best results keep the detail that was asked for, as long as they fit together.
HEAD = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """The level of each shown result, and the levels asked for; `reason` names the limit that took something."""

    levels: tuple[str, ...]
    asked: tuple[str, ...]
    reason: str | None = None

    @property
    def lowered_from(self) -> int:
        """The number of the first shortened result; the number of results if none is."""
        pairs = zip(self.levels, self.asked, strict=True)
        return next((number for number, (level, asked) in enumerate(pairs) if level != asked), len(self.levels))


# A result's levels, from the one asked for down. The last one is so short that it fits any budget.
Ladder = Sequence[str]
_LAST = -1
_AT_ONCE = 50


class Fitting:
    """Finds the best plan for a list of results."""

    def __init__(
        self,
        ladders: Sequence[Ladder],
        text_of: Callable[[int, str], str],
        size_of: Callable[[int, str], Size],
        frame: Callable[[Plan], str],
        budget: Budget,
    ) -> None:
        self._ladders = ladders
        self._text_of = text_of
        self._size_of = size_of
        self._frame = frame
        self._budget = budget
        self._sums: dict[int, list[Size]] = {}
        self._depths = range(1, max((len(ladder) for ladder in ladders), default=1) - 1)

    def plan(self) -> Plan:
        """Return the plan that shows as many results as possible, each in as much detail as possible."""
        everything = len(self._ladders)
        if self._fits_as_asked():
            return self._plan(everything, everything, 0, None)
        reason, head = self._reason(), min(HEAD, everything)
        return (
            self._all_with_head(head, reason)
            or self._all_lowered(head, reason)
            or next((plan for whole in range(head, 0, -1) if (plan := self._some(whole, head, reason))), None)
            or self._some(0, 1, reason)
            or self._plan(1, 0, _LAST, reason)
        )

    def _fits_as_asked(self) -> bool:
        """Return whether all results fit as they were asked for, which most answers do.

        Many results together are measured faster than one by one.
        """
        everything, size = len(self._ladders), Size(0, 0)
        for start in range(0, everything, _AT_ONCE):
            numbers = range(start, min(start + _AT_ONCE, everything))
            size += measure("".join(self._text_of(number, self._level(number, 0)) for number in numbers))
            if not self._budget.admits(size):
                return False
        return not everything or self._fits_with_frame(size, self._plan(everything, everything, 0, None))

    def _all_with_head(self, head: int, reason: str) -> Plan | None:
        """Show all results: the head in full, the tail at the highest level that fits."""
        everything = len(self._ladders)
        for depth in self._depths:
            fits = partial(self._fits, everything, depth=depth, reason=reason)
            if fits(head):
                return self._plan(everything, largest(head, everything, fits), depth, reason)
        return None

    def _all_lowered(self, head: int, reason: str) -> Plan | None:
        """Show all results, even if only part of the head is in full."""
        everything = len(self._ladders)
        for whole in range(head - 1, -1, -1):
            for depth in self._depths:
                if self._fits(everything, whole, depth, reason):
                    return self._plan(everything, whole, depth, reason)
        return None

    def _some(self, whole: int, fewest: int, reason: str) -> Plan | None:
        """Show as many results as fit: some in full, the others at the lowest level."""
        lowest = max(self._depths, default=0)
        kept = largest(0, len(self._ladders), lambda n: self._fits(n, min(whole, n), lowest, reason))
        return self._plan(kept, whole, lowest, reason) if kept >= fewest else None

    def _reason(self) -> str:
        alone = measure(self._frame(self._plan(1, 1, 0, "token_limit"))) + self._total(1, 0)
        if not self._budget.admits(alone):
            return "single_result_too_large"
        everything = len(self._ladders)
        size = measure(self._frame(self._plan(everything, everything, 0, None))) + self._total(everything, 0)
        return self._budget.broken_by(size)

    def _plan(self, kept: int, whole: int, depth: int, reason: str | None) -> Plan:
        levels = tuple(self._level(number, 0 if number < whole else depth) for number in range(kept))
        return Plan(levels, tuple(ladder[0] for ladder in self._ladders[:kept]), reason)

    def _fits(self, kept: int, whole: int, depth: int, reason: str | None) -> bool:
        results = self._total(whole, 0) + (self._total(kept, depth) - self._total(whole, depth))
        # The frame is costly to write, so it is measured only if the results alone fit.
        return self._budget.admits(results) and self._fits_with_frame(results, self._plan(kept, whole, depth, reason))

    def _fits_with_frame(self, results: Size, plan: Plan) -> bool:
        return self._budget.admits(results + measure(self._frame(plan)))

    def _total(self, count: int, depth: int) -> Size:
        """Return the size of the first `count` results at one depth of their ladders."""
        sums = self._sums.setdefault(depth, [Size(0, 0)])
        # Results past the end of the budget need not be measured: they can't fit.
        while len(sums) <= count and self._budget.admits(sums[-1]):
            number = len(sums) - 1
            sums.append(sums[-1] + self._size_of(number, self._level(number, depth)))
        return sums[min(count, len(sums) - 1)]

    def _level(self, number: int, depth: int) -> str:
        ladder = self._ladders[number]
        return ladder[_LAST] if depth == _LAST else ladder[min(depth, len(ladder) - 2)]
