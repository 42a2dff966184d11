"""What the explorer remembers of its workspace from one run to the next.

Screens read and change `app.state`:

    app.state.last.pane_sizes["explore"] = 48     # how the explorer was left: set it, and it is written at the end
    app.state.add_command("Find a file")          # newest first, in `app.state.last.commands`
    app.state.add_query(line)                     # into the history, newest last, in `app.state.history`
    app.state.save_query(name, line)              # named, in `app.state.saved`

A state without a file, as tests use it, forgets everything at the end. `flush` writes; the app calls it in a thread
after a change, and at the end. Two explorers of one workspace can write in turn: what was added or deleted is applied
to what the file holds by then. How the explorer was left is that of the one that writes last.
"""

import logging
from dataclasses import replace
from pathlib import Path
from threading import Lock

from keyhole.tui.state_file import (
    LONGEST_NAME,
    LONGEST_QUERY,
    MOST_COMMANDS,
    MOST_QUERIES,
    MOST_SAVED,
    Change,
    KeptState,
    LastState,
    UnusableStateError,
    read_state,
    recent_workspaces,
    state_path,
    states_folder,
    update_state,
)

log = logging.getLogger("keyhole.tui")


class WorkspaceState:
    """The queries of a workspace, and how its explorer was left; `flush` may be called from any thread."""

    def __init__(self, root: Path | None = None, folder: Path | None = None) -> None:
        self._root = root
        self._path = state_path(folder, root) if root and folder else None
        self._folder = folder
        self._lock = Lock()
        self._pending: list[Change] = []
        # Why the file could not be read or written; the app shows it once.
        self.problem = ""
        # How the explorer was left last time; from then on, how it is now.
        self.last = LastState()
        self._kept = KeptState()

    @classmethod
    def of(cls, root: Path, *, is_fresh: bool = False, folder: Path | None = None) -> "WorkspaceState":
        """Read the state of a workspace; a fresh one has its queries, but starts like a new one."""
        state = cls(root, folder or states_folder())
        state._read(is_fresh=is_fresh)
        return state

    def _read(self, *, is_fresh: bool) -> None:
        if self._path is None:
            return
        try:
            self._kept = read_state(self._path)
        except UnusableStateError as error:
            self.problem = f"Could not read the saved state ({error}). It will be replaced."
        if not is_fresh:
            self.last = self._kept.last

    @property
    def history(self) -> tuple[str, ...]:
        """The queries of this workspace, the newest last."""
        return tuple(self._kept.history)

    @property
    def saved(self) -> dict[str, str]:
        """The saved queries by name, in the order of their names."""
        return dict(sorted(self._kept.saved.items(), key=lambda pair: pair[0].casefold()))

    def recent_workspaces(self) -> list[Path]:
        """Return the workspaces that were open last, newest first; it reads files, so call it in a thread."""
        return recent_workspaces(self._folder) if self._folder else []

    # Changes

    def add_query(self, line: str) -> None:
        """Add a query to the history, or move it to its end."""
        line = line.strip()
        if line and len(line) <= LONGEST_QUERY and self.history[-1:] != (line,):
            self._change(lambda kept: _add_query(kept, line))

    def forget_query(self, line: str) -> None:
        """Delete a query from the history."""
        self._change(lambda kept: _forget_query(kept, line))

    def save_query(self, name: str, line: str) -> bool:
        """Save a query under a name, which may replace another one; return False if there are too many."""
        name, line = name.strip()[:LONGEST_NAME], line.strip()[:LONGEST_QUERY]
        if name not in self._kept.saved and len(self._kept.saved) >= MOST_SAVED:
            return False
        self._change(lambda kept: kept.saved.__setitem__(name, line))
        return True

    def forget_saved(self, name: str) -> None:
        """Delete a saved query."""
        self._change(lambda kept: _forget_saved(kept, name))

    def add_command(self, name: str) -> None:
        """Add a command to those that were run last."""
        others = [command for command in self.last.commands if command != name]
        self.last.commands = [name, *others][:MOST_COMMANDS]

    def _change(self, change: Change) -> None:
        with self._lock:
            change(self._kept)
            self._pending.append(change)

    # Writing

    def flush(self) -> bool:
        """Write what has changed; return False, with `problem` set, if that is not possible."""
        if self._path is None or self._root is None:
            return True
        with self._lock:
            pending, self._pending = self._pending, []
        try:
            written = update_state(self._path, self._root, lambda kept: self._apply(kept, pending))
        except OSError as error:
            log.warning("could not write the state of the workspace: %s", error)
            self.problem = f"Could not save the queries and layout of this workspace ({error.strerror or error})."
            with self._lock:
                self._pending = pending + self._pending
            return False
        with self._lock:
            # Changes that came while the file was being written are not in it yet.
            for change in self._pending:
                change(written)
            self._kept = written
        return True

    def _apply(self, kept: KeptState, changes: list[Change]) -> None:
        for change in changes:
            change(kept)
        last = self.last
        kept.last = replace(last, pane_sizes=dict(last.pane_sizes), commands=list(last.commands))
        _leave_out_secrets(kept)


def _add_query(kept: KeptState, line: str) -> None:
    kept.history = [*(known for known in kept.history if known != line), line][-MOST_QUERIES:]


def _forget_query(kept: KeptState, line: str) -> None:
    kept.history = [known for known in kept.history if known != line]


def _forget_saved(kept: KeptState, name: str) -> None:
    kept.saved.pop(name, None)


def _leave_out_secrets(kept: KeptState) -> None:
    """Leave out the queries that contain a token: with a mask in its place, nobody could search for it again."""
    from keyhole.core.masking import mask_text

    kept.history = [line for line in kept.history if mask_text(line) == line]
    kept.saved = {name: line for name, line in kept.saved.items() if mask_text(line) == line}
    if mask_text(kept.last.line) != kept.last.line:
        kept.last.line = ""
