"""The list of results: one page, each with its score and what it costs; what was cut stands below a line."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from keyhole.core.view.text import count_of, name_text

if TYPE_CHECKING:
    from keyhole.tui.answer import Answer, Row


class RowVisual(Visual):
    """One result on two lines, as wide as the list: place, score and cost, then what it is."""

    def __init__(self, row: "Row") -> None:
        self._row = row

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:  # noqa: ARG002
        """Render both lines."""
        return [
            strip
            for line in (self._first(width), self._second(width))
            for strip in line.render_strips(width, 1, style, options)
        ]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:  # noqa: ARG002
        """Take all there is."""
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:  # noqa: ARG002
        """Return the number of lines."""
        return 2

    def _first(self, width: int) -> Content:
        hit, is_cut = self._row.hit, self._row.is_cut
        cost = f"{self._row.tokens:>6,} tok"
        figures = Content.assemble(
            (f"  {hit.score:.2f}", "$text-muted"), (cost, "$text-muted" if is_cut else "$warning")
        )
        folder, _, name = name_text(hit.path).rpartition("/")
        place = Content.assemble(
            (f"{folder}/" if folder else "", "$text-muted"),
            (name, "$text-muted" if is_cut else "bold"),
            (f":{hit.line}", "$text-muted"),
        )
        return _fit(place, width - figures.cell_length) + figures

    def _second(self, width: int) -> Content:
        row = self._row
        dim = "$text-muted" if row.is_cut else "$foreground"
        note = f" ↓ {row.level}" if row.is_lowered else ""
        label = Content.assemble((f"  {row.hit.kind} ", "$secondary"), (row.label, dim))
        return _fit_end(label, width - len(note)) + Content.styled(note, "$warning")


def _fit(content: Content, width: int) -> Content:
    """Shorten a path at its start, where it tells least."""
    if content.cell_length <= width:
        return content.pad_right(width - content.cell_length)
    return Content("…") + content[len(content) - width + 1 :]


def _fit_end(content: Content, width: int) -> Content:
    return content.truncate(width, ellipsis=True, pad=True)


class ResultList(OptionList):
    """One page of results."""

    HELP_TITLE = "In the results"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", "read", tooltip="Go into the view of the result"),
        Binding("j", "cursor_down", "next", show=False, tooltip="Next result"),
        Binding("k", "cursor_up", "previous", show=False, tooltip="Previous result"),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id, markup=False, compact=True)
        self._rows: list[Row | None] = []

    @property
    def row(self) -> "Row | None":
        """The result under the cursor."""
        return self._rows[self.highlighted] if self.highlighted is not None and self._rows else None

    @property
    def rows(self) -> "list[Row]":
        """The results in the list, in order."""
        return [row for row in self._rows if row]

    def show(self, answer: "Answer", *, with_cut: bool) -> None:
        """Show a page, the cursor on its first result."""
        rows: list[Row | None] = list(answer.shown)
        options: list[Option] = [Option(RowVisual(row)) for row in answer.shown]
        if answer.cut:
            rows += [None, *(answer.cut if with_cut else ())]
            options.append(Option(_cut_line(answer.cut, with_cut=with_cut), disabled=True))
            options += [Option(RowVisual(row)) for row in answer.cut if with_cut]
        self._rows = rows
        self.set_options(options)
        self.highlighted = 0 if rows else None

    def say(self, lines: Iterable[str]) -> None:
        """Show a text instead of results."""
        self._rows = []
        self.set_options([Option(Content.from_markup(line), disabled=True) for line in lines])
        self.highlighted = None


def _cut_line(cut: "tuple[Row, ...]", *, with_cut: bool) -> Content:
    tokens = sum(row.tokens for row in cut)
    way = "" if with_cut else " · c shows them"
    return Content.styled(f"─ ─ ─ cut here: {count_of(len(cut), 'result')}, {tokens:,} tok{way} ─ ─ ─", "$warning")
