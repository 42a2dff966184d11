"""The base of screens with two panes: a list on the left, a view with tabs on the right, and their keys."""

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from textual.geometry import Offset
from textual.widget import Widget
from textual.widgets import Input, Static

from keyhole.core.types.bundle import BundleItem
from keyhole.core.view.text import one_line
from keyhole.tui.screens.resizable import ResizableScreen
from keyhole.tui.sticky_header import enclosing
from keyhole.tui.widgets.bars import KeyBar, tab_names
from keyhole.tui.widgets.line_view import LineView
from keyhole.tui.widgets.query_line import QueryLine
from keyhole.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from keyhole.tui.history import Place
    from keyhole.tui.screens.jump import Target


class PanesScreen(ResizableScreen):
    """A screen with a list, and a view of the selected item."""

    TABS: ClassVar[tuple[str, ...]]

    def __init__(self) -> None:
        super().__init__()
        self.tab = self.TABS[0]

    @property
    def list_pane(self) -> Widget:
        """The pane on the left."""
        return self.query_one("#panes").children[0]

    @property
    def view(self) -> LineView:
        """The pane on the right."""
        return self.query_one("#view", LineView)

    def tabs(self) -> Content:
        """Return the names of the tabs, for the frame of the view."""
        return tab_names(self.TABS, self.tab)

    def jump_targets(self) -> "list[Target]":
        """Return the panes and the tabs of the view."""
        from keyhole.tui.screens.jump import Target

        if not self.view.display:
            return super().jump_targets()
        # The title starts two cells right of the frame's corner.
        names, corner = self.tabs().plain, self.view.region.offset + Offset(2, 0)
        tabs = [Target(corner + Offset(names.index(tab), 0), partial(self.action_show_tab, tab)) for tab in self.TABS]
        return super().jump_targets() + tabs

    def on_descendant_focus(self) -> None:
        """Mark which pane has the focus: on a narrow terminal only that one is shown."""
        self.set_class(self.is_reading, "-reading")

    @property
    def is_reading(self) -> bool:
        """Whether the view is shown when there is room for one pane only."""
        return self.view.has_focus or self.view.is_asking

    def action_tab(self, step: int) -> None:
        """Go to the next or the previous tab."""
        self.action_show_tab(self.TABS[(self.TABS.index(self.tab) + step) % len(self.TABS)])

    def action_show_tab(self, tab: str) -> None:
        """Go to a tab."""
        self.tab = tab

    def action_zoom(self) -> None:
        """Show only the focused pane, or both."""
        self.toggle_class("-zoomed")

    def action_back(self) -> None:
        """Leave the zoom, or else the view."""
        if self.view.stop_finding():
            return
        if self.has_class("-zoomed"):
            self.remove_class("-zoomed")
        else:
            self.list_pane.focus()

    @property
    def current_place(self) -> "Place | None":
        """The current line of the file in the view, if it shows one."""
        return None

    def part_to_mark(self) -> BundleItem | None:
        """Return what `mark` is about here: lines of the file in the view."""
        place = self.current_place
        if place is None:
            return None
        selection = self.view.text_selection
        first, last = self.view.selected_lines if selection else (place.line, place.line)
        return BundleItem(place.path, first, last)

    def symbol_to_mark(self) -> BundleItem | None:
        """Return the definition around the current line of the file in the view."""
        place = self.current_place
        # One that starts on the line counts too.
        around = enclosing(self.view.document.symbols, place.line + 1) if place else []
        if place is None or not around:
            return None
        symbol = around[-1]
        return BundleItem(place.path, symbol=f"{symbol.parent}.{symbol.name}" if symbol.parent else symbol.name)

    def action_mark(self) -> None:
        """Mark or unmark what is selected."""
        self._mark(self.part_to_mark(), "Select a result, a file or a line to mark it.")

    def action_mark_symbol(self) -> None:
        """Mark or unmark the definition around the current line."""
        self._mark(self.symbol_to_mark(), "No definition is known around this line.")

    def _mark(self, item: BundleItem | None, advice: str) -> None:
        if item:
            self.explorer.marking.toggle(item)
        else:
            self.notify(advice, timeout=3)

    def action_blame(self) -> None:
        """Show or hide who changed the current line last."""
        from keyhole.tui.widgets.blame_bar import BlameBar

        service = self.explorer.service
        if service is None:
            return
        if problem := self.explorer.git_changes.problem if self.explorer.git_changes else "":
            self.notify(f"No blame: {one_line(problem)}.", timeout=3, markup=False)
        elif bars := self.query(BlameBar):
            bars.first().display = not bars.first().display
        else:
            self.mount(BlameBar(service.git, lambda: self.current_place), before=self.query_one(KeyBar))

    def action_reopen_references(self) -> None:
        """Show the references that were closed last."""
        self.explorer.show_references()

    def action_check_files(self) -> None:
        """Check for changed files now, and parse again what could not be parsed, as `keyhole index` does."""
        self.explorer.index_again(retry=True)


class QueryScreen(PanesScreen):
    """A screen with an input line, a list of rows below it, and a line for problems between them."""

    @property
    def rows(self) -> RowList:
        """The list on the left."""
        return self.query_one(RowList)

    def on_input_submitted(self, _: Input.Submitted) -> None:
        """Move the focus from the line to the rows."""
        self.rows.focus()

    def action_query(self) -> None:
        """Move the focus to the line."""
        self.query_one(QueryLine).focus()

    def action_move(self, step: int) -> None:
        """Move the cursor in the rows while the focus stays in the line."""
        self.rows.action_move(step)

    def show_problem(self, text: str) -> None:
        """Show a problem; an empty text hides it."""
        problem = self.query_one("#problem", Static)
        if text or problem.has_class("-shown"):
            problem.update(f"✗ {text}" if text else "")
            problem.set_class(bool(text), "-shown")
