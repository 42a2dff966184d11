"""Asking git in the background what changed: after each index run, and when a commit or `git add` changes its files."""

import threading
from typing import TYPE_CHECKING

from textual.message_pump import MessagePump

from keyhole.tui.messages import GitAnswered

if TYPE_CHECKING:
    from keyhole.core.git.git_changes import GitChanges
    from keyhole.core.git.workspace_git import WorkspaceGit

# Git's own files are not among those that are watched; looking at their times is cheap.
_LOOK_SECONDS = 2.0
_STOP_SECONDS = 1


class GitFollower:
    """Asks git in a thread of its own, one question at a time, and posts the answer if it is another one.

    The thread is a daemon and not one of Textual's workers: git may take long in a huge repository, and must not keep
    the explorer from closing.
    """

    def __init__(self, git: "WorkspaceGit", listener: MessagePump, *, watches: bool) -> None:
        self._git = git
        self._listener = listener
        self._watches = watches
        self._wanted = threading.Event()
        self._is_stopping = False
        self._thread = threading.Thread(target=self._follow, name="keyhole-git", daemon=True)

    def start(self) -> None:
        """Ask for the first time, and go on."""
        self._wanted.set()
        self._thread.start()

    def refresh(self) -> None:
        """Ask again, as soon as the current question is answered."""
        self._wanted.set()

    def stop(self) -> None:
        """Stop git, and give the thread a moment to end."""
        self._is_stopping = True
        self._wanted.set()
        self._git.close()
        self._thread.join(_STOP_SECONDS)

    def _follow(self) -> None:
        posted: GitChanges | None = None
        stamp: tuple[object, ...] = ()
        while True:
            is_asked = self._wanted.wait(_LOOK_SECONDS if self._watches else None)
            if self._is_stopping:
                return
            if not is_asked and self._git.stamp() == stamp:
                continue
            self._wanted.clear()
            changes = self._git.refresh()
            stamp = self._git.stamp()
            if changes != posted and not self._is_stopping:
                posted = changes
                self._listener.post_message(GitAnswered(changes))
