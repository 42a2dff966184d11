"""Typing into the explorer through a real terminal, faster than it can answer, and a model of what must come out."""

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

PROBE = "\x1b[24~"  # F12
_PATIENCE = 120.0
_SIZE = struct.pack("HHHH", 36, 120, 0, 0)
# The explorer with one more key, which writes down the state. The key is handled in its turn, like any other.
_PROGRAM = """
import json, sys
from keyhole.core.cli.main import main
from keyhole.tui.app import KeyholeApp

out = open(sys.argv.pop(), "a", buffering=1)

def write_state(app):
    screen, state = app.screen, {}
    if app.current_mode == "explore":
        line = screen.query_one("#query")
        state = dict(text=line.value, cursor=line.cursor_position, is_in_line=line.has_focus)
        state |= dict(tab=screen.tab, detail=screen.search_state.detail)
    print(json.dumps(state), file=out)

open_workspace = KeyholeApp.open_workspace
KeyholeApp.action_write_state = write_state
KeyholeApp.open_workspace = lambda app: (app.bind("f12", "write_state"), open_workspace(app))
main()
"""
_TABS = ("Preview", "Text", "JSON", "Diff")
_DETAILS = ("minimal", "compact", "rich", "auto")
# No two of these letters start the name of a filter, which the line would complete.
_LETTERS = "bcfhjnqsvwxyz é/]d[ 1234"
_EDITING = {
    "backspace": "\x7f",
    "delete": "\x1b[3~",
    "left": "\x1b[D",
    "right": "\x1b[C",
    "home": "\x1b[H",
    "end": "\x1b[F",
}


@dataclass
class Model:
    """What the explorer must show after some keys, if each is handled in its turn."""

    text: str = ""
    cursor: int = 0
    is_in_line: bool = True
    tab: str = "Preview"
    detail: str = "compact"

    def insert(self, text: str) -> None:
        self.text = self.text[: self.cursor] + text + self.text[self.cursor :]
        self.cursor += len(text)

    def edit(self, key: str) -> None:
        at, text = self.cursor, self.text
        if key == "backspace" and at:
            self.text, self.cursor = text[: at - 1] + text[at:], at - 1
        elif key == "delete":
            self.text = text[:at] + text[at + 1 :]
        elif key in ("left", "right"):
            self.cursor = max(0, min(len(text), at + (1 if key == "right" else -1)))
        elif key in ("home", "end"):
            self.cursor = 0 if key == "home" else len(text)

    def press(self, key: str) -> None:
        """Press a key of the screen, outside of the line."""
        if key in "[]":
            step = 1 if key == "]" else -1
            self.tab = _TABS[(_TABS.index(self.tab) + step) % len(_TABS)]
        elif key == "d":
            self.detail = _DETAILS[(_DETAILS.index(self.detail) + 1) % len(_DETAILS)]
        elif key == "/":
            self.is_in_line = True


def burst(random: Random, model: Model) -> str:
    """Return the keys of one burst, and apply them to the model."""
    sent = ""
    for _ in range(random.randint(8, 20)):
        choice = random.random()
        if not model.is_in_line:
            key = random.choice("[]d/")
            model.press(key)
            sent += key
        elif choice < 0.5:
            key = random.choice(_LETTERS)
            model.insert(key)
            sent += key
        elif choice < 0.85 or len(model.text) > 60:
            name = random.choice([*_EDITING, "backspace", "backspace"])
            model.edit(name)
            sent += _EDITING[name]
        elif choice < 0.9:
            model.insert("pasted bc")
            sent += "\x1b[200~pasted bc\x1b[201~"
        else:
            model.is_in_line = False
            sent += "\r"
    return sent + PROBE


class TypedExplorer:
    """The explorer in a pseudo-terminal that is written and read at the same time, as terminals do."""

    def __init__(self, root: Path, states: Path) -> None:
        self._states = states
        states.touch()
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, _SIZE)
        os.set_blocking(self._master, False)
        folders = {name: str(root.parent / name) for name in ("KEYHOLE_CACHE_DIR", "XDG_STATE_HOME", "HOME")}
        environment = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "KEYHOLE_INDEX_MODEL": "none", **folders}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(root), str(states)],
            cwd=root,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env=environment,
        )
        os.close(slave)
        self.output = b""

    def type(self, keys: str) -> None:
        """Send keys at once, as far as the terminal takes them."""
        rest = keys.encode()
        deadline = time.monotonic() + _PATIENCE
        while rest:
            assert time.monotonic() < deadline, self.output[-2_000:]
            readable, writable, _ = select.select([self._master], [self._master], [], 1)
            if readable:
                self._read()
            if writable:
                rest = rest[os.write(self._master, rest[:64]) :]

    def wait_for(self, text: bytes) -> None:
        self._read_until(lambda: text in self.output)

    def states(self, count: int) -> list[Model]:
        """Return what the explorer wrote down, once it did so `count` times."""
        self._read_until(lambda: len(self._states.read_text().splitlines()) >= count)
        return [Model(**json.loads(line)) for line in self._states.read_text().splitlines()]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)

    def _read_until(self, is_true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not is_true():
            assert time.monotonic() < deadline, self.output[-2_000:]
            if select.select([self._master], [], [], 0.05)[0]:
                self._read()

    def _read(self) -> None:
        try:
            self.output = (self.output + os.read(self._master, 65_536))[-100_000:]
        except OSError as error:
            raise AssertionError(f"the explorer ended: {self.output[-2_000:]!r}") from error


@contextmanager
def busy_cores(count: int) -> Iterator[None]:
    """Keep the processor busy with other work."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


@dataclass(frozen=True)
class Mistake:
    """A burst after which the explorer was not as it should be."""

    keys: str
    expected: Model
    seen: Model


def type_bursts(root: Path, states: Path, count: int, *, busy: int = 3, seed: int = 8) -> list[Mistake]:
    """Send bursts while the processor is busy, and return those that went wrong."""
    random, model = Random(seed), Model()
    sent: list[tuple[str, Model]] = []
    explorer = TypedExplorer(root, states)
    try:
        explorer.wait_for("✓ current".encode())
        with busy_cores(busy):
            for _ in range(count):
                keys = burst(random, model)
                sent.append((keys, replace(model)))
                explorer.type(keys)
            seen = explorer.states(count)
    finally:
        explorer.close()
    return [Mistake(keys, wanted, found) for (keys, wanted), found in zip(sent, seen, strict=True) if wanted != found]
