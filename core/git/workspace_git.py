"""What git knows about a workspace: its changes and the history of its lines, or why it knows nothing."""

import threading
from pathlib import Path

from keyhole.core.errors import GitError
from keyhole.core.git.blame_line import Blame, blame_line
from keyhole.core.git.git_changes import ChangeKind, GitChanges, read_changes
from keyhole.core.git.git_process import GitProcess, find_git
from keyhole.core.git.shadow_repository import ShadowRepository


class WorkspaceGit:
    """Asks git about one workspace, from any thread, one question at a time."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._process: GitProcess | None = None
        self._repository: ShadowRepository | None = None
        self._changes: GitChanges | None = None
        self._is_closed = False

    @property
    def changes(self) -> GitChanges:
        """The changes as last read; the first time, git is asked."""
        return self._changes or self.refresh()

    def refresh(self) -> GitChanges:
        """Ask git again what changed."""
        with self._lock:
            try:
                self._changes = read_changes(self._opened())
            except GitError as error:
                self._changes = GitChanges(problem=str(error))
            return self._changes

    def blame(self, path: str, line: int) -> Blame:
        """Return who changed a line last; raise GitError if git can't tell."""
        changes = self.changes
        if not changes.is_known:
            raise GitError(changes.problem)
        if changes.kind_of(path) in (ChangeKind.ADDED, ChangeKind.UNTRACKED):
            return Blame()
        with self._lock:
            return blame_line(self._opened(), path, line)

    def stamp(self) -> tuple[object, ...]:
        """Return what changes with each commit and each `git add`; empty without a repository."""
        repository = self._repository
        return repository.stamp() if repository else ()

    def close(self) -> None:
        """Stop git, and delete our copy of its index."""
        self._is_closed = True
        if self._process:
            self._process.stop()
        with self._lock:
            if self._repository:
                self._repository.close()

    def _opened(self) -> ShadowRepository:
        if self._is_closed:
            raise GitError("git was stopped")
        if self._repository is None:
            self._process = GitProcess(find_git(self._root))
            try:
                self._repository = ShadowRepository(self._root, self._process)
            except OSError as error:
                raise GitError(f"git can't be used: {error}") from error
        return self._repository
