"""The links of a file as rows: internal, broken, external and incoming."""

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
    """A row: a title, a link, or "more"; `place` is the link's target, `problem` why it has none.

    `callers_of` is a symbol whose callers Enter lists.
    """

    text: str
    note: str = ""
    place: Place | None = None
    problem: str = ""
    address: str = ""
    more: tuple[Category, int] | None = None
    is_title: bool = False
    callers_of: Place | None = None


@dataclass(frozen=True, slots=True)
class _Group:
    """The rows below one title: the links of a category; internal links are split into working and broken ones."""

    title: str
    category: Category
    is_broken: bool = False

    def holds(self, link: "Link") -> bool:
        """Return whether a link of the category belongs to this group."""
        return self.category != Category.INTERNAL or link.is_broken == self.is_broken


_GROUPS = (
    _Group("internal", Category.INTERNAL),
    _Group("broken", Category.INTERNAL, is_broken=True),
    _Group("external", Category.EXTERNAL),
    _Group("incoming", Category.INCOMING),
)


def link_rows(
    links: "Mapping[Category, Found[Link]]", view: "ListView", category: Category | None = None
) -> list[LinkRow]:
    """Return the rows for an answer to get_links: for all categories, or for a page of one.

    They are the links that an agent gets: links left out because of the budget are missing here too.
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
        # Broken links share the pages of internal ones, so "more" belongs below the working links, if there are any.
        if after < total and (not group.is_broken or len(here) == len(shown[group.category])):
            rows.append(LinkRow(f"▾ {total - after:,} more", more=(group.category, after)))
    return rows


def _shown(links: "Mapping[Category, Found[Link]]", count: int) -> "dict[Category, Sequence[Link]]":
    """Return the links that fit into the answer, which lists the categories one after another."""
    shown: dict[Category, Sequence[Link]] = {}
    for category, found in links.items():
        shown[category] = found.items[:count]
        count -= len(shown[category])
    return shown


def _count(group: _Group, here: int, total: int) -> str:
    """Return the number of links; for internal ones only those here, since the total does not tell which are broken."""
    return f"{here:,}" if group.category == Category.INTERNAL else f"{total:,}"


def _range(group: _Group, here: int, total: int, offset: int) -> str:
    """Return which links of a category are on this page."""
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
