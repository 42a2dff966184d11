"""The Traffic screen: the calls of agents, live, from all servers on this workspace."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult, RenderResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.events import ScreenResume
from textual.widgets import Input, Static

from keyhole.core.errors import KeyholeError
from keyhole.core.types.calls import Call
from keyhole.core.view.stats_text import milliseconds
from keyhole.core.view.text import count_of, json_line, name_text
from keyhole.tui import keys
from keyhole.tui.background import run_in_thread
from keyhole.tui.call import tool_call
from keyhole.tui.call_filter_line import read_filter
from keyhole.tui.call_log import CallLog
from keyhole.tui.call_text import has_more_than_references, is_same_request, references_of, search_of
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.key_names import marked_up_key
from keyhole.tui.local_only import LocalOnly
from keyhole.tui.messages import OlderCallsFound, Replayed
from keyhole.tui.screens.panes import QueryScreen
from keyhole.tui.server_state import ServerPhase, ServerState
from keyhole.tui.widgets.bars import Line, clickable, set_subtitle, set_title, spread, tab_names
from keyhole.tui.widgets.call_list import CallList
from keyhole.tui.widgets.call_view import DIFF, LENS, STORY, TABS, TEXT, CallView, Replay, ShownPart
from keyhole.tui.widgets.query_line import QueryLine
from keyhole.tui.widgets.server_box import ServerBox

if TYPE_CHECKING:
    from keyhole.core.service import Service

_NO_CALLS = "[bold]○ No calls yet[/]"
_SERVE, _SETUP = marked_up_key("serve"), marked_up_key("setup")
_NEXT_STEPS = {
    True: [f"Press {_SETUP} to copy the setup for a client.", f"Press {_SERVE} to stop the server."],
    False: [
        f"Press {_SERVE} to serve this workspace to agents.",
        f"Then press {_SETUP} to copy the setup for a client.",
    ],
}
_NO_MATCHES = ["[bold]○ No calls match this filter[/]", "", "Change or clear the filter to see more."]


def _other_servers() -> list[str]:
    """Return how clients start a server themselves; the table of clients is read only if this is shown."""
    from keyhole.core.install.client_table import installable_clients

    return [
        "Calls to servers that clients start themselves appear here too. To set that up, run:",
        "keyhole install --all, for every client on this machine, or",
        "keyhole install CLIENT, for one of these:",
        ", ".join(installable_clients()),
    ]


class SummaryLine(Line):
    """Shows whether the list is live, and the figures of the shown calls."""

    def render(self) -> RenderResult:
        """Draw the line."""
        screen = self.screen
        if not isinstance(screen, TrafficScreen):
            return Content("")
        return spread(screen.state_text(), screen.figures(), self.size.width)


class TrafficScreen(QueryScreen):
    """Shows the calls, and one of them in detail."""

    HELP_TITLE = "Traffic"
    CSS_PATH = "../styles/traffic.tcss"
    TABS = TABS
    BINDINGS: ClassVar[list[BindingType]] = keys.TRAFFIC

    def __init__(self) -> None:
        super().__init__()
        self.follows = True
        self.replay: Replay | None = None
        # The client on the tab Lens; empty for the one that made the call.
        self.lens = ""
        self._is_replaying = False
        self._is_loading_older = False
        self._filter_problem = ""

    def compose_body(self) -> ComposeResult:
        """Yield the panes."""
        with Horizontal(id="head"):
            yield QueryLine("Any words, tool:read client:claude server:github status:error")
            yield ServerBox(id="server")
        yield Static(id="problem", markup=False)
        yield SummaryLine()
        with Horizontal(id="panes"):
            yield CallList(id="calls")
            yield CallView(id="view")

    def tabs(self) -> Content:
        """Return the names of the tabs: so many that blanks between them would take too much room."""
        return tab_names(self.TABS, self.tab, "│")

    def on_mount(self) -> None:
        """Watch the calls and the server."""
        self.query_one("#query").border_title = "Filter"
        self.query_one("#server").border_title = "Server"
        set_title(self.view, self.tabs())
        self.watch(self.app, "calls_version", self._on_calls)
        self.watch(self.app, "server_state", self._on_server)
        self.query_one(CallList).focus()

    def on_screen_resume(self, _: ScreenResume) -> None:
        """Show the calls made since the screen was left."""
        self._show_calls()

    def show_wanted(self) -> None:
        """Show the calls that Stats asked for, also those that are no longer among the newest."""
        line, self.explorer.wanted_calls = self.explorer.wanted_calls, None
        if line is None:
            return
        self.follows = True
        self.query_one(QueryLine).value = line
        self.rows.focus()
        service, oldest = self.explorer.service, self.calls.oldest
        if service:
            self._is_loading_older = True
            run_in_thread(self, partial(self._load_older, service, line, oldest), "older-calls")

    def _load_older(self, service: "Service", line: str, oldest: int) -> None:
        from keyhole.tui.older_calls import older_calls

        self.post_message(OlderCallsFound(line, older_calls(service, line, oldest)))

    def on_older_calls_found(self, message: OlderCallsFound) -> None:
        """Add older calls to the list, if the filter is still the same."""
        self._is_loading_older = False
        if message.calls and message.line == self.query_one(QueryLine).value:
            self.calls.add_older(message.calls)
            self._show_calls()

    @property
    def is_settled(self) -> bool:
        """Whether everything requested is on the screen."""
        return self._pane.is_settled and not self._is_replaying and not self._is_loading_older

    @property
    def calls(self) -> CallLog:
        """The calls."""
        return self.explorer.calls

    @property
    def call(self) -> Call | None:
        """The call under the cursor."""
        return self.query_one(CallList).call

    @property
    def _pane(self) -> CallView:
        return self.query_one(CallView)

    # Showing

    def _on_calls(self, _: int) -> None:
        # A hidden screen is updated when it is shown again.
        if self.is_current:
            self._show_calls()

    def _on_server(self, state: ServerState) -> None:
        self.query_one(ServerBox).state = state
        self._show_problem()
        if not self.calls.shown:
            self._show_calls()

    def _show_problem(self) -> None:
        self.show_problem(self._filter_problem or self.explorer.server_state.problem)

    def _show_calls(self) -> None:
        calls, log = self.query_one(CallList), self.calls
        self.query_one(QueryLine).completion.words = log.words
        calls.show(log.rows, log.steps, log.marked, follows=self.follows or not log.rows, is_grouped=log.is_grouped)
        if not log.rows:
            calls.say(_NO_MATCHES if self.query_one(QueryLine).value else self._waiting())
        if self.follows or calls.is_at_newest:
            log.see()
        self._show_rest()

    def _waiting(self) -> list[str]:
        is_on = self.explorer.server_state.phase == ServerPhase.ON
        return [_NO_CALLS, "", *_NEXT_STEPS[is_on], "", *_other_servers()]

    def _show_rest(self) -> None:
        """Show the call under the cursor, and the number of new calls."""
        new = self.calls.new
        pill = Content.styled(f" ▲ {count_of(new, 'new call')} · f: follow ", "bold $primary reverse")
        set_subtitle(self.query_one(CallList), clickable(pill, "screen.catch_up") if new else Content(""))
        self.query_one(SummaryLine).refresh()
        service = self.explorer.service
        if self.call and self.tab == STORY:
            self._pane.show_story(self.calls.conversation_of[self.call.id], self.call)
        elif self.call and service:
            self._pane.show_call(service, self.call, self.calls.summary, ShownPart(self.tab, self.lens, self.replay))
        else:
            self._pane.show_nothing()

    def state_text(self) -> Content:
        """Return whether the list is live, paused or following, or why the journal cannot be read."""
        if problem := self.explorer.journal_problem:
            return Content.styled(f"✗ {problem}", "$error")
        is_paused = self.calls.is_paused
        live = ("⏸ paused", "bold $warning") if is_paused else ("● live", "bold $success")
        follows = ("   ▸ following", "$primary") if self.follows and not is_paused else ""
        return Content.assemble(live, follows)

    def figures(self) -> Content:
        """Return the figures of the shown calls."""
        summary = self.calls.summary
        marked = f"★ {len(self.calls.marked):,} · " if self.calls.marked else ""
        latency = f" · p50 {milliseconds(summary.p50_ms)} · p95 {milliseconds(summary.p95_ms)}" if summary.calls else ""
        tokens = f" · {summary.tokens:,} tok" if summary.calls else ""
        return Content.styled(f"{marked}{count_of(summary.calls, 'call')}{tokens}{latency}", "$text-muted")

    # Events

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while typing."""
        try:
            self.calls.show_only(read_filter(event.value, self.calls.words))
            self._filter_problem = ""
        except KeyholeError as error:
            self._filter_problem = problem_text(error)
        self._show_problem()
        self._show_calls()

    def on_row_list_highlighted(self) -> None:
        """Show the call under the cursor; leaving the newest call stops following."""
        calls = self.query_one(CallList)
        if calls.is_at_newest:
            self.calls.see()
        elif calls.call:
            self.follows = False
        self._show_rest()

    def on_row_list_selected(self) -> None:
        """Move the focus to the view and stop following, so that the call stays while it is read."""
        self.follows = False
        self._pane.focus()
        self._show_rest()

    # Actions

    def action_show_tab(self, tab: str) -> None:
        """Go to a tab."""
        super().action_show_tab(tab)
        set_title(self.view, self.tabs())
        self._show_rest()

    def action_follow(self) -> None:
        """Follow the newest call, or stop following."""
        self.follows = not self.follows
        self._show_calls()

    def action_catch_up(self) -> None:
        """Go to the newest call and follow."""
        self.follows = True
        self.calls.pause(False)
        self._show_calls()

    def action_pause(self) -> None:
        """Pause or resume the list."""
        self.calls.pause(not self.calls.is_paused)
        self._show_calls()

    def action_group(self) -> None:
        """Show the calls by conversation, or all in the order of time."""
        self.calls.group(not self.calls.is_grouped)
        self._show_calls()

    def action_mark(self) -> None:
        """Mark or unmark this call."""
        if self.call:
            self.calls.toggle_mark(self.call)
            self._show_calls()

    def action_copy(self) -> None:
        """Copy the text of the tab."""
        if self.call:
            self.explorer.copy(self._pane.document.text, "answer" if self.tab == TEXT else self.tab.lower())

    def action_copy_call(self) -> None:
        """Copy the call as JSON-RPC."""
        if self.call:
            self.explorer.copy(tool_call(self.call.tool, self.call.parameters), "call")

    def action_serve(self) -> None:
        """Start or stop the server."""
        self.explorer.toggle_server()

    def action_copy_setup(self) -> None:
        """Copy the setup for a client, and show it."""
        from keyhole.tui.screens.text_screen import TextScreen

        state = self.explorer.server_state
        if state.phase == ServerPhase.ON:
            self.explorer.copy(state.client_setup, "client setup")
            self.app.push_screen(TextScreen("Client setup", state.client_setup, "client setup"))
            # The setup contains the right token, which settles the rejected requests.
            self.explorer.server_state = replace(state, problem="", rejected=0)
        else:
            self.notify(f"The server is off. Press {_SERVE} to start it.", timeout=3)

    def action_open(self) -> None:
        """Open the call on the screen that can show it."""
        call = self.call
        if call is None:
            return
        given = call.parameters
        if call.server:
            self.notify("Only calls of keyhole's own tools can be opened.", timeout=3)
        elif call.tool == "search_code":
            self._open_search(call)
        elif call.tool in ("map_file", "read_file") and isinstance(path := given.get("path"), str):
            line = given.get("start_line")
            self.explorer.open_file(path, line if isinstance(line, int) else 1, is_map=call.tool == "map_file")
        elif call.tool == "find_references":
            self._open_references(call)
        else:
            self.notify("Only searches, references, maps and reads of one file can be opened.", timeout=3)

    def _open_references(self, call: Call) -> None:
        self.explorer.show_references(references_of(call))
        if has_more_than_references(call):
            text = "Some arguments can't be shown here; opened the closest references."
            self.notify(text, severity="warning")

    def _open_search(self, call: Call) -> None:
        search = search_of(call)
        self.explorer.open_search(search)
        if not is_same_request(search, call):
            self.notify("Some arguments can't be shown here; opened the closest search.", severity="warning")

    def action_missed(self) -> None:
        """Ask for a file, and explain why the answer of this call does not show it."""
        from keyhole.tui.screens.why import MissedScreen, explain_missed

        call, service = self.call, self.explorer.service
        if call is None or service is None:
            return
        self.follows = False
        inventory = self.explorer.inventory
        paths = [*(file.path for file in inventory.files), *(skip.path for skip in inventory.skips)]
        self.app.push_screen(MissedScreen(partial(explain_missed, service, call.id), "", paths))

    def action_add_check(self) -> None:
        """Add the search of this call to the checks file, with the files that were read after it."""
        from keyhole.core.checks.checks_file import CHECKS_FILE
        from keyhole.core.checks.traffic_queries import query_of
        from keyhole.core.checks.written_checks import add_check, query_values

        call, service = self.call, self.explorer.service
        if call is None or service is None or self.explorer.refuses(LocalOnly.EXPORT):
            return
        asked = query_of(self.calls.conversation_of[call.id], call.id)
        if asked is None:
            self.notify("Only a search that ended in a read can become a check.", severity="warning")
            return
        try:
            is_new = add_check(service.root, "query", query_values(asked))
        except KeyholeError as error:
            self.notify(problem_text(error), severity="error", markup=False)
            return
        done = f"Added to {CHECKS_FILE}" if is_new else f"Already in {CHECKS_FILE}"
        self.notify(f"{done}: {name_text(asked.query)} → {', '.join(asked.files)}", markup=False)

    def action_lens(self, step: int) -> None:
        """Show what another client delivers of the answer."""
        from keyhole.core.clients import profile_for, profiles

        names = list(profiles())
        if self.call:
            # From the client that is shown: at first, the one that made the call.
            here = names.index(self.lens or profile_for(self.call.client).id)
            self.lens = names[(here + step) % len(names)] if self.tab == LENS else self.lens
            self.action_show_tab(LENS)

    def action_replay(self) -> None:
        """Replay this call; a call that may change something has to be confirmed."""
        from keyhole.tui.screens.replay import ReplayScreen
        from keyhole.tui.wrapped_replay import replay_warning

        call, tools, service = self.call, self.explorer.tools, self.explorer.service
        if call is None or tools is None or service is None:
            return
        if call.server and self.explorer.refuses(LocalOnly.OTHER_SERVERS):
            return
        self.follows = False

        def start_replay(arguments: dict[str, object] | None) -> None:
            if arguments is not None:
                self._is_replaying = True
                run_in_thread(self, partial(self._replay, service, call, arguments), "replay")

        self.app.push_screen(ReplayScreen(call, replay_warning(service, call)), start_replay)

    def _replay(self, service: "Service", call: Call, arguments: dict[str, object]) -> None:
        """Call the tool as the same client, in a worker."""
        from keyhole.tui.wrapped_replay import replayed_text

        tools = self.explorer.tools
        if call.server:
            self.post_message(Replayed(call.id, json_line(arguments), replayed_text(service, call, arguments)))
        elif tools is not None:
            text = tools.call(service, call.client, call.tool, arguments)
            self.post_message(Replayed(call.id, json_line(arguments), text))

    def on_replayed(self, message: Replayed) -> None:
        """Show the difference between both answers."""
        self._is_replaying = False
        self.replay = Replay(message.call_id, message.arguments, message.text)
        self.action_show_tab(DIFF)
