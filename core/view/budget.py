"""Fitting results into a budget: lower the detail of the tail first, then leave results out from the end.

Nothing is guessed: sizes are measured on the rendered text, the frame around the results included.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from keyhole.core.view.limits import DEFAULT_TOKENS, EFFECTIVE_BYTES, EFFECTIVE_CHARACTERS
from keyhole.core.view.tokens import MILLI, most_weight, token_weight

# The best results keep the detail that was asked for as long as they fit together.
HEAD = 3
# Of a character in UTF-8.
_MOST_BYTES = 4


@dataclass(frozen=True, slots=True)
class Size:
    """What a text costs; sizes of whole lines add up exactly. Weight is in thousandths of a token."""

    chars: int
    weight: int
    bytes: int = 0

    def __add__(self, other: "Size") -> "Size":
        return Size(self.chars + other.chars, self.weight + other.weight, self.bytes + other.bytes)

    def __sub__(self, other: "Size") -> "Size":
        return Size(self.chars - other.chars, self.weight - other.weight, self.bytes - other.bytes)

    @property
    def tokens(self) -> int:
        """Tokens, rounded up."""
        return -(-self.weight // MILLI)


def measure(text: str) -> Size:
    """Measure a text of whole lines."""
    # A lone surrogate cannot be shown, but it can be measured.
    return Size(len(text), token_weight(text), len(text.encode("utf-8", "surrogatepass")))


@dataclass(frozen=True, slots=True)
class Budget:
    """What an answer may cost; whichever limit bites first."""

    tokens: int = DEFAULT_TOKENS
    chars: int = EFFECTIVE_CHARACTERS
    bytes: int = EFFECTIVE_BYTES

    def admits(self, size: Size) -> bool:
        """Tell whether a text of this size may be sent."""
        return size.tokens <= self.tokens and size.chars <= self.chars and size.bytes <= self.bytes

    def surely_admits(self, text: str) -> bool:
        """Tell whether a text is so short that it need not be measured."""
        return self.admits(Size(len(text), most_weight(text), len(text) * _MOST_BYTES))

    def broken_by(self, size: Size) -> str:
        """Name the limit that a size breaks; one of bytes counts as one of characters."""
        return "token_limit" if size.tokens > self.tokens else "character_limit"

    def limit_text(self, reason: str) -> str:
        """Say which limit a reason stands for, as a banner does."""
        return f"character limit {self.chars:,}" if reason == "character_limit" else f"token budget {self.tokens:,}"

    def less(self, size: Size) -> "Budget":
        """Return what is left after a text of this size."""
        return Budget(self.tokens - size.tokens, self.chars - size.chars, self.bytes - size.bytes)

    def part(self, parts: int) -> "Budget":
        """Return one of several equal parts."""
        return Budget(self.tokens // parts, self.chars // parts, self.bytes // parts)


@dataclass(frozen=True, slots=True)
class Plan:
    """The level of each result that is shown, and the levels that were asked for; `reason` is what cut, if any."""

    levels: tuple[str, ...]
    asked: tuple[str, ...]
    reason: str | None = None

    @property
    def lowered_from(self) -> int:
        """The first result that is shown at a lower level than was asked for; their number if there is none."""
        pairs = zip(self.levels, self.asked, strict=True)
        return next((number for number, (level, asked) in enumerate(pairs) if level != asked), len(self.levels))


@dataclass(frozen=True, slots=True)
class TruncationInfo:
    """What the budget did to an answer; `reason` is None when it did nothing. Sizes are of the final text."""

    reason: str | None
    original_count: int
    returned_count: int
    estimated_chars: int
    limit_chars: int
    estimated_tokens: int
    limit_tokens: int
    detail_requested: str
    detail_applied: str
    next: str


# A result's levels, from the one asked for down. The last resort is one that fits into any budget.
Ladder = Sequence[str]
_LAST = -1


class Fitting:
    """Finds the best plan for a list of results."""

    def __init__(
        self,
        ladders: Sequence[Ladder],
        size_of: Callable[[int, str], Size],
        frame: Callable[[Plan], str],
        budget: Budget,
    ) -> None:
        self._ladders = ladders
        self._size_of = size_of
        self._frame = frame
        self._budget = budget
        self._sums: dict[int, list[Size]] = {}
        self._depths = range(1, max((len(ladder) for ladder in ladders), default=1) - 1)

    def plan(self) -> Plan:
        """Keep as many results as possible, and of those as much as possible."""
        everything = len(self._ladders)
        if not everything or self._fits(everything, everything, 0, None):
            return self._plan(everything, everything, 0, None)
        reason, head = self._reason(), min(HEAD, everything)
        return (
            self._all_with_head(head, reason)
            or self._all_lowered(head, reason)
            or next((plan for whole in range(head, 0, -1) if (plan := self._some(whole, head, reason))), None)
            or self._some(0, 1, reason)
            or self._plan(1, 0, _LAST, reason)
        )

    def _all_with_head(self, head: int, reason: str) -> Plan | None:
        """Show all results, the head in full and the tail at the highest level that fits."""
        everything = len(self._ladders)
        for depth in self._depths:
            fits = partial(self._fits, everything, depth=depth, reason=reason)
            if fits(head):
                return self._plan(everything, largest(head, everything, fits), depth, reason)
        return None

    def _all_lowered(self, head: int, reason: str) -> Plan | None:
        """Show all results, with less than the head in full."""
        everything = len(self._ladders)
        for whole in range(head - 1, -1, -1):
            for depth in self._depths:
                if self._fits(everything, whole, depth, reason):
                    return self._plan(everything, whole, depth, reason)
        return None

    def _some(self, whole: int, fewest: int, reason: str) -> Plan | None:
        """Show as many results as fit, some in full and the others at the lowest level."""
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
        # The frame is measured only when the results leave room for one.
        return self._budget.admits(results) and self._budget.admits(
            results + measure(self._frame(self._plan(kept, whole, depth, reason)))
        )

    def _total(self, count: int, depth: int) -> Size:
        """Measure the first results together at a depth of their ladders."""
        sums = self._sums.setdefault(depth, [Size(0, 0)])
        # Beyond the budget nothing fits, however much more it is.
        while len(sums) <= count and self._budget.admits(sums[-1]):
            number = len(sums) - 1
            sums.append(sums[-1] + self._size_of(number, self._level(number, depth)))
        return sums[min(count, len(sums) - 1)]

    def _level(self, number: int, depth: int) -> str:
        *levels, last = self._ladders[number]
        return last if depth == _LAST else levels[min(depth, len(levels) - 1)]


# Pieces are weighed many at a time first, and one at a time only where the budget ends.
_STRIDES = (4_096, 512, 64, 8, 1)


@dataclass(frozen=True, slots=True)
class Filled:
    """How many pieces fit, what they cost together, and which limit the next one breaks."""

    count: int
    size: Size
    reason: str | None = None


def fill(budget: Budget, count: int, size_of: Callable[[int, int], Size]) -> Filled:
    """Take the first pieces that fit together; `size_of` measures the pieces from one to before another."""
    filled, too_many = Filled(0, Size(0, 0)), count + 1
    for stride in _STRIDES:
        while (end := min(filled.count + stride, count)) > filled.count and end < too_many:
            size = filled.size + size_of(filled.count, end)
            if not budget.admits(size):
                filled, too_many = replace(filled, reason=budget.broken_by(size)), end
                break
            filled = Filled(end, size, filled.reason)
    return filled


def largest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """Find the largest number that fits, where every smaller one does too; `low` is taken to fit."""
    return low + bisect_right(range(low + 1, high + 1), False, key=lambda number: not fits(number))
