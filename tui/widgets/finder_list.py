"""The list of the finder: names with the matched letters marked."""

from itertools import groupby

from textual.content import Content

from keyhole.core.view.text import name_text, one_line
from keyhole.tui.names_to_find import FoundNames, Name, marked_places
from keyhole.tui.widgets.results import fit_path
from keyhole.tui.widgets.row_list import RowList

_MARK = "bold $primary"
# The least part of a row that the name itself gets.
_NAME_SHARE = 0.6
_LONGEST = 300


class FinderList(RowList):
    """Shows names, one in each row."""

    HELP_TITLE = "Names"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        self.found = FoundNames("", (), 0, 0)

    @property
    def name_under_cursor(self) -> Name | None:
        """The selected name."""
        names, number = self.found.names, self.highlighted
        return names[number] if number is not None and number < len(names) else None

    def show(self, found: FoundNames) -> None:
        """Show names; the cursor goes to the best one if something else was typed."""
        is_same = found.typed == self.found.typed and self.highlighted is not None
        self.found = found
        first = min(self.highlighted or 0, len(found.names) - 1) if is_same else 0
        self.show_rows(len(found.names), first)

    def draw(self, number: int, width: int) -> list[Content]:
        """Return a row: a path, or the name of a symbol with its kind and place."""
        name = self.found.names[number]
        text = marked_name(name, self.found.typed)
        if not name.kind:
            return [fit_path(text, width).truncate(width, ellipsis=True, pad=True)]
        place = Content.styled(name_text(f"{name.place.path}:{name.place.line}", _LONGEST), "$text-muted")
        text = fit_path(text + Content.styled(f" {name.kind}", "$text-muted"), int(width * _NAME_SHARE))
        room = width - text.cell_length - 2
        right = fit_path(place, room) if room > 0 else Content("")
        return [text + Content(" " * max(0, width - text.cell_length - right.cell_length)) + right]


def marked_name(name: Name, typed: str) -> Content:
    """Return a name with its matched letters marked, and its first part muted."""
    shown = one_line(name.text)
    if shown != name.text:
        # With escapes in it, the places of the letters are others.
        return Content(name_text(name.text, _LONGEST))
    marked = marked_places(name, typed)

    def style(place: int) -> str:
        return _MARK if place in marked else "$text-muted" if place < name.tail else ""

    parts = groupby(range(len(name.text)), key=style)
    return Content.assemble(*(("".join(name.text[place] for place in places), known) for known, places in parts))
