"""Files with what they cost: measuring in the background, and the column beside the names."""

from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from keyhole.core.errors import KeyholeError
from keyhole.core.types.costs import with_folders
from keyhole.core.types.inventory import Inventory
from keyhole.tui.background import run_in_thread
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.messages import CostsMeasured
from keyhole.tui.screens.link_navigation import LinkNavigationScreen
from keyhole.tui.token_heat import Heat, HeatColumn
from keyhole.tui.widgets.bars import set_title
from keyhole.tui.widgets.file_tree import FileTree

if TYPE_CHECKING:
    from keyhole.core.service import Service

# How many files are measured between two figures of the progress.
_SAID_EVERY = 50


class CostColumnScreen(LinkNavigationScreen):
    """A screen with a tree of files that can show what they cost."""

    def __init__(self) -> None:
        super().__init__()
        self.heat = Heat.NONE
        self._is_measuring = False
        # Whether files have changed since measuring began.
        self._is_outdated = False

    @property
    def has_measured(self) -> bool:
        """Whether the costs on the screen are current."""
        return not self._is_measuring

    def action_costs(self) -> None:
        """Show what reading each file costs, then what mapping it costs, then neither."""
        self.heat = self.heat.next
        if self.explorer.token_costs is None and self.heat:
            self._measure()
        self._show_costs()

    def on_inventory_changed(self, _: Inventory) -> None:
        """Measure files that have changed, if costs are shown."""
        if self._is_measuring:
            self._is_outdated = True
        elif self.explorer.token_costs is not None:
            self._measure()

    def _measure(self) -> None:
        service = self.explorer.service
        if service and not self._is_measuring:
            self._is_measuring, self._is_outdated = True, False
            run_in_thread(self, partial(self._measure_all, service), "costs")

    def _measure_all(self, service: "Service") -> None:
        def report(done: int, total: int) -> None:
            if done % _SAID_EVERY == 0:
                self.post_message(CostsMeasured(None, done, total))

        try:
            costs = service.token_costs(report)
            self.post_message(CostsMeasured(with_folders(costs), len(costs), len(costs)))
        except KeyholeError as error:
            self.post_message(CostsMeasured(None, 0, 0, error))

    def on_costs_measured(self, message: CostsMeasured) -> None:
        """Show the costs, or how many files are measured."""
        if message.costs is None and not message.error:
            self._show_title(f"measuring {message.done:,} of {message.total:,}")
            return
        self._is_measuring = False
        if message.error:
            self.notify(f"No costs: {problem_text(message.error)}", severity="warning", markup=False)
        else:
            self.explorer.token_costs = message.costs
        self._show_costs()
        if self._is_outdated:
            self._measure()

    def _show_costs(self) -> None:
        costs = self.explorer.token_costs
        tree = self.query_one(FileTree)
        tree.show_heat(HeatColumn(self.heat, costs) if self.heat and costs is not None else None)
        self._show_title("measuring" if costs is None and self.heat else "")

    def _show_title(self, progress: str) -> None:
        what = f" · tokens to {self.heat}" if self.heat else ""
        set_title(self.query_one(FileTree), Content(f"Files{what}" + (f" · {progress}" if progress else "")))
