"""Start keyhole as a user, a terminal or an agent does, use it while it runs, and kill it."""

import fcntl
import http.client
import itertools
import json
import os
import pty
import random
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from load import HELLO, Ask, http_agent, say, stdio_agent, talk
from phases import PhaseFile
from record import HERE

_PROGRAM = HERE / "phased_keyhole.py"
# Every process that a program starts inherits this variable, which is how those that are left over are found.
_MARK = "KILL_TEST_ROUND"
_WORKERS = (b"keyhole.core.syntax.parser_worker", b"spawn_main")
_CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("search_code", {"query": "store"}),
    ("search_code", {"query": "/def \\w+_lock/"}),
    ("search_code", {"query": "writer of the store", "mode": "keyword", "limit": 50}),
    ("search_code", {"query": "read files", "mode": "semantic"}),
    ("find_broken_links", {}),
    ("search_code", {"query": "/edit [0-9]+ of/", "limit": 50}),
    ("get_tree", {}),
)
_TYPED = ("store", "/def .*lock/", "writer of the store", "/edit [0-9]+ of/")
_CLEAR_LINE = "\x15"
_BETWEEN_SEARCHES = 0.4
_SHARE_OF_POOLS = 0.15
_PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a program runs."""

    root: Path
    scratch: Path

    @property
    def cache(self) -> Path:
        """The folder of all indexes."""
        return self.scratch / "cache"

    @property
    def temporary(self) -> Path:
        """The folder for temporary files, which should be empty when no program runs."""
        return self.scratch / "tmp"

    @property
    def said(self) -> str:
        """What the last program wrote to stderr."""
        return (self.scratch / "stderr").read_text(errors="replace")[-2_000:]

    def variables(self, mark: str, *, has_pool: bool) -> dict[str, str]:
        """Return the environment of a program."""
        home = str(self.scratch / "home")
        own = {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": str(self.temporary), "TERM": "xterm-256color"}
        own |= {"KEYHOLE_CACHE_DIR": str(self.cache), "KEYHOLE_INDEX_WORKERS": "2", "KEYHOLE_SHARE": "0", _MARK: mark}
        return own | ({"KILL_TEST_POOL": "1"} if has_pool else {})


class Running:
    """A program in a session of its own; `use` is what someone does with it until it ends."""

    def __init__(self, place: Place, mark: str, arguments: list[str], *, streams: int, has_pool: bool) -> None:
        self.mark = mark
        phase_file = place.scratch / "phase"
        phase_file.unlink(missing_ok=True)
        self.phases = PhaseFile(phase_file)
        with (place.scratch / "stderr").open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(_PROGRAM), str(phase_file), *arguments],
                cwd=place.root,
                env=place.variables(mark, has_pool=has_pool),
                stdin=streams,
                stdout=streams,
                # The explorer draws on stderr; all others write their problems there.
                stderr=log if streams in (subprocess.PIPE, subprocess.DEVNULL) else streams,
                start_new_session=True,
            )
        self._user: threading.Thread | None = None

    def use(self, use: Callable[[], None]) -> None:
        """Use the program in a thread; that it is killed ends the use."""

        def until_killed() -> None:
            with suppress(OSError, ValueError, http.client.HTTPException):
                use()

        self._user = threading.Thread(target=until_killed)
        self._user.start()

    @property
    def is_running(self) -> bool:
        """Whether the program has not ended."""
        return self.process.poll() is None

    def wait_for(self, phase: str, times: int, seconds: float) -> bool:
        """Wait until a phase has begun that many times more; return False if it does not happen in time."""
        wanted, deadline = self.phases.times(phase) + times, time.monotonic() + seconds
        while self.phases.times(phase) < wanted:
            if not self.is_running or time.monotonic() > deadline:
                return False
            time.sleep(0.0005)
        return True

    def kill(self, victim: str) -> str:
        """Kill the process, its whole group or one of its workers; return which it was."""
        workers = self._workers() if victim == "worker" else []
        if workers:
            with suppress(ProcessLookupError):
                os.kill(workers[0], signal.SIGKILL)
            return victim
        (os.killpg if victim == "group" else os.kill)(self.process.pid, signal.SIGKILL)
        return "group" if victim == "group" else "process"

    def end(self) -> tuple[int, str]:
        """Wait for the end; return the exit code, and the phase that was the last one."""
        code = self.process.wait(_PATIENCE)
        phase = self.phases.now
        if self._user:
            self._user.join(_PATIENCE)
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                with suppress(OSError):
                    stream.close()
        self.phases.close()
        return code, phase

    def left_over(self, seconds: float = 10.0) -> list[int]:
        """Return the processes that still run some time after the program was killed."""
        deadline = time.monotonic() + seconds
        while (left := list(_marked(self.mark))) and time.monotonic() < deadline:
            time.sleep(0.01)
        return left

    def _workers(self) -> list[int]:
        return [
            process
            for process in _marked(self.mark)
            if process != self.process.pid and any(name in _read(process, "cmdline") for name in _WORKERS)
        ]


def _marked(mark: str) -> Iterator[int]:
    """Yield the processes that a program and its children started."""
    wanted = f"{_MARK}={mark}".encode()
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and wanted in _read(int(folder.name), "environ").split(b"\0"):
            yield int(folder.name)


def _read(process: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{process}/{name}").read_bytes()
    except OSError:
        return b""


def start_index(place: Place, mark: str, chance: random.Random) -> Running:
    """Run `keyhole index`."""
    options = chance.choice([[], [], ["--full"]])
    has_pool = chance.random() < _SHARE_OF_POOLS
    return Running(place, mark, ["index", *options], streams=subprocess.DEVNULL, has_pool=has_pool)


def start_explorer(place: Place, mark: str, chance: random.Random) -> Running:
    """Open the explorer, which watches the files, and type searches into it."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
    options = chance.choice([[], [], [], ["--serve", "--port", "0"]])
    running = Running(place, mark, [".", *options], streams=slave, has_pool=False)

    def type_searches() -> None:
        try:
            for number in itertools.count():
                deadline = time.monotonic() + _BETWEEN_SEARCHES
                while (left := deadline - time.monotonic()) > 0 and running.is_running:
                    if select.select([master], [], [], left)[0]:
                        os.read(master, 65_536)
                if not running.is_running:
                    return
                os.write(master, f"{_CLEAR_LINE}{_TYPED[number % len(_TYPED)]}".encode())
        finally:
            # The guard restores the terminal, and must find it open.
            running.left_over()
            os.close(master)
            os.close(slave)

    running.use(type_searches)
    return running


