"""What agents' calls cost and what their answers lacked, as charts."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from keyhole.core.errors import KeyholeError
from keyhole.core.journal.statistics import statistics
from keyhole.core.view.stats_text import stats_text
from keyhole.tui import keys
from keyhole.tui.background import run_in_thread
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.key_names import marked_up_key
from keyhole.tui.messages import StatisticsCounted
from keyhole.tui.screens.base import KeyholeScreen
from keyhole.tui.screens.scrolling import Scrolling
from keyhole.tui.widgets.charts import (
    Chart,
    draw_answers,
    draw_clients,
    draw_slowest,
    draw_tools,
    draw_utilisation,
)

if TYPE_CHECKING:
    from keyhole.core.journal.statistics import Statistics
    from keyhole.core.service import Service

# Counting reads the whole journal, so it runs at intervals rather than with every call.
_COUNT_EVERY = 2.0
_EMPTY = f"""[bold]○ Nothing to count yet[/]

No calls recorded for this workspace yet.
Press {marked_up_key("traffic")} for Traffic to serve agents and connect them."""


class StatsScreen(Scrolling, KeyholeScreen):
    """Charts of all calls in the journal."""

    HELP_TITLE = "Stats"
    CSS_PATH = "../styles/stats.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.STATS

    def __init__(self) -> None:
        super().__init__()
        self.statistics: Statistics | None = None
        self._is_counting = False
        self._waiting: Timer | None = None

    def compose_body(self) -> ComposeResult:
        """Create the charts."""
        with VerticalScroll(id="charts", can_focus=False):
            yield Static(_EMPTY, id="no-stats")
            with Horizontal(classes="charts-row"):
                yield Chart("All calls", draw_answers, id="answers")
                yield Chart("Calls by share of the budget used", draw_utilisation, id="utilisation")
            with Horizontal(classes="charts-row"):
                yield Chart("Tokens by tool", draw_tools, id="tools")
                yield Chart("Tokens by client", draw_clients, id="clients")
            yield Chart("Slowest calls", draw_slowest, id="slowest")

    def on_mount(self) -> None:
        """Follow the calls."""
        self.watch(self.app, "calls_version", self._on_calls, init=False)

    def on_screen_resume(self) -> None:
        """Count the calls again."""
        self.action_count()

    @property
    def is_settled(self) -> bool:
        """Whether the charts are up to date."""
        return not self._is_counting

    def _on_calls(self, _: int) -> None:
        if self.is_current and self._waiting is None:
            self._waiting = self.set_timer(_COUNT_EVERY, self.action_count)

    def action_count(self) -> None:
        """Count the calls, in a worker."""
        self._waiting = None
        service = self.explorer.service
        if service is not None and not self._is_counting:
            self._is_counting = True
            run_in_thread(self, lambda: self._count(service), "stats")

    def _count(self, service: "Service") -> None:
        reader = service.journal_reader()
        try:
            self.post_message(StatisticsCounted(statistics(reader.each())))
        except KeyholeError as error:
            self.post_message(StatisticsCounted(error))
        finally:
            reader.close()

    def on_statistics_counted(self, message: StatisticsCounted) -> None:
        """Draw the charts."""
        self._is_counting = False
        if isinstance(message.statistics, KeyholeError):
            self.notify(problem_text(message.statistics), severity="error", markup=False)
            return
        self.statistics = message.statistics
        self.set_class(bool(self.statistics.total.calls), "-counted")
        for chart in self.query(Chart):
            chart.show(self.statistics)

    def action_copy(self) -> None:
        """Copy the figures."""
        if self.statistics:
            self.explorer.copy(stats_text(self.statistics, self.explorer.project), "figures")

    @property
    def scrolled(self) -> Widget:
        """The charts."""
        return self.query_one("#charts")
