"""The links of a file as rows: what leads out, what is broken, what lies outside, and what leads here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keyhole.core.links.requests import Category
from keyhole.core.view.text import name_text
from keyhole.tui.history import Place

if TYPE_CHECKING:
    from keyhole.core.index.rows import Found
    from keyhole.core.links.link_types import Link
    from keyhole.core.view.lists.listing import ListView

_LONGEST_TARGET = 120


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A row: a title, a link, or the way to more; `place` is where it leads, `problem` why it leads nowhere."""

    text: str
    note: str = ""
    place: Place | None = None
    problem: str = ""
    address: str = ""
    more: tuple[Category, int] | None = None
    is_title: bool = False


@dataclass(frozen=True, slots=True)
class _Group:
    """Rows below one title: the links of a category, or of the internal ones those that are broken."""

    title: str
    category: Category
    is_broken: bool = False

    def holds(self, link: "Link") -> bool:
        """Tell whether a link of the category stands here."""
        return self.category != Category.INTERNAL or link.is_broken == self.is_broken


_GROUPS = (
    _Group("outgoing", Category.INTERNAL),
    _Group("broken", Category.INTERNAL, is_broken=True),
    _Group("external", Category.EXTERNAL),
    _Group("incoming", Category.INCOMING),
)


def link_rows(
    links: "Mapping[Category, Found[Link]]", view: "ListView", category: Category | None = None
) -> list[LinkRow]:
    """Make rows of an answer to get_links: of all categories, or of a page of one.

    They are the links that an agent gets: what its budget cuts from the answer is not there.
    """
    shown = _shown(links, len(view.plan.levels))
    rows: list[LinkRow] = []
    for group in _GROUPS:
        here = [link for link in shown.get(group.category, ()) if group.holds(link)]
        if not here:
            continue
        total, offset = links[group.category].total, view.page.offset
        count = _count(group, len(here), total) if category is None else _range(group, len(here), total, offset)
        rows.append(LinkRow(f"{group.title} {count}", is_title=True))
        rows += [_row(group.category, link) for link in here]
        after = offset + len(shown[group.category])
        # Broken ones have no pages of their own: the way on stands below the others, if there are any.
        if after < total and (not group.is_broken or len(here) == len(shown[group.category])):
            rows.append(LinkRow(f"▾ {total - after:,} more", more=(group.category, after)))
    return rows


def _shown(links: "Mapping[Category, Found[Link]]", count: int) -> "dict[Category, Sequence[Link]]":
    """Keep as many links as the answer has; its categories follow one another."""
    shown: dict[Category, Sequence[Link]] = {}
    for category, found in links.items():
        shown[category] = found.items[:count]
        count -= len(shown[category])
    return shown


def _count(group: _Group, here: int, total: int) -> str:
    """Say how many there are; of the internal ones, how many are broken is known only of those that are here."""
    return f"{here:,}" if group.category == Category.INTERNAL else f"{total:,}"


def _range(group: _Group, here: int, total: int, offset: int) -> str:
    """Say which links of a category a page has."""
    return f"{here:,}" if group.is_broken else f"{offset + 1:,}-{offset + here:,} of {total:,}"


def _row(category: Category, link: "Link") -> LinkRow:
    target = name_text(link.written, _LONGEST_TARGET)
    if category == Category.INCOMING:
        return LinkRow(f"{name_text(link.path)}:{link.line}", target, Place(link.path, link.line))
    text = f"{link.line}: {target}"
    if category == Category.EXTERNAL:
        return LinkRow(text, name_text(link.site, _LONGEST_TARGET), address=link.written)
    place = Place(link.to, link.to_line or 1) if link.state == "internal" and link.to else None
    if link.reason:
        return LinkRow(text, f"{'✗' if link.is_broken else '?'} {link.reason}", place, link.reason)
    heading = f":{link.to_line}" if link.to_line else ""
    return LinkRow(text, f"→ {name_text(link.to, _LONGEST_TARGET)}{heading}", place)
