"""A user with a workspace whose clients share a server: real processes, with the console script."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from served import HELLO

from keyhole.core.sharing.share_address import ShareAddress
from keyhole.core.sharing.shared_status import SharedStatus, shared_status

# The console script, with so much patience that a busy machine does not matter.
ENTRY = (
    "import sys; from keyhole.core.sharing import reach_server, remote_command; reach_server.PATIENCE = {}\n"
    "remote_command._PATIENCE = {}\n"
    "from keyhole.core.sharing import relay; relay._LONGEST_WAIT = {}\n"
    "from keyhole.core.cli.entry import main; main()"
)
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Home:
    """A user with a workspace, a cache and a folder for sockets."""

    def __init__(self, folder: Path, runtime: Path) -> None:
        self.folder = folder
        self.runtime = runtime
        self.root = self.write("proj", {"src/retry.py": "class RetryPolicy:\n    def delay(self): ...\n"})
        for number in range(20):
            (self.root / f"src/part_{number}.py").write_text(f"def weigh_{number}(total):\n    return total\n")

    def write(self, name: str, files: dict[str, str]) -> Path:
        for path, text in files.items():
            (self.folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name / path).write_text(text)
        return self.folder / name

    def variables(self, **more: str) -> dict[str, str]:
        own = {"HOME": self.folder, "XDG_RUNTIME_DIR": self.runtime, "KEYHOLE_CACHE_DIR": self.folder / "cache"}
        return {
            "PATH": os.environ["PATH"],
            "KEYHOLE_INDEX_MODEL": "none",
            **{k: str(v) for k, v in own.items()},
            **more,
        }

    def start(
        self, *arguments: str, patience: float = 60, longest_wait: float = 60, **more: str
    ) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-c", ENTRY.format(patience, patience, longest_wait), *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, cwd=self.root, env=self.variables(**more), stdin=pipe, stdout=pipe, stderr=pipe
        )

    def run(self, *arguments: str, patience: float = 60, **more: str) -> tuple[int, bytes, bytes]:
        with self.start(*arguments, patience=patience, longest_wait=60, **more) as process:
            output, errors = process.communicate(timeout=60)
        return process.returncode, output, errors

    @contextmanager
    def session(
        self, *arguments: str, name: str = "test", patience: float = 60, longest_wait: float = 60, **more: str
    ) -> Iterator["Session"]:
        with self.start("mcp", *arguments, patience=patience, longest_wait=longest_wait, **more) as process:
            client = Session(process)
            hello = {**HELLO["params"], "clientInfo": {"name": name, "version": "1"}}  # type: ignore[dict-item]
            client.greeted = client.ask("initialize", hello)
            client.send(INITIALIZED)
            yield client
            client.close()
            assert process.stderr
            client.errors = process.stderr.read()

    @property
    def address(self) -> ShareAddress:
        """Where the server of this user is, as a program of this user computes it."""
        code = "from keyhole.core.sharing.share_address import find_address as f; print(f().folder, f().key)"
        command = [sys.executable, "-P", "-c", code]
        found = subprocess.run(command, env=self.variables(), capture_output=True, text=True, check=True).stdout.split()
        return ShareAddress(*found)


class Session:
    """A client on stdio."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.number = 0
        self.greeted: dict[str, Any] = {}
        self.heard: list[dict[str, Any]] = []
        self.errors = b""

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def start(self, method: str, parameters: dict[str, Any]) -> int:
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters})
        return self.number

    def answer(self, number: int) -> dict[str, Any]:
        assert self.process.stdout
        while line := self.process.stdout.readline():
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == number:
                return message
            self.heard.append(message)
        raise AssertionError("the server ended")

    def ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        return self.answer(self.start(method, parameters))

    def call(self, tool: str, **arguments: object) -> str:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return str(result["content"][0]["text"])

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(30)


@contextmanager
def sharing_home(folder: Path) -> Iterator[Home]:
    """A user in a folder; the shared servers of this user end with it."""
    # The path of a socket must be short.
    runtime = Path(tempfile.mkdtemp(prefix="kh", dir="/tmp"))
    home = Home(folder, runtime)
    try:
        yield home
        home.run("mcp", "--stop")
    finally:
        shutil.rmtree(runtime)


def status(address: ShareAddress) -> SharedStatus:
    found = shared_status(address)
    assert found
    return found


def until(is_true: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, "it never became true"
        time.sleep(0.01)


def is_running(process: int) -> bool:
    """Whether a process runs; one that has ended but was not waited for does not."""
    with_state = Path(f"/proc/{process}/stat")
    return with_state.exists() and with_state.read_text().rpartition(")")[2].split()[0] != "Z"
