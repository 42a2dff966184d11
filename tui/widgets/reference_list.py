"""The list of references, callers, callees or relatives."""

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content

from keyhole.tui import keys
from keyhole.tui.hit_marks import NameMarks
from keyhole.tui.reference_rows import ReferenceRow
from keyhole.tui.widgets.bars import with_marks
from keyhole.tui.widgets.results import fit_path
from keyhole.tui.widgets.row_list import RowList

_INDENT = "  "


class ReferenceList(RowList):
    """Shows one page, grouped by certainty; Enter follows a row."""

    HELP_TITLE = "List of references"
    BINDINGS: ClassVar[list[BindingType]] = keys.REFERENCE_LIST
    lines_each: ClassVar[int] = 2

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        self.rows: list[ReferenceRow] = []
        # The name of the definition that the references are about.
        self.name_to_mark = ""

    @property
    def row(self) -> ReferenceRow | None:
        """The row under the cursor."""
        return self.rows[self.highlighted] if self.highlighted is not None and self.rows else None

    @property
    def result(self) -> int | None:
        """The number of the result under the cursor; titles are not results."""
        places = [number for number, row in enumerate(self.rows) if not row.is_title]
        return places.index(self.highlighted) if self.highlighted in places else None

    def select_result(self, number: int) -> None:
        """Move the cursor to a result."""
        self.highlighted = [at for at, row in enumerate(self.rows) if not row.is_title][number]

    def show(self, rows: list[ReferenceRow], cursor: int | None) -> None:
        """Show rows, with the cursor where it was, or else on the first place."""
        self.rows = rows
        is_there = cursor is not None and cursor < len(rows) and not rows[cursor].is_title
        first = next((number for number, row in enumerate(rows) if not row.is_title), None)
        self.show_rows(len(rows), cursor if is_there else first)

    def say(self, lines: Iterable[str]) -> None:
        """Show a text instead of rows."""
        self.rows = []
        super().say(lines)

    def can_highlight(self, number: int) -> bool:
        """Return whether a row is not a title."""
        return not self.rows[number].is_title

    def draw(self, number: int, width: int) -> list[Content]:
        """Return a row on two lines: what it is, then its source or its place."""
        row = self.rows[number]
        if row.is_title:
            first = Content.assemble((row.first, "bold $secondary"), f"  {row.note}")
            return [_cut(first, width), _cut(Content.styled(row.second, "$text-muted"), width)]
        note = Content.styled(f"  {row.note}" if row.note else "", "$text-muted")
        room, indent = width - note.cell_length, _INDENT * row.depth
        if row.is_named:
            first = _cut(Content.assemble(indent, (row.first, "bold")), room)
            second = Content(indent) + fit_path(_place(row.second, "$text-muted"), width - len(indent))
            return [first + note, second]
        first = Content(indent) + fit_path(_place(row.first, "bold"), room - len(indent))
        second = with_marks(Content(row.second), NameMarks(self.name_to_mark).spans(row.second))
        return [first + note, _cut(Content(indent) + second, width)]


def _place(place: str, style: str) -> Content:
    folder, slash, name = place.rpartition("/")
    return Content.assemble((folder + slash, "$text-muted"), (name, style))


def _cut(content: Content, width: int) -> Content:
    return content.truncate(width, ellipsis=True, pad=True)
