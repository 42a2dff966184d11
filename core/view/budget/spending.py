"""Where the tokens of an answer went: to its banner, its notes and each of its results."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from keyhole.core.view.budget.tokens import MILLI, token_weight
from keyhole.core.view.text_parts import PartKind, Parts, TextPart

# What an item is if its lines are those of a result.
RESULT = "result"


@dataclass(frozen=True, slots=True)
class Spent:
    """What one item of an answer costs: the banner, a note, or a result with its number on the page."""

    item: str
    weight: int
    result: int | None = None

    @property
    def tokens(self) -> int:
        """Tokens, rounded up."""
        return -(-self.weight // MILLI)


def spending(parts: Parts) -> list[Spent]:
    """Return what each item of a text costs, in order; the weights add up to the weight of the text."""
    return [
        Spent(item, token_weight("".join(part.text for part in group)), result)
        for (item, result), group in groupby(parts, _item_of)
    ]


def _item_of(part: TextPart) -> tuple[str, int | None]:
    if part.result is not None:
        return RESULT, part.result
    return (part.kind if part.kind in (PartKind.BANNER, PartKind.NOTE) else PartKind.HEADING), None


def whole_shares(weights: Iterable[int], unit: int) -> list[int]:
    """Return how many units each weight takes, so that they add up to the units of all weights, rounded up."""
    shares, done, total = [], 0, 0
    for weight in weights:
        total += weight
        shares.append(-(-total // unit) - done)
        done += shares[-1]
    return shares