def start_server(place: Place, mark: str, chance: random.Random) -> Running:
    """Run `keyhole mcp` on stdio or HTTP, and call its tools."""
    transport = chance.choice([[], [], ["--http", "--port", "0", "--processes", "1"], ["--http", "--port", "0"]])
    has_pool = chance.random() < _SHARE_OF_POOLS
    running = Running(place, mark, ["mcp", ".", *transport], streams=subprocess.PIPE, has_pool=has_pool)
    running.use(partial(_call_tools, running, (_http_client if transport else _stdio_client)))
    return running


def _call_tools(running: Running, connect: Callable[["subprocess.Popen[bytes]"], Ask]) -> None:
    ask = connect(running.process)
    for tool, arguments in itertools.cycle(_CALLS):
        if not running.is_running:
            return
        ask(tool, arguments)


def _stdio_client(server: "subprocess.Popen[bytes]") -> Ask:
    talk(server, "initialize", HELLO)
    say(server, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    return stdio_agent(server)


def _http_client(server: "subprocess.Popen[bytes]") -> Ask:
    printed = ""
    while server.stdout and not printed.endswith("}\n}\n"):
        line = server.stdout.readline().decode()
        if not line:
            raise BrokenPipeError
        printed += line
    entry = json.loads(printed.partition("\n")[2])["mcpServers"]["keyhole"]
    # If two processes serve, each gets one of two connections.
    agents = itertools.cycle([http_agent(entry["url"], entry["headers"]) for _ in range(2)])

    def ask(tool: str, arguments: dict[str, object]) -> dict[str, object]:
        return next(agents)(tool, arguments)

    return ask
