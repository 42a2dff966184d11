"""Score what a search returns against labelled answers, at file level and at line level.

Every system returns at most ten results, each a place: a file and a range of its lines. A file counts once, at its
first result, because Keyhole's own answers have one result per file:

- file level: NDCG@10 of the files. A file is right if one of the answers is in it.
- line level: NDCG@10 of the same list. A file is right only if the lines of its first result overlap an answer.

Both compare with the best possible list: every file with an answer, first.

- as listed: NDCG@10 of the lines without merging, for tools that return several results of a file. Every answer counts
  once, and the best possible list has every answer, so no list with one result per file reaches 1.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from corpus import Answer
from corpus import Query as Label

DEPTH = 10
ALL = "all"
LEVELS = ("file", "line", "as listed")

# Figures of a system: by kind, then by name.
Table = dict[str, dict[str, float]]


class Place(NamedTuple):
    """One result: lines of a file."""

    path: str
    start_line: int
    end_line: int


# Searches a project, by its name, for a text.
Searcher = Callable[[str, str], list[Place]]


class LabelScore(NamedTuple):
    """The figures of one query; `distinct` is the number of different files among ten results, if there are ten."""

    file: float
    line: float
    as_listed: float
    file_recall: float
    line_recall: float
    distinct: int | None


def average(searcher: Searcher, labels: list[Label]) -> Table:
    """Search for every query, and average the figures by kind."""
    scores: dict[str, list[LabelScore]] = defaultdict(list)
    for label in labels:
        found = score(searcher(label["project"], label["query"]), label)
        scores[label["kind"]].append(found)
        scores[ALL].append(found)
    return {kind: _averages(scores[kind]) for kind in [*kinds_of(labels), ALL]}


def kinds_of(labels: Iterable[Label]) -> list[str]:
    """Return the kinds of queries, in the order of the labels."""
    return list(dict.fromkeys(label["kind"] for label in labels))


def _averages(scores: list[LabelScore]) -> dict[str, float]:
    figures = {
        "file": statistics.mean(one.file for one in scores),
        "line": statistics.mean(one.line for one in scores),
        "as listed": statistics.mean(one.as_listed for one in scores),
        "file recall": statistics.mean(one.file_recall for one in scores),
        "line recall": statistics.mean(one.line_recall for one in scores),
        "queries": len(scores),
    }
    distinct = [one.distinct for one in scores if one.distinct is not None]
    if distinct:
        figures["distinct files"] = statistics.mean(distinct)
    return figures


def score(results: list[Place], label: Label) -> LabelScore:
    """Score the first ten results for one query."""
    results = results[:DEPTH]
    places, files = one_per_file(results), {answer["path"] for answer in label["answers"]}
    file_gains = [int(place.path in files) for place in places]
    line_gains = [int(is_right(place, label)) for place in places]
    best = dcg([1] * min(DEPTH, len(files)))
    return LabelScore(
        file=dcg(file_gains) / best,
        line=dcg(line_gains) / best,
        as_listed=dcg(_credited(results, label)) / dcg([1] * len(label["answers"])),
        file_recall=sum(file_gains) / len(files),
        line_recall=sum(line_gains) / len(files),
        distinct=len(places) if len(results) == DEPTH else None,
    )


def one_per_file(results: Iterable[Place]) -> list[Place]:
    """Return the first result of each file."""
    first: dict[str, Place] = {}
    for place in results:
        first.setdefault(place.path, place)
    return list(first.values())


def is_right(place: Place, label: Label) -> bool:
    """Return whether a result overlaps an answer."""
    return any(_overlaps(place, answer) for answer in label["answers"])


def _credited(results: list[Place], label: Label) -> list[int]:
    """Mark each result that overlaps an answer that no earlier result overlaps."""
    left, gains = list(label["answers"]), []
    for place in results:
        match = next((answer for answer in left if _overlaps(place, answer)), None)
        if match is not None:
            left.remove(match)
        gains.append(int(match is not None))
    return gains


def _overlaps(place: Place, answer: Answer) -> bool:
    is_near = place.start_line <= answer["end_line"] and place.end_line >= answer["start_line"]
    return place.path == answer["path"] and is_near


def dcg(gains: list[int]) -> float:
    """Return the sum of gains, discounted by rank."""
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))
