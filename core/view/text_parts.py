"""The parts of a text: which of its lines are banner, heading, source or context, and to which result they belong.

A view is written as parts, and its text is what they are when joined. So whoever draws a view knows what each line is
without looking at its wording.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from keyhole.core.types.completeness import Completeness


class PartKind(StrEnum):
    """What some lines of a text are."""

    BANNER = "banner"
    NOTE = "note"
    # The first line of something that has more lines: a file, a section, a result with details.
    HEADING = "heading"
    # A result, or a part of one, on one line.
    ROW = "row"
    # What a result is: its purpose, its best line, the lines that are shown of it.
    DETAIL = "detail"
    SOURCE = "source"
    # Lines around the source that was found, and what frames it.
    CONTEXT = "context"


class TextPart(NamedTuple):
    """Some whole lines of a text; `result` is the number of their result on the page, from 0."""

    kind: PartKind
    text: str
    result: int | None = None


Parts = Sequence[TextPart]


@dataclass(frozen=True, slots=True)
class TextGap:
    """A place where something is missing: after how many parts, what is missing there, and how to get it.

    `numbers` are those of the missing results, and `next` is the parameter that shows them.
    """

    after: int
    lacks: Completeness
    numbers: str
    next: str


def joined(parts: Iterable[TextPart]) -> str:
    """Return the text that the parts are."""
    return "".join(part.text for part in parts)


def one_row(text: str) -> Parts:
    """Return a result of one line."""
    return (TextPart(PartKind.ROW, text),)


def of_result(parts: Iterable[TextPart], number: int) -> Iterator[TextPart]:
    """Yield parts as those of a result."""
    for kind, text, _ in parts:
        yield TextPart(kind, text, number)
