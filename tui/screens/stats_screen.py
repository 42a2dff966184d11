"""What agents' calls cost and what their answers lacked, as charts."""

from asyncio import TimerHandle
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.events import ScreenResume
from textual.widgets import Static

from keyhole.core.errors import KeyholeError
from keyhole.core.journal.statistics import statistics
from keyhole.core.view.stats_text import stats_text
from keyhole.tui import keys
from keyhole.tui.background import run_in_thread, run_later
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.key_names import marked_up_key
from keyhole.tui.messages import StatisticsCounted
from keyhole.tui.screens.base import KeyholeScreen
from keyhole.tui.widgets.charts import (
    Bar,
    Chart,
    answer_bars,
    client_bars,
    conversation_bars,
    day_bars,
    hour_bars,
    server_bars,
    slowest_bars,
    tool_bars,
    total_lines,
    utilisation_bars,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keyhole.core.journal.statistics import Statistics
    from keyhole.core.service import Service
    from keyhole.core.wrap.server_statistics import ServerCounter, ServerFigures

# Counting reads the whole journal, so it runs at intervals rather than with every call.
_COUNT_EVERY = 2.0
_EMPTY = f"""[bold]○ Nothing to count yet[/]

No calls recorded for this workspace yet.
Press {marked_up_key("traffic")} for Traffic to serve agents and connect them."""


class StatsScreen(KeyholeScreen):
    """Charts of all calls in the journal, with a cursor on one of the bars."""

    HELP_TITLE = "Stats"
    CSS_PATH = "../styles/stats.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.STATS

    def __init__(self) -> None:
        super().__init__()
        self.statistics: Statistics | None = None
        self.cursor = 0
        self._is_counting = False
        self._servers = ""
        self._waiting: TimerHandle | None = None
        self._counter: ServerCounter | None = None

    def compose_body(self) -> ComposeResult:
        """Create the charts."""
        with VerticalScroll(id="charts", can_focus=False):
            yield Static(_EMPTY, id="no-stats")
            with Horizontal(classes="charts-row"):
                yield Chart("All calls", answer_bars, id="answers", more=total_lines)
                yield Chart("Calls by share of the budget used", utilisation_bars, id="utilisation")
            with Horizontal(classes="charts-row"):
                yield Chart("Tokens by tool", tool_bars, id="tools")
                yield Chart("Tokens by client", client_bars, id="clients")
            yield Chart("Tokens by server", server_bars, id="servers")
            yield Static(id="wrapped", markup=False)
            yield Chart("Tokens by conversation, newest first", conversation_bars, id="conversations")
            with Horizontal(classes="charts-row"):
                yield Chart("Tokens by day", day_bars, id="days")
                yield Chart("Tokens by hour", hour_bars, id="hours")
            yield Chart("Slowest calls", slowest_bars, id="slowest")

    def on_mount(self) -> None:
        """Follow the calls."""
        self.watch(self.app, "calls_version", self._on_calls, init=False)

    def on_screen_resume(self, _: ScreenResume) -> None:
        """Count the calls again."""
        self.action_count()

    @property
    def is_settled(self) -> bool:
        """Whether the charts are up to date."""
        return not self._is_counting

    def _on_calls(self, _: int) -> None:
        if self.is_current and self._waiting is None:
            self._waiting = run_later(self, _COUNT_EVERY, self.action_count)

    def action_count(self) -> None:
        """Count the calls, in a worker."""
        self._waiting = None
        service = self.explorer.service
        if service is not None and not self._is_counting:
            self._is_counting = True
            run_in_thread(self, lambda: self._count(service), "stats")

    def _count(self, service: "Service") -> None:
        from keyhole.core.delivery import cut_by_client
        from keyhole.core.wrap.server_statistics import ServerCounter

        self._counter = self._counter or ServerCounter()
        reader = service.journal_reader()
        try:
            found = statistics(reader.each(), lambda call: cut_by_client(call, reader, service.settings))
            self.post_message(StatisticsCounted(found, tuple(self._counter.count(reader))))
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
        self._show_servers(message.servers)
        self._move_to(min(self.cursor, max(0, len(self._places) - 1)))

    def _show_servers(self, servers: "Sequence[ServerFigures]") -> None:
        """Show what each wrapped server's tools cost, and how many of their answers are over the limits of clients."""
        from keyhole.core.wrap.server_statistics import servers_text

        self._servers = servers_text(servers)
        table = self.query_one("#wrapped", Static)
        table.border_title = "Wrapped servers"
        table.update(self._servers.rstrip("\n"))
        table.set_class(not servers, "-empty")

    def action_copy(self) -> None:
        """Copy the figures."""
        if self.statistics:
            figures = stats_text(self.statistics, self.explorer.project)
            self.explorer.copy("\n".join(filter(None, [figures, self._servers])), "figures")

    # The cursor

    @property
    def _places(self) -> list[tuple[Chart, int]]:
        """All bars, in the order of the screen."""
        return [(chart, number) for chart in self.query(Chart) for number in range(len(chart.bars))]

    @property
    def bar(self) -> Bar | None:
        """The bar under the cursor."""
        places = self._places
        return places[self.cursor][0].bars[places[self.cursor][1]] if self.cursor < len(places) else None

    def _move_to(self, cursor: int) -> None:
        places = self._places
        if not places:
            return
        self.cursor = min(max(cursor, 0), len(places) - 1)
        chosen, number = places[self.cursor]
        for chart in self.query(Chart):
            chart.set_cursor(number if chart is chosen else None)
        self.call_after_refresh(self._show_cursor, chosen, number)

    def _show_cursor(self, chart: Chart, number: int) -> None:
        """Scroll until the bar is on the screen, with the frame above the first one."""
        box = self.query_one("#charts")
        line = chart.region.y + 1 + number - box.region.y
        if line - (number == 0) < 0 or number == self.cursor == 0:
            box.scroll_relative(y=line - 1, animate=False)
        elif line >= box.size.height - 1:
            box.scroll_relative(y=line - box.size.height + 2, animate=False)

    def action_move(self, step: int) -> None:
        """Go to the next or the previous bar."""
        self._move_to(self.cursor + step)

    def action_move_half(self, step: int) -> None:
        """Go half a screen further."""
        self._move_to(self.cursor + step * max(1, self.query_one("#charts").size.height // 2))

    def action_move_to(self, place: int) -> None:
        """Go to the first bar, or to the last."""
        self._move_to(place if place >= 0 else len(self._places) - 1)

    def action_chart(self, step: int) -> None:
        """Go to the first bar of the next or the previous chart."""
        firsts = [number for number, (_, bar) in enumerate(self._places) if bar == 0]
        here = max((at for at, first in enumerate(firsts) if first <= self.cursor), default=0)
        if firsts:
            self._move_to(firsts[(here + step) % len(firsts)])

    def on_chart_chosen(self, message: Chart.Chosen) -> None:
        """Move the cursor to the clicked bar, or show its calls if the cursor is there already."""
        place = self._places.index((message.chart, message.number))
        if place == self.cursor:
            self.action_select()
        else:
            self._move_to(place)

    def action_select(self) -> None:
        """Show the calls of the bar in Traffic."""
        if self.bar:
            self.explorer.open_calls(self.bar.filter)
