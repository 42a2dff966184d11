"""Running git: a program found outside the workspace, a clean environment, a deadline, and a limit on its output."""

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from keyhole.core.errors import GitError
from keyhole.core.processes import end_session

# A repository can make git wait forever: its files may be pipes.
_LONGEST_SECONDS = 60.0
_MOST_BYTES = 50_000_000
_MOST_ERROR_BYTES = 2_000
# Settings of the user that git needs to find a repository, and to refuse one of somebody else.
_KEPT = frozenset(["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES"])
# Git writes nothing, asks nothing, downloads nothing, and speaks one language.
_QUIET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}
# What a repository's configuration could run, switched off in each call as well.
_SAFE_FLAGS = (
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "safe.bareRepository=explicit",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "protocol.allow=never",
)


def find_git(root: Path) -> str:
    """Return the path of the git program; one inside the workspace is not used."""
    found = shutil.which("git")
    if found is None:
        raise GitError("git is not installed")
    program = Path(found)
    # A relative folder in PATH would be looked up in the current folder, which may be the workspace.
    if not program.is_absolute() or program.resolve().is_relative_to(root.resolve()):
        raise GitError("the only git program found is inside the workspace")
    return found


class GitProcess:
    """Runs git commands, from any thread; `stop` ends those that are running and prevents others."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._is_stopped = False

    def stop(self) -> None:
        """End all running commands."""
        with self._lock:
            self._is_stopped = True
            running = list(self._running)
        for process in running:
            end_session(process, by_force=True)

    def run(
        self,
        arguments: Sequence[str],
        folder: Path,
        variables: Mapping[str, str] | None = None,
        *,
        seconds: float = _LONGEST_SECONDS,
        may_fail: bool = False,
    ) -> bytes:
        """Return what a command prints; raise GitError if it fails, unless it may, or takes too long."""
        with tempfile.TemporaryFile() as errors:
            process = self._start(arguments, folder, {**_environment(), **(variables or {})}, errors.fileno())
            is_late = threading.Event()

            def give_up() -> None:
                is_late.set()
                end_session(process, by_force=True)

            timer = threading.Timer(seconds, give_up)
            timer.daemon = True
            timer.start()
            try:
                output = process.stdout.read(_MOST_BYTES + 1) if process.stdout else b""
                if len(output) > _MOST_BYTES:
                    raise GitError("git lists too much to show")
                failed = process.wait() != 0
            finally:
                timer.cancel()
                self._end(process)
            if is_late.is_set():
                raise GitError(f"git took longer than {seconds:g} seconds")
            if self._is_stopped:
                raise GitError("git was stopped")
            if failed and not may_fail:
                errors.seek(0)
                raise GitError(_reason(errors.read(_MOST_ERROR_BYTES)))
            return b"" if failed else output

    def _start(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], errors: int
    ) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._is_stopped:
                raise GitError("git was stopped")
            try:
                process = subprocess.Popen(  # noqa: S603  # git itself, found outside the workspace
                    [self._program, *_SAFE_FLAGS, *arguments],
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    # Keys such as Ctrl+C are the explorer's, and a kill reaches what git has started.
                    start_new_session=True,
                )
            except OSError as error:
                raise GitError(f"git can't be started: {error.strerror}") from error
            self._running.add(process)
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        if process.poll() is None:
            end_session(process, by_force=True)
        if process.stdout:
            process.stdout.close()
        process.wait()
        with self._lock:
            self._running.discard(process)


def _environment() -> dict[str, str]:
    """Return the environment without variables that would point git at another repository or at other programs."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    return own | _QUIET


def _reason(printed: bytes) -> str:
    """Return the first line of what git says about a problem."""
    first = next(iter(printed.decode(errors="replace").strip().splitlines()), "")
    return first.removeprefix("fatal: ").removeprefix("error: ") or "git failed without a message"
