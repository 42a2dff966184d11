"""Suspending the explorer with ^Z and returning to it with fg, in a real terminal with a shell that has job control."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from driving import drive, make_app, press
from textual.pilot import Pilot

from keyhole.core.service import Service

_PATIENCE = 60.0
ENTER_SCREEN, LEAVE_SCREEN = b"\x1b[?1049h", b"\x1b[?1049l"


class Shell:
    """An interactive bash in a pseudo-terminal, which starts the explorer as a job."""

    def __init__(self, root: Path) -> None:
        self.output = b""
        self.process, self.master = pty.fork()
        if self.process == 0:
            os.chdir(root)
            os.environ.update(
                TERM="xterm-256color",
                HOME=str(root.parent),
                PS1="shell> ",
                KEYHOLE_CACHE_DIR=str(root.parent / "cache"),
                XDG_STATE_HOME=str(root.parent / "state"),
            )
            os.execlp("bash", "bash", "--norc", "--noprofile", "--noediting", "-i")
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))

    def send(self, keys: str) -> int:
        """Type keys; return where the output after them starts."""
        begun = len(self.output)
        os.write(self.master, keys.encode())
        return begun

    def see(self, text: str, since: int = 0) -> None:
        self.read_until(lambda: text in self.text(since))

    def see_stopped(self, since: int) -> None:
        # Bash discards what is typed before its prompt.
        self.read_until(lambda: "shell> " in self.text(since).partition("Stopped")[2])

    def read_until(self, wanted: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not wanted():
            assert time.monotonic() < deadline, self.text(0)[-2_000:]
            if select.select([self.master], [], [], 0.05)[0]:
                self.output += os.read(self.master, 65_536)

    def text(self, since: int) -> str:
        return re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", self.output[since:]).decode(errors="replace")

    def is_on_main_screen(self) -> bool:
        return self.output.rfind(LEAVE_SCREEN) > self.output.rfind(ENTER_SCREEN)

    def close(self) -> None:
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.master)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("def first(): pass\n")
    shell = Shell(root)
    yield shell
    shell.close()


def suspend(shell: Shell) -> None:
    shell.see_stopped(shell.send("\x1a"))


_EXPLORER = f"{sys.executable} -c 'from keyhole.core.cli.main import main; main()' ."


# A program that starts the explorer, such as make, has to stop with it.
@pytest.mark.parametrize("command", [_EXPLORER, f'sh -c "{_EXPLORER}; :"'], ids=["alone", "in a script"])
def test_the_shell_gets_the_terminal_and_gives_it_back(shell: Shell, tmp_path: Path, command: str) -> None:
    shell.send(f"{command}\n")
    shell.see("✓ current")
    shell.send("first")
    shell.see("a.py:1")
    suspend(shell)
    assert shell.is_on_main_screen()
    # Typed text is echoed again, and nothing of the explorer is drawn over it.
    begun = shell.send("echo in the shell\n")
    shell.see("in the shell\r\nshell>", begun)
    (tmp_path / "project" / "b.py").write_text("def second(): pass\n")

    # In the background it has no terminal, so it stays stopped and changes nothing.
    begun = shell.send("bg; sleep 0.3; jobs\n")
    shell.see_stopped(begun)
    assert shell.is_on_main_screen()

    begun = shell.send("fg\n")
    shell.read_until(lambda: not shell.is_on_main_screen())
    shell.see("a.py:1", begun)
    # Typing works, and what changed meanwhile is indexed.
    begun = shell.send("\x15")
    shell.see("Search as your agent does", begun)
    begun = shell.send("second")
    shell.see("b.py:1", begun)
    begun = shell.send("\x11")
    shell.see("shell>", begun)
    assert shell.is_on_main_screen()
    begun = shell.send("echo the code is $?\n")
    shell.see("the code is 0", begun)


def test_if_the_stopped_explorer_is_killed_the_terminal_is_left_alone(shell: Shell) -> None:
    shell.send(f"{_EXPLORER}\n")
    shell.see("✓ current")
    suspend(shell)
    begun = shell.send("kill -KILL %1; sleep 0.3; echo over and done\n")
    shell.read_until(lambda: "shell> " in shell.text(begun).rpartition("over and done")[2])
    assert "the explorer was killed" not in shell.text(begun)


def test_without_a_shell_it_is_not_suspended(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "ctrl+z")
        assert [note.message for note in pilot.app._notifications] == ["This terminal can't suspend programs."]

    drive(make_app(acme), steps)
