"""The workspace behind the screens: opening it, keeping its index up to date, and serving it to agents.

Screens import this module and never `app.py`, which creates the screens: so imports go one way.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App
from textual.reactive import reactive
from textual.screen import ModalScreen

from keyhole.core.errors import KeyholeError, StoreError
from keyhole.core.notes import IndexEvent, IndexMessage
from keyhole.core.types.bundle import Bundle
from keyhole.core.types.choices import DEFAULT_PORT
from keyhole.core.types.inventory import Inventory
from keyhole.core.view.budget.limits import DEFAULT_TOKENS
from keyhole.core.view.text import count_of
from keyhole.tui.background import run_in_thread
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.index_state import IndexState, Phase
from keyhole.tui.key_names import key_of
from keyhole.tui.local_only import LocalOnly
from keyhole.tui.server_state import ServerPhase, ServerState
from keyhole.tui.serving import ServerSide, Serving
from keyhole.tui.workspace_state import WorkspaceState

# These imports take time, and the first frame does not need them.
if TYPE_CHECKING:
    from rich.console import RenderableType

    from keyhole.core.git.git_changes import GitChanges
    from keyhole.core.search.match_marks import Marks
    from keyhole.core.service import Service
    from keyhole.core.types.costs import TokenCost
    from keyhole.core.types.index import Status
    from keyhole.tui.call_log import CallLog
    from keyhole.tui.clipboard import NativeClipboard
    from keyhole.tui.editing import Editing
    from keyhole.tui.git_follower import GitFollower
    from keyhole.tui.indexing import IndexRuns
    from keyhole.tui.journal_follower import JournalFollower
    from keyhole.tui.marking import Marking
    from keyhole.tui.messages import (
        BundleMeasured,
        CallsChanged,
        FilesChanged,
        FilesFound,
        GitAnswered,
        Indexed,
        Indexing,
        IndexingFailed,
        IndexNotice,
        JournalFailed,
        Opened,
        PartsChecked,
        RequestRejected,
        ServerStarted,
        ServerStopped,
        ToolCostsMeasured,
        WatchingFailed,
    )
    from keyhole.tui.names_to_find import NamesToFind
    from keyhole.tui.reference_trail import TrailStep
    from keyhole.tui.search_state import SearchState
    from keyhole.tui.serving import Tools
    from keyhole.tui.terminal_guard import TerminalGuard
    from keyhole.tui.workspaces import Workspaces

log = logging.getLogger("keyhole.tui")


class Explorer(App[None]):
    """Holds one workspace, its index and the calls of its agents; each screen decides what it shows of them."""

    index_state: reactive[IndexState] = reactive(IndexState())
    inventory: reactive[Inventory] = reactive(Inventory())
    # The paths of the workspace, until the first index run has ended.
    found_files: reactive[Inventory] = reactive(Inventory())
    server_state: reactive[ServerState] = reactive(ServerState())
    # The budget that answers start with, from the settings of the workspace.
    usual_budget: reactive[int] = reactive(DEFAULT_TOKENS)
    # What Keyhole's tool definitions cost each client, in tokens; None until measured.
    tool_costs: "reactive[Mapping[str, int] | None]" = reactive(None)
    # What changed since the last commit; None until git has answered.
    git_changes: "reactive[GitChanges | None]" = reactive(None)
    # What is marked, and what its text costs; None until it is measured.
    bundle: reactive[Bundle] = reactive(Bundle())
    bundle_tokens: reactive[int | None] = reactive(None)
    # What files and folders cost to read and to map; None until someone asks.
    token_costs: "reactive[Mapping[str, TokenCost] | None]" = reactive(None)
    # Increases whenever `calls` changes, so that screens can watch it.
    calls_version: reactive[int] = reactive(0)

    def __init__(
        self,
        root: Path,
        open_service: Callable[[], "Service"],
        *,
        watches: bool = True,
        server_side: ServerSide | None = None,
        state: WorkspaceState | None = None,
    ) -> None:
        super().__init__()
        # What is remembered of the workspace; without a file, nothing is kept.
        self.state = state or WorkspaceState()
        self._said_problems: set[str] = set()
        self.root = root
        self.project = root.name
        self.service: Service | None = None
        self.status: Status | None = None
        self._open_service = open_service
        self._watches = watches
        self._runs: IndexRuns | None = None
        # The server in this process; with a port, it starts as soon as the workspace is open.
        self.serving = Serving(self, server_side.start) if server_side else None
        self.tools = server_side.tools if server_side else None
        self._port = server_side.port if server_side else None
        self.demo = server_side.demo if server_side else None
        # Whether the first screen is made, so that there is something to draw.
        self.is_set_up = False
        # Whether a key was pressed.
        self.has_key = False
        self._journal_follower: JournalFollower | None = None
        self._git_follower: GitFollower | None = None
        self._is_measuring = False
        self.journal_problem = ""
        # Whether a browser shows the explorer; then what needs the user's own machine is off.
        self.is_remote = False
        # Restores the terminal if this process can't; only a real terminal has one.
        self.terminal_guard: TerminalGuard | None = None
        self._shown_notices: set[IndexMessage] = set()
        # What a screen opens when it is shown next: a file at a line, as source or as map; a search.
        self.wanted_file: tuple[str, int, bool] | None = None
        # What to mark in that file, if a search found it.
        self.wanted_marks: Marks | None = None
        self.wanted_search: SearchState | None = None
        self.wanted_calls: str | None = None
        # The workspaces of this run, if the user can go to others, and what to say about the one that was left.
        self.workspaces: Workspaces | None = None
        self.start_notice = ""
        # The user has gone to another workspace: this app is over.
        self.is_left = False
        # The names that the finder has read; they are large, and reading them takes time.
        self.names_to_find: NamesToFind | None = None
        # The sizes that the user gave to panes, by name: a list's share of the width, in percent.
        self.pane_sizes = self.state.last.pane_sizes
        # What was selected with the mouse and copied last.
        self._copied_selection = ""
        # The references that were closed last, to open them again.
        self.last_trail: tuple[TrailStep, ...] = ()

    @property
    def is_busy(self) -> bool:
        """Whether the workspace is being opened or indexed."""
        return self.index_state.phase in (Phase.OPENING, Phase.INDEXING)

    # Opening and closing

    def frame_drawn(self) -> None:
        """Learn that a frame was drawn; the app starts everything after the first."""

    def open_workspace(self) -> None:
        """Open the workspace in a thread: its imports take time."""
        run_in_thread(self, self._open_in_thread, "open")

    def _open_in_thread(self) -> None:
        from keyhole.tui.messages import Failed, Opened

        try:
            service = self._open_service()
        except KeyholeError as error:
            self.post_message(Failed(error))
        else:
            self.post_message(Opened(service))

    def on_opened(self, message: "Opened") -> None:
        """Start the index run, the file watcher, the journal follower and, if wanted, the server."""
        from keyhole.tui.git_follower import GitFollower
        from keyhole.tui.indexing import IndexRuns, watch_files
        from keyhole.tui.journal_follower import JournalFollower

        self.service = message.service
        self.usual_budget = message.service.settings.view.max_tokens or DEFAULT_TOKENS
        # If the folder of the index can't be read, the index run says so.
        with suppress(StoreError):
            self.index_state = replace(self.index_state, is_first_run=not message.service.has_index())
        self._runs = IndexRuns(message.service, self)
        self._git_follower = GitFollower(message.service.git, self, watches=self._watches)
        self._git_follower.start()
        if self._watches:
            self.run_worker(watch_files(message.service, self), name="watch")
        self.marking.load(message.service)
        self.index_again()
        self._journal_follower = JournalFollower(message.service.journal_reader(), self)
        self._journal_follower.start()
        if self._port is not None:
            self._start_server(self._port)

    def on_unmount(self) -> None:
        """Stop the background threads."""
        if self._journal_follower:
            self._journal_follower.stop()
        if self._git_follower:
            self._git_follower.stop()
        if self._runs:
            self._runs.stop()

    # Agents

    @cached_property
    def calls(self) -> "CallLog":
        """The calls agents made to any server on this workspace."""
        from keyhole.tui.call_log import CallLog

        return CallLog()

    def on_calls_changed(self, message: "CallsChanged") -> None:
        """Add new calls; the follower sends the next batch once these are on the screen."""
        self.journal_problem = ""
        self.calls.apply(message.changes)
        self.calls_version += 1
        if self._journal_follower:
            self.call_after_refresh(self._journal_follower.batch_done)

    def on_journal_failed(self, message: "JournalFailed") -> None:
        """Show that the journal cannot be read."""
        self.journal_problem = problem_text(message.error)
        self.calls_version += 1

    def measure_tools(self) -> None:
        """Measure once what Keyhole's tool definitions cost each client."""
        if self.tools and self.service and self.tool_costs is None and not self._is_measuring:
            self._is_measuring = True
            run_in_thread(self, partial(self._measure_tools, self.tools, self.service), "measure")

    def _measure_tools(self, tools: "Tools", service: "Service") -> None:
        from keyhole.tui.messages import ToolCostsMeasured

        self.post_message(ToolCostsMeasured(tools.costs(service.settings.mcp.tools)))

    def on_tool_costs_measured(self, message: "ToolCostsMeasured") -> None:
        """Store the costs; screens watch them."""
        self.tool_costs = message.costs

    # The server

    def toggle_server(self) -> None:
        """Start or stop the server; after a failed start, use any free port."""
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
        """Show the server's address."""
        self.server_state = ServerState(ServerPhase.ON, message.address, message.client_setup)
        if self.current_mode != "traffic":
            self.notify(
                f"Serving agents at {message.address}. Press {key_of('traffic')} to see their calls.", markup=False
            )

    def on_server_stopped(self, message: "ServerStopped") -> None:
        """Show that the server stopped, with the error if there was one."""
        if message.error is None:
            self.server_state = ServerState()
            return
        self.server_state = ServerState(ServerPhase.FAILED, problem=problem_text(message.error))
        if self.current_mode != "traffic":
            self.notify(f"{message.error}. Press {key_of('traffic')} for details.", severity="error", markup=False)

    def on_request_rejected(self, message: "RequestRejected") -> None:
        """Count a rejected request and show it: few clients show their users why a connection failed."""
        state = self.server_state
        if state.phase != ServerPhase.ON:
            return
        count = state.rejected + 1
        copy = key_of("setup")
        problem = f"Rejected {count_of(count, 'request')}: {message.reason}. Press {copy} to copy the setup."
        self.server_state = replace(state, problem=problem, rejected=count)
        if count == 1 and self.current_mode != "traffic":
            text = f"Rejected a client: {message.reason}. Press {key_of('traffic')}, then {copy} to copy the setup."
            self.notify(text, severity="warning", markup=False)

    # The index

    def index_again(self, *, retry: bool = False) -> None:
        """Bring the index up to date; `retry` parses again what could not be parsed."""
        if self._runs:
            self._runs.start(retry=retry)
            if self.index_state.phase != Phase.CURRENT:
                self.index_state = replace(self.index_state, phase=Phase.INDEXING)

    def on_indexing(self, message: "Indexing") -> None:
        """Update the progress bar."""
        self.index_state = replace(self.index_state, phase=Phase.INDEXING, progress=message.progress)

    def on_files_found(self, message: "FilesFound") -> None:
        """Store the paths; the tree shows them until the inventory is there."""
        self.found_files = message.inventory
        self.index_state = replace(self.index_state, samples=message.samples)

    def on_index_notice(self, notice: "IndexNotice") -> None:
        """Show a message of an index run; waiting for a lock is a phase instead."""
        if notice.message.event == IndexEvent.WAITING:
            self.index_state = replace(self.index_state, phase=Phase.WAITING)
        elif notice.message not in self._shown_notices:
            # Every run finds the same problem with the model, and every change of a file starts a run.
            if notice.message.event == IndexEvent.NO_VECTORS:
                self._shown_notices.add(notice.message)
            self.notify(notice.message.text, title="Index", markup=False)

    def on_indexed(self, message: "Indexed") -> None:
        """Mark the index as current and store its inventory, which screens watch."""
        self.status = message.status
        watching = self._watches and not self.index_state.text
        self.index_state = replace(
            self.index_state,
            phase=Phase.CURRENT,
            is_first_run=False,
            files=message.report.files,
            is_watching=watching,
            samples=message.samples or self.index_state.samples,
        )
        self.inventory = message.inventory
        if self._git_follower:
            self._git_follower.refresh()
        if self._runs:
            self._runs.ended()

    def on_git_answered(self, message: "GitAnswered") -> None:
        """Store what changed; lists of files watch it."""
        self.git_changes = message.changes

    def on_indexing_failed(self, message: "IndexingFailed") -> None:
        """Show why the index run failed; what is indexed can still be searched."""
        self.index_state = replace(self.index_state, phase=Phase.FAILED, text=problem_text(message.error))
        if message.status and message.inventory:
            self.status = message.status
            self.index_state = replace(self.index_state, is_first_run=False, files=message.status.files)
            self.inventory = message.inventory
        if self._runs:
            self._runs.ended()

    def on_files_changed(self, _: "FilesChanged") -> None:
        """Index the changed files."""
        self.index_again()

    def on_watching_failed(self, message: "WatchingFailed") -> None:
        """Show that changes are noticed only after pressing r."""
        log.warning("not watching: %s", message.reason)
        self.index_state = replace(
            self.index_state,
            is_watching=False,
            text=f"not watching files: press {key_of('back')}, then {key_of('refresh')} to check",
        )

    # What is remembered of the workspace

    def note_state(self) -> None:
        """Note how the explorer is, for the next time."""
        raise NotImplementedError

    def write_state(self) -> None:
        """Write what is remembered, in a thread: the user's folder may be on a slow disk."""
        self.note_state()
        run_in_thread(self, self._write_state, "state")

    def _write_state(self) -> None:
        if not self.state.flush():
            self.call_later(self.say_state_problem)

    def say_state_problem(self) -> None:
        """Show once why the state could not be read or written."""
        if self.state.problem and self.state.problem not in self._said_problems:
            self._said_problems.add(self.state.problem)
            self.notify(self.state.problem, severity="warning", markup=False)

    # Services for the screens

    def refuses(self, action: LocalOnly) -> bool:
        """Return whether something is off because a browser shows the explorer, and say so."""
        if self.is_remote:
            self.notify(action, severity="warning", markup=False)
        return self.is_remote

    def copy(self, text: str, what: str) -> None:
        """Copy a text to the clipboard, by the terminal and by a program of the desktop, and say what happened."""
        self.copy_to_clipboard(text)
        self.run_worker(self._copy(text, what), name="copy")

    async def _copy(self, text: str, what: str) -> None:
        from keyhole.tui.clipboard import TO_BROWSER

        copied = TO_BROWSER if self.is_remote else await self.native_clipboard.copy(text)
        self.notify(copied.told(what, text), timeout=3 if copied.is_certain else 8, markup=False)

    @cached_property
    def native_clipboard(self) -> "NativeClipboard":
        """The programs that copy; tests have none, so that they leave the clipboard of their user alone."""
        from keyhole.tui.clipboard import NativeClipboard

        return NativeClipboard(self.root, {} if self.is_headless else os.environ)

    def on_text_selected(self) -> None:
        """Copy what was selected with the mouse; other clicks leave the selection as it is."""
        text = self.screen.get_selected_text() or ""
        if text and text != self._copied_selection:
            self.copy(text, "selection")
        self._copied_selection = text

    def edit(self, path: str, line: int) -> None:
        """Run the user's editor in this terminal until it exits."""
        if self.refuses(LocalOnly.EDITOR):
            return
        self.run_worker(self._edit(path, line), name="edit")

    async def _edit(self, path: str, line: int) -> None:
        from keyhole.tui.editor import UnusableEditorError, editor_command

        try:
            command = editor_command(self.root / path, line, self.root)
        except UnusableEditorError as error:
            self.notify(f"Could not start the editor: {error}", severity="error", markup=False)
            return
        if problem := await self.editing.run(self, command, self.root):
            self.notify(f"Could not start {command[0]}: {problem}", severity="error", markup=False)
        self.index_again()

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Hand over the terminal; it is not the explorer's to restore meanwhile."""
        with super().suspend():
            if self.terminal_guard:
                self.terminal_guard.off()
            yield
            if self.terminal_guard:
                self.terminal_guard.on()

    def action_suspend_process(self) -> None:
        """Suspend the explorer until the shell continues it."""
        from keyhole.tui.suspending import suspend_job

        if self.refuses(LocalOnly.SUSPEND):
            return
        if problem := suspend_job(self):
            self.notify(problem, severity="warning", timeout=3, markup=False)

    @cached_property
    def marking(self) -> "Marking":
        """Changes what is marked."""
        from keyhole.tui.marking import Marking

        return Marking(self, self, lambda: self.service)

    def on_parts_checked(self, message: "PartsChecked") -> None:
        """Mark the parts that can be served."""
        self.marking.add(message)

    def on_bundle_measured(self, message: "BundleMeasured") -> None:
        """Show what the bundle costs, unless it has changed since."""
        if message.error:
            self.notify(problem_text(message.error), severity="error", markup=False)
        elif message.bundle is self.bundle:
            self.bundle_tokens = message.tokens

    @cached_property
    def editing(self) -> "Editing":
        """The user's editor, while it has the terminal."""
        from keyhole.tui.editing import Editing

        return Editing()

    def exit(self, result: None = None, return_code: int = 0, message: "RenderableType | None" = None) -> None:
        """Exit; if an editor has the terminal, as soon as it gives it back."""
        self.note_state()
        leave = partial(super().exit, result, return_code, message)
        self.editing.after(leave) if self.editing.is_open else leave()

    def close_dialogs(self) -> None:
        """Close all dialogs without a result."""
        while isinstance(self.screen, ModalScreen):
            self.screen.dismiss(None)

    def open_file(self, path: str, line: int, *, is_map: bool = False, marks: "Marks | None" = None) -> None:
        """Show a file on the Files screen, with the matches of a search marked."""
        self.wanted_file, self.wanted_marks = (path, line, is_map), marks
        self._go_to("files")

    def open_search(self, search: "SearchState") -> None:
        """Run a search on the Explore screen."""
        self.wanted_search = search
        self._go_to("explore")

    def open_calls(self, line: str) -> None:
        """Show the calls that match a filter on the Traffic screen."""
        self.wanted_calls = line
        self._go_to("traffic")

    def _go_to(self, mode: str) -> None:
        """Show a screen with what was requested of it."""
        is_here = self.current_mode == mode
        self.switch_mode(mode)
        show_wanted = getattr(self.screen, "show_wanted", None)
        if is_here and show_wanted:
            # A screen that is shown already is not resumed; one below a dialog is, once the dialog closes.
            show_wanted()

    def show_references(self, *trail: "TrailStep") -> None:
        """Show the references at the end of a trail; without one, those that were closed last."""
        raise NotImplementedError

    def find_name(self, scope: str = "Both") -> None:
        """Find a file or a symbol by name."""
        raise NotImplementedError
