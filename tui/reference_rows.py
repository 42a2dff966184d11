"""References, callers, callees and relatives as rows, below a title for each certainty or kinship."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from keyhole.core.links.requests import ReferenceRelation
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.class_hierarchy import Kinship
from keyhole.core.view.lists.hit_text import preview_text
from keyhole.core.view.text import count_of, name_text
from keyhole.tui.history import Place

if TYPE_CHECKING:
    from keyhole.core.index.rows import DefinitionRow
    from keyhole.core.references.call_tree import CallNode
    from keyhole.core.references.class_hierarchy import Relative
    from keyhole.core.references.find import ReferenceLine
    from keyhole.core.types.search_results import Hit
    from keyhole.core.view.lists.reference_page import ReferencePage

Item = TypeVar("Item")

_TOP_LEVEL = "top level"
_LONGEST_NAME = 80
# What each title means.
_MEANINGS = {
    str(Certainty.CERTAIN): "Same scope, resolved import or class, or self",
    str(Certainty.LIKELY): "The only one in reach, or by a variable's class",
    str(Certainty.BY_NAME): "Several definitions have this name",
    str(Kinship.BASE): "Classes it inherits from",
    str(Kinship.SUBCLASS): "Classes that inherit from it",
    str(Kinship.IMPLEMENTATION): "Types that implement it",
    str(Kinship.OVERRIDDEN): "Methods of its bases that it replaces",
    str(Kinship.OVERRIDING): "Methods of subclasses that replace it",
}


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    """A title, or a place; `target` is the definition that Enter follows."""

    first: str
    second: str
    note: str = ""
    place: Place | None = None
    target: Place | None = None
    depth: int = 1
    # Places of references are paths; the others have a name, and their path is below it.
    is_named: bool = False

    @property
    def is_title(self) -> bool:
        """Whether the row is the title of a group."""
        return self.place is None


def reference_rows(page: "ReferencePage", shown: int, relation: ReferenceRelation) -> list[ReferenceRow]:
    """Return the rows for an answer to find_references.

    They are what an agent gets: what was left out because of the budget is missing here too.
    """
    if relation == ReferenceRelation.HIERARCHY:
        return _grouped(page.relatives[:shown], page, lambda one: one.kinship, _relative_row)
    if relation == ReferenceRelation.REFERENCES:
        return _grouped(page.lines[:shown], page, lambda one: one[0].certainty, _line_row)
    row_of = caller_row if relation == ReferenceRelation.CALLERS else _callee_row
    return _grouped(page.calls[:shown], page, lambda one: one.certainty, row_of)


def _grouped(
    items: Sequence[Item],
    page: "ReferencePage",
    group_of: Callable[[Item], str],
    row_of: Callable[[Item], ReferenceRow],
) -> list[ReferenceRow]:
    rows = []
    for group, members in groupby(items, key=group_of):
        found = [row_of(one) for one in members]
        total = page.totals[str(group)]
        count = f"{total:,}" if len(found) == total else f"{len(found):,} of {total:,}"
        rows += [ReferenceRow(str(group), _MEANINGS[str(group)], count), *found]
    return rows


def _line_row(item: "tuple[ReferenceLine, Hit]") -> ReferenceRow:
    line, hit = item
    text = " ".join(preview_text(hit).split())
    return ReferenceRow(f"{name_text(line.path)}:{line.line}", text, line.role, Place(line.path, line.line))


def caller_row(node: "CallNode") -> ReferenceRow:
    """Return a caller, at the place of its first call."""
    name = name_text(node.definition.qualified_name, _LONGEST_NAME) if node.definition else _TOP_LEVEL
    return _call_row(node, name, Place(node.path, node.line))


def _callee_row(node: "CallNode") -> ReferenceRow:
    """Return a callee at its definition; at its first call, if several definitions have the name."""
    row = node.definition
    name = name_text(row.qualified_name if row else node.name, _LONGEST_NAME)
    return _call_row(node, name, _place_of(row) if row else Place(node.path, node.line))


def _call_row(node: "CallNode", name: str, place: Place) -> ReferenceRow:
    notes = [
        f"{node.meanings:,} definitions" if node.meanings > 1 else "",
        count_of(node.calls, "call") if node.calls > 1 else "",
        "↻" if node.is_cycle else "",
    ]
    target = _place_of(node.definition) if node.definition else None
    second = f"{name_text(place.path)}:{place.line}"
    return ReferenceRow(name, second, " · ".join(filter(None, notes)), place, target, is_named=True)


def _relative_row(one: "Relative") -> ReferenceRow:
    row = one.definition
    name = f"{row.kind} {name_text(row.qualified_name, _LONGEST_NAME)}"
    place = _place_of(row)
    second = f"{name_text(row.path)}:{row.name_line}"
    return ReferenceRow(name, second, str(one.certainty), place, place, one.depth, is_named=True)


def _place_of(row: "DefinitionRow") -> Place:
    return Place(row.path, row.name_line)
