"""What a request about links, the tree, references or related code found, before it is written as a page."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from keyhole.core.index.rows import Found
from keyhole.core.links.link_types import Link
from keyhole.core.links.requests import Category
from keyhole.core.notes import Note
from keyhole.core.search.related_code import RelatedCode
from keyhole.core.types.choices import Detail
from keyhole.core.types.index import IndexVersion
from keyhole.core.types.missing import NothingFound
from keyhole.core.view.budget.fitting import Ladder
from keyhole.core.view.lists.banner import Section
from keyhole.core.view.lists.reference_page import ReferencePage
from keyhole.core.view.lists.relation_items import LEVELS
from keyhole.core.view.masked import MaskedPlace
from keyhole.core.view.text_parts import Parts, one_row

Item = TypeVar("Item")


def _one_line_each(_: Detail, count: int) -> list[Ladder]:
    return [LEVELS] * count


@dataclass(frozen=True, slots=True)
class RelationResults:
    """What a request found: its results, the files they depend on, and which of those have changed since."""

    count: int
    total: int
    parts_of: Callable[[int, str], Parts]
    facts_of: Callable[[int, str], Mapping[str, object]]
    paths: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    notes: tuple[Note, ...] = ()
    sections: tuple[Section, ...] = ()
    # What was looked for, if nothing was found and the index is complete.
    nothing: NothingFound | None = None
    # What the results are, if not just results, and further facts for JSON.
    unit: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
    ladders: Callable[[Detail, int], list[Ladder]] = _one_line_each
    # The results as data, for front ends that draw them themselves: links by category, related code, or references.
    links: Mapping[Category, Found[Link]] = field(default_factory=dict)
    related: RelatedCode | None = None
    references: ReferencePage | None = None
    # The path and the lines of each result, or what is masked in it.
    places: Sequence[tuple[str, int, int]] = ()
    has_masks: bool = True
    masks_of: Callable[[int, str, str], Iterable[MaskedPlace]] = lambda *_: ()


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """Further facts of an answer: the project, its index, and when the request started."""

    project: str
    index: IndexVersion
    started: float


def line_results(
    found: Found[Item],
    text_of: Callable[[Item, str], str],
    facts_of: Callable[[Item, str], Mapping[str, object]],
    paths: set[str],
) -> RelationResults:
    """Return results that are one line each."""
    return RelationResults(
        count=len(found.items),
        total=found.total,
        parts_of=lambda number, level: one_row(text_of(found.items[number], level)),
        facts_of=lambda number, level: facts_of(found.items[number], level),
        paths=frozenset(paths),
    )
