"""The pages of a map: where each starts, and how the frame shows them."""

import re
from typing import TYPE_CHECKING

from textual.content import Content

from keyhole.tui.widgets.bars import clickable

if TYPE_CHECKING:
    from keyhole.core.view.writing import View

_NEXT = re.compile(r"offset=(\d+)")
FIRST_PAGE = (0,)


def next_offset(view: "View") -> int | None:
    """Return where the next page of a map starts; None on the last page."""
    found = _NEXT.fullmatch(view.truncation.next)
    return int(found[1]) if found else None


def page_line(page: int, *, has_next: bool) -> Content:
    """Return the number of the page with arrows to the others; empty if there is only one."""
    if page == 1 and not has_next:
        return Content("")
    return Content.assemble(
        f"Page {page:,} ",
        clickable(Content.styled("◂ p", _can(page > 1)), "screen.previous_page"),
        "  ",
        clickable(Content.styled("n ▸", _can(has_next)), "screen.next_page"),
        " · ",
    )


def _can(is_possible: bool) -> str:
    return "bold $primary" if is_possible else "$text-muted"
