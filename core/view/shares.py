"""Rounding parts so that they add up to their total as it is shown."""

from collections.abc import Sequence
from math import floor


def rounded_shares(parts: Sequence[float], total: float) -> list[float]:
    """Round parts to two digits; their sum is the total as `{total:.2f}` shows it.

    Each part is rounded down, and the missing hundredths go to those that lost most.
    """
    if not parts:
        return []
    exact = [part * 100 for part in parts]
    cents = [floor(part) for part in exact]
    # The format rounds the exact binary number; multiplying by 100 first could round another way.
    missing = round(float(f"{total:.2f}") * 100) - sum(cents)
    each, rest = divmod(missing, len(parts))
    by_loss = sorted(range(len(parts)), key=lambda number: cents[number] - exact[number])
    for place, number in enumerate(by_loss):
        cents[number] += each + (place < rest)
    return [cent / 100 for cent in cents]
