"""What screens with two panes share: a list on the left, a view with tabs on the right, and the keys for both."""

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Offset
from textual.widget import Widget
from textual.widgets import Input, Static

from keyhole.tui.screens.base import KeyholeScreen
from keyhole.tui.widgets.bars import tab_names
from keyhole.tui.widgets.line_view import LineView
from keyhole.tui.widgets.query_line import QueryLine
from keyhole.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from keyhole.tui.screens.jump import Target

TAB_KEYS: list[BindingType] = [
    Binding("right_square_bracket", "tab(1)", "tab", key_display="]", tooltip="Next tab"),
    Binding("left_square_bracket", "tab(-1)", "tab", key_display="[", tooltip="Previous tab"),
]
PANE_KEYS: list[BindingType] = [
    Binding("z", "zoom", "zoom", tooltip="Give one pane the whole width"),
    Binding("r", "look_again", "look again", show=False, tooltip="Look for changed files now"),
    Binding("escape", "back", "back", show=False, tooltip="Go back one step: out of the zoom, out of the view"),
]
BUDGET_KEYS: list[BindingType] = [
    Binding("minus", "budget(-1)", "budget", key_display="-", tooltip="Smaller budget of tokens"),
    Binding("plus,equals_sign", "budget(1)", "budget", key_display="+", tooltip="Larger budget of tokens"),
]


class PanesScreen(KeyholeScreen):
    """A list and a view of what is chosen in it."""

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
        """Name the tabs, for the frame of the view."""
        return tab_names(self.TABS, self.tab)

    def jump_targets(self) -> "list[Target]":
        """List the panes, and the tabs of the view."""
        from keyhole.tui.screens.jump import Target

        if not self.view.display:
            return super().jump_targets()
        # The title begins after the corner and two cells of the frame.
        names, corner = self.tabs().plain, self.view.region.offset + Offset(2, 0)
        tabs = [Target(corner + Offset(names.index(tab), 0), partial(self.action_show_tab, tab)) for tab in self.TABS]
        return super().jump_targets() + tabs

    def on_descendant_focus(self) -> None:
        """One pane at a time has the width when there is little of it: the one with the focus."""
        self.set_class(self.is_reading, "-reading")

    @property
    def is_reading(self) -> bool:
        """Whether the view counts more than the list."""
        return self.view.has_focus

    def action_tab(self, step: int) -> None:
        """Go to the next tab."""
        self.action_show_tab(self.TABS[(self.TABS.index(self.tab) + step) % len(self.TABS)])

    def action_show_tab(self, tab: str) -> None:
        """Go to a tab."""
        self.tab = tab

    def action_zoom(self) -> None:
        """Give the pane with the focus the whole width, or both their share."""
        self.toggle_class("-zoomed")

    def action_back(self) -> None:
        """Go back one step: out of the zoom, out of the view."""
        if self.has_class("-zoomed"):
            self.remove_class("-zoomed")
        else:
            self.list_pane.focus()

    def action_look_again(self) -> None:
        """Look for changed files now."""
        self.explorer.index_again()


class QueryScreen(PanesScreen):
    """A line to type into above a list of rows, and what is wrong with what was typed between them."""

    @property
    def rows(self) -> RowList:
        """The pane on the left."""
        return self.query_one(RowList)

    def on_input_submitted(self, _: Input.Submitted) -> None:
        """Go from the line to the rows."""
        self.rows.focus()

    def action_query(self) -> None:
        """Go to the line."""
        self.query_one(QueryLine).focus()

    def action_move(self, step: int) -> None:
        """Move the cursor of the rows from the line."""
        self.rows.action_move(step)

    def show_problem(self, text: str) -> None:
        """Say what is wrong, or no longer."""
        problem = self.query_one("#problem", Static)
        if text or problem.has_class("-shown"):
            problem.update(f"✗ {text}" if text else "")
            problem.set_class(bool(text), "-shown")
