"""Comparing references with those of a language server: what is counted, and how."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from oracles.places import Place

from keyhole.core.references.certainty import Certainty

CERTAIN, LIKELY, BY_NAME = map(str, Certainty)
# The level of a place that only the server has.
MISSED = "missed"
# The least figures that are good enough.
TARGETS = {"precision certain": 0.98, "precision likely": 0.85, "recall": 0.95, "share": 0.75}


class Shape(NamedTuple):
    """What a place looks like, to find out which kinds of places are wrong: its role, and what it is taken from."""

    role: str
    receiver: str = ""


class Outcome(NamedTuple):
    """A place that Keyhole or the server takes for a reference of a symbol."""

    symbol: str
    kind: str
    place: Place
    level: str
    shape: Shape
    is_right: bool


def compare(
    symbol: str, kind: str, given: Mapping[Place, tuple[str, Shape]], wanted: Mapping[Place, Shape]
) -> list[Outcome]:
    """Return every place of a symbol once: those that Keyhole gives, each with its level, and those that it misses."""
    outcomes = [
        Outcome(symbol, kind, place, level, shape, place in wanted) for place, (level, shape) in sorted(given.items())
    ]
    missed = sorted(wanted.keys() - given.keys())
    return outcomes + [Outcome(symbol, kind, place, MISSED, wanted[place], is_right=True) for place in missed]


def figures(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """Return counts and shares of all places together.

    The precision of a level is the share of its places that the server has, and recall is the share of the server's
    places that Keyhole has at any level. `share` is that of certain and likely among the places that both have.
    """
    counts = Counter((one.level, one.is_right) for one in outcomes)
    given = {level: counts[level, True] + counts[level, False] for level in (CERTAIN, LIKELY, BY_NAME)}
    right = {level: counts[level, True] for level in given}
    agreed, rows, missed = sum(right.values()), sum(given.values()), counts[MISSED, True]
    return {
        "rows": rows,
        **{f"rows {level}": given[level] for level in given},
        "missed": missed,
        **{f"precision {level}": _share(right[level], given[level]) for level in given},
        "recall": _share(agreed, agreed + missed),
        "share": _share(right[CERTAIN] + right[LIKELY], agreed),
        "share of all rows": _share(given[CERTAIN] + given[LIKELY], rows),
    }


def by_role(outcomes: Iterable[Outcome]) -> dict[str, dict[str, float]]:
    """Return the figures of each role, the most frequent first."""
    groups: dict[str, list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault(one.shape.role, []).append(one)
    return {role: figures(groups[role]) for role in sorted(groups, key=lambda role: -len(groups[role]))}


def disagreements(outcomes: Iterable[Outcome]) -> list[tuple[tuple[str, str, Shape], list[Outcome]]]:
    """Return the wrong and missed places by level, kind of symbol and shape, the most frequent first."""
    groups: dict[tuple[str, str, Shape], list[Outcome]] = {}
    for one in outcomes:
        if one.level == MISSED or not one.is_right:
            groups.setdefault((one.level, one.kind, one.shape), []).append(one)
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
