"""The list of results: one page, each with its score and cost; results that were left out follow below a line."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content

from keyhole.core.types.bundle import Bundle, BundleItem
from keyhole.core.view.text import count_of, name_text
from keyhole.tui.change_marks import change_mark
from keyhole.tui.key_names import key_of
from keyhole.tui.mark_sign import mark_sign
from keyhole.tui.widgets.bars import clickable, with_marks
from keyhole.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from keyhole.core.git.git_changes import GitChanges
    from keyhole.core.search.match_marks import Marks
    from keyhole.tui.answer import Answer, Row

# From this width on there is room for the level of a shortened result.
_WITH_LEVEL = 60


class ResultList(RowList):
    """Shows one page of results."""

    HELP_TITLE = "Results"
    lines_each: ClassVar[int] = 2

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        # None is the line above the results that were left out.
        self._rows: list[Row | None] = []
        self._left_out: tuple[Row, ...] = ()
        self._marks: Marks | None = None
        self._changes: GitChanges | None = None
        self._bundle = Bundle()

    def on_mount(self) -> None:
        """Watch what changed since the last commit."""
        self.watch(self.app, "git_changes", self._on_changes)
        self.watch(self.app, "bundle", self._on_bundle)

    def _on_changes(self, changes: "GitChanges | None") -> None:
        self._changes = changes
        self.draw_again()

    def _on_bundle(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self.draw_again()

    @property
    def row(self) -> "Row | None":
        """The result under the cursor."""
        return self._rows[self.highlighted] if self.highlighted is not None and self._rows else None

    @property
    def rows(self) -> "list[Row]":
        """The results in the list, in order."""
        return [row for row in self._rows if row]

    def show(self, answer: "Answer", *, with_left_out: bool, place: tuple[str, int] | None = None) -> None:
        """Show a page, with the cursor on the result at a place, or else on the first."""
        self._left_out, self._marks = answer.left_out, answer.marks
        self._rows = list(answer.shown)
        if self._left_out:
            self._rows += [None, *(self._left_out if with_left_out else ())]
        places = [row.place if row else None for row in self._rows]
        self.show_rows(len(self._rows), places.index(place) if place and place in places else 0)

    def say(self, lines: Iterable[str]) -> None:
        """Show a text instead of results."""
        self._rows = []
        super().say(lines)

    def can_highlight(self, number: int) -> bool:
        """Return whether a row is a result, not the line above those left out."""
        return self._rows[number] is not None

    def draw(self, number: int, width: int) -> list[Content]:
        """Return a result on two lines: place, score and cost, then its signature."""
        row = self._rows[number]
        if row is None:
            return self._left_out_line(is_open=number + 1 < len(self._rows))
        hit = row.hit
        items = BundleItem(hit.path, hit.start_line, hit.end_line), BundleItem(hit.path, symbol=hit.qualified_name)
        sign = Content.styled(mark_sign(self._bundle, *items), "bold $secondary")
        mark = change_mark(self._changes, hit.path) + sign
        return [_place_line(row, width, self._marks, mark), _label_line(row, width, self._marks)]

    def _left_out_line(self, *, is_open: bool) -> list[Content]:
        tokens = sum(row.tokens for row in self._left_out)
        hint = f"    {key_of('left-out')}: {'hide' if is_open else 'show'} · {key_of('raise-budget')}: raise the budget"
        text = f"─── Left out: {count_of(len(self._left_out), 'result')}, {count_of(tokens, 'token')} ───"
        return [Content.styled(text, "$warning"), Content.styled(hint, "$text-muted")]


def _place_line(row: "Row", width: int, marks: "Marks | None", mark: Content) -> Content:
    hit, is_left_out = row.hit, row.is_left_out
    cost = f"{row.tokens:>6,} tok"
    figures = Content.assemble(
        (f"  {hit.score:.2f}", "$text-muted"), (cost, "$text-muted" if is_left_out else "$warning")
    )
    path = name_text(hit.path)
    folder, _, name = path.rpartition("/")
    place = Content.assemble(
        (f"{folder}/" if folder else "", "$text-muted"),
        (name, "$text-muted" if is_left_out else "bold"),
        (f":{hit.line}", "$text-muted"),
        (f" +{hit.further_count:,}" if hit.further_count else "", "$secondary"),
    )
    place = with_marks(place, marks.path_spans(path) if marks else ())
    return fit_path(place + mark, width - figures.cell_length) + figures


def _label_line(row: "Row", width: int, marks: "Marks | None") -> Content:
    dim = "$text-muted" if row.is_left_out else "$foreground"
    # A narrow list needs the room for the signature.
    shortened = f" shortened: {row.level}" if width >= _WITH_LEVEL else " shortened"
    note = " left out" if row.is_left_out else shortened if row.is_shortened else ""
    after = with_marks(Content.styled(row.label.after, dim), marks.spans(row.label.after) if marks else ())
    label = Content.assemble((f"  {row.label.before}", dim), (row.label.kind, "$secondary"), " ", after)
    return label.truncate(width - len(note), ellipsis=True, pad=True) + Content.styled(note, "$warning")


def fit_path(content: Content, width: int) -> Content:
    """Shorten a path at its start, its least useful part."""
    if content.cell_length <= width:
        return content.pad_right(width - content.cell_length)
    return Content("…") + content[len(content) - width + 1 :]


def nothing_left_out_text(answer: "Answer") -> str:
    """Return what `c` says about a page from which no result was left out."""
    shortened = sum(row.is_shortened for row in answer.rows)
    if shortened:
        results = count_of(shortened, "result")
        return f"Nothing was left out. Shortened: {results}; press {key_of('in-full')} to see one in full."
    if answer.next_offset is not None:
        return f"Nothing was shortened or left out. More pages: press {key_of('next-page')}."
    return "Complete: nothing was shortened or left out."


NOTHING_SHORTENED = "Nothing on this page is shortened."


def too_large_text() -> str:
    """Return what to do about a result that the budget shortens even if it is alone."""
    budget, file = key_of("raise-budget"), key_of("open")
    return f"This result alone is over the budget. Press {budget} to raise the budget, or {file} to open the file."


# In place of the pages while the results are older than the search.
SEARCHING = Content.styled("◌ searching for the new query", "$secondary")


def paging(answer: "Answer | None", page: int) -> Content:
    """Return the number of the page, and arrows to the other pages."""
    if answer is None or not answer.rows:
        return Content("")
    return page_arrows(page, answer.result.total, has_next=answer.next_offset is not None)


def page_arrows(page: int, total: int, *, has_next: bool) -> Content:
    """Return the number of a page of any list, the total, and arrows to the other pages."""
    return Content.assemble(
        f"Page {page:,} · {count_of(total, 'result')}  ",
        clickable(Content.styled(f"◂ {key_of('previous-page')}", _can(page > 1)), "screen.previous_page"),
        "  ",
        clickable(Content.styled(f"{key_of('next-page')} ▸", _can(has_next)), "screen.next_page"),
    )


def _can(is_possible: bool) -> str:
    return "bold $primary" if is_possible else "$text-muted"
