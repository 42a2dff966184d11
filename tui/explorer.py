"""The workspace behind the screens: it is opened, kept indexed and served here; screens know the app as this class.

Screens import this module and never `app.py`, which makes the screens: so imports go one way.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App
from textual.reactive import reactive

from keyhole.core.errors import KeyholeError
from keyhole.core.notes import IndexEvent
from keyhole.core.types import DEFAULT_PORT, Inventory
from keyhole.core.view.text import count_of
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.index_state import IndexState, Phase
from keyhole.tui.server_state import ServerPhase, ServerState
from keyhole.tui.serving import ServerSide, Serving

# What these import takes time, and the first picture needs none of it.
if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.core.types import Status
    from keyhole.tui.call_log import CallLog
    from keyhole.tui.indexing import IndexRuns
    from keyhole.tui.journal_follower import JournalFollower
    from keyhole.tui.messages import (
        CallsChanged,
        FilesChanged,
        Indexed,
        Indexing,
        IndexingFailed,
        IndexNotice,
        JournalFailed,
        Opened,
        RequestRejected,
        ServerStarted,
        ServerStopped,
        ToolCostsMeasured,
        WatchingFailed,
    )
    from keyhole.tui.search_state import SearchState
    from keyhole.tui.serving import Tools

log = logging.getLogger("keyhole.tui")


class Explorer(App[None]):
    """One workspace, its index and its agents; what a screen shows of them is the screen's own affair."""

    index_state: reactive[IndexState] = reactive(IndexState())
    inventory: reactive[Inventory] = reactive(Inventory())
    server_state: reactive[ServerState] = reactive(ServerState())
    # What our own tools cost each client, once that is known.
    tool_costs: "reactive[Mapping[str, int] | None]" = reactive(None)
    # Counts what happened to `calls`, so that screens can follow.
    calls_version: reactive[int] = reactive(0)

    def __init__(
        self,
        root: Path,
        open_service: Callable[[], "Service"],
        *,
        watches: bool = True,
        server_side: ServerSide | None = None,
        port: int | None = None,
    ) -> None:
        super().__init__()
        self.root = root
        self.project = root.name
        self.service: Service | None = None
        self.status: Status | None = None
        self._open_service = open_service
        self._watches = watches
        self._runs: IndexRuns | None = None
        # The server beside the explorer, and the port it is to have from the beginning, if any.
        self.serving = Serving(self, server_side.start) if server_side else None
        self.tools = server_side.tools if server_side else None
        self._port = port
        self._following: JournalFollower | None = None
        self._is_weighing = False
        self.journal_problem = ""
        # What other screens are to open next: a file at a line, as its source or its map; a search.
        self.wanted_file: tuple[str, int, bool] | None = None
        self.wanted_search: SearchState | None = None

    @property
    def is_busy(self) -> bool:
        """Whether the workspace is being opened or indexed."""
        return self.index_state.phase in (Phase.OPENING, Phase.INDEXING)

    # Opening and closing

    def open_workspace(self) -> None:
        """Open the workspace in a thread: what that imports takes time."""
        self.run_worker(self._open_in_thread, thread=True, name="open")

    def _open_in_thread(self) -> None:
        from keyhole.tui.messages import Failed, Opened

        try:
            service = self._open_service()
        except KeyholeError as error:
            self.post_message(Failed(error))
        else:
            self.post_message(Opened(service))

    def on_opened(self, message: "Opened") -> None:
        """Start to keep the index current."""
        from keyhole.tui.indexing import IndexRuns, watch_files
        from keyhole.tui.journal_follower import JournalFollower

        self.service = message.service
        self.index_state = replace(self.index_state, is_first_run=not message.service.has_index())
        self._runs = IndexRuns(message.service, self)
        if self._watches:
            self.run_worker(watch_files(message.service, self), name="watch")
        self.index_again()
        self._following = JournalFollower(message.service.journal_reader(), self)
        self._following.start()
        if self._port is not None:
            self._start_server(self._port)

    def on_unmount(self) -> None:
        """End what runs behind the interface."""
        if self._following:
            self._following.stop()
        if self._runs:
            self._runs.stop()

    # Agents

    @cached_property
    def calls(self) -> "CallLog":
        """The calls of agents, of every server on this workspace."""
        from keyhole.tui.call_log import CallLog

        return CallLog()

    def on_calls_changed(self, message: "CallsChanged") -> None:
        """Take in what agents asked and got; more of it waits until this is on the screen."""
        self.journal_problem = ""
        self.calls.apply(message.changes)
        self.calls_version += 1
        if self._following:
            self.call_after_refresh(self._following.taken)

    def on_journal_failed(self, message: "JournalFailed") -> None:
        """Say that calls cannot be seen just now."""
        self.journal_problem = problem_text(message.error)
        self.calls_version += 1

    def measure_tools(self) -> None:
        """Find out, once, what our own tools cost each client."""
        if self.tools and self.tool_costs is None and not self._is_weighing:
            self._is_weighing = True
            self.run_worker(partial(self._measure_tools, self.tools), thread=True, name="weigh")

    def _measure_tools(self, tools: "Tools") -> None:
        from keyhole.tui.messages import ToolCostsMeasured

        self.post_message(ToolCostsMeasured(tools.costs()))

    def on_tool_costs_measured(self, message: "ToolCostsMeasured") -> None:
        """Tell the screens."""
        self.tool_costs = message.costs

    # The server

    def toggle_server(self) -> None:
        """Start the server, or stop it; after a port was taken, on any that is free."""
        phase = self.server_state.phase
        if phase == ServerPhase.ON and self.serving:
            self._stopping = asyncio.create_task(self.serving.stop(), name="stop-server")
        elif phase != ServerPhase.STARTING:
            self._start_server(0 if phase == ServerPhase.FAILED else DEFAULT_PORT)

    def _start_server(self, port: int) -> None:
        if self.serving and self.service:
            self.server_state = ServerState(ServerPhase.STARTING)
            self.serving.start(self.service, port)

    def on_server_started(self, message: "ServerStarted") -> None:
        """Say where agents find the workspace."""
        self.server_state = ServerState(ServerPhase.ON, message.address, message.client_setup)
        if self.current_mode != "traffic":
            self.notify(f"Agents are served on {message.address}: 3 Traffic shows what they ask", markup=False)

    def on_server_stopped(self, message: "ServerStopped") -> None:
        """Say that agents are not served, and why."""
        if message.error is None:
            self.server_state = ServerState()
            return
        self.server_state = ServerState(ServerPhase.FAILED, problem=problem_text(message.error))
        if self.current_mode != "traffic":
            self.notify(f"{message.error}; 3 Traffic shows more", severity="error", markup=False)

    def on_request_rejected(self, message: "RequestRejected") -> None:
        """Say that agents come in vain, and what lets them in: they themselves are seldom told."""
        state = self.server_state
        if state.phase != ServerPhase.ON:
            return
        count = state.turned_away + 1
        problem = f"{count_of(count, 'request')} turned away ({message.reason}): C copies the right one"
        self.server_state = replace(state, problem=problem, turned_away=count)
        if count == 1 and self.current_mode != "traffic":
            text = f"A client was turned away: it came with {message.reason}; 3 Traffic has the right one"
            self.notify(text, severity="warning", markup=False)

    # The index

    def index_again(self) -> None:
        """Bring the index up to date."""
        if self._runs:
            self._runs.start()
            if self.index_state.phase != Phase.CURRENT:
                self.index_state = replace(self.index_state, phase=Phase.INDEXING)

    def on_indexing(self, message: "Indexing") -> None:
        """Move the bar."""
        self.index_state = replace(self.index_state, phase=Phase.INDEXING, progress=message.progress)

    def on_index_notice(self, said: "IndexNotice") -> None:
        """Pass on what an index run says; that it waits is a state of its own."""
        if said.message.event == IndexEvent.WAITING:
            self.index_state = replace(self.index_state, phase=Phase.WAITING)
        else:
            self.notify(said.message.text, title="index", markup=False)

    def on_indexed(self, message: "Indexed") -> None:
        """Say that the index is current; screens follow the inventory."""
        self.status = message.status
        watching = self._watches and not self.index_state.text
        self.index_state = replace(
            self.index_state,
            phase=Phase.CURRENT,
            is_first_run=False,
            files=message.report.files,
            is_watching=watching,
        )
        self.inventory = message.inventory
        if self._runs:
            self._runs.ended()

    def on_indexing_failed(self, message: "IndexingFailed") -> None:
        """Say what is wrong with the index; what it holds can still be searched."""
        self.index_state = replace(self.index_state, phase=Phase.FAILED, text=problem_text(message.error))
        if self._runs:
            self._runs.ended()

    def on_files_changed(self, _: "FilesChanged") -> None:
        """Take in what has changed."""
        self.index_again()

    def on_watching_failed(self, message: "WatchingFailed") -> None:
        """Say that changes go unnoticed until someone asks."""
        log.warning("not watching: %s", message.reason)
        self.index_state = replace(self.index_state, is_watching=False, text="not watching: r looks again")

    # What screens ask of the app

    def copy(self, text: str, what: str) -> None:
        """Copy to the clipboard, and say how much."""
        self.copy_to_clipboard(text)
        self.notify(f"Copied the {what}: {len(text.encode()):,} bytes.", timeout=3)

    def edit(self, path: str, line: int) -> None:
        """Hand the terminal to the user's editor until it ends."""
        import subprocess

        from textual.app import SuspendNotSupported

        from keyhole.tui.editor import editor_command

        command, problem = editor_command(self.root / path, line), ""
        try:
            with self.suspend():
                # What is raised in here would leave the explorer without its terminal.
                try:
                    subprocess.run(command, cwd=self.root, check=False)  # noqa: S603  # the user's own editor
                except OSError as error:
                    problem = str(error)
        except SuspendNotSupported as error:
            problem = str(error)
        if problem:
            self.notify(f"{command[0]} cannot be opened: {problem}", severity="error", markup=False)
        self.index_again()

    def open_file(self, path: str, line: int, *, is_map: bool = False) -> None:
        """Show a file on the screen of files."""
        self.wanted_file = (path, line, is_map)
        self.switch_mode("files")

    def ask(self, search: "SearchState") -> None:
        """Ask on the screen of searches."""
        self.wanted_search = search
        self.switch_mode("explore")
