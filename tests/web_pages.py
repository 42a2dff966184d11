"""`keyhole web` as a process, and a client that acts as its page."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from acme import write_acme

PATIENCE = 60.0
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?<>=$]*[a-zA-Z]|\][^\x07]*\x07|.)")


@dataclass(frozen=True, slots=True)
class WebServer:
    """A running server: its address, without a slash at the end, and its token, as it printed them."""

    address: str
    token: str
    process: subprocess.Popen[str]

    @property
    def host(self) -> str:
        """The value of the Host header."""
        return self.address.removeprefix("http://")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, as to a shell's job, and return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.communicate(timeout=20)
        return self.process.returncode


def write_indexed(base: Path) -> Path:
    """Write a workspace into a folder of its own, index it, and return the folder around it."""
    root = write_acme(base / "acme")
    command = [sys.executable, "-m", "keyhole", "index"]
    subprocess.run(command, cwd=root, env=web_environment(base), capture_output=True, check=True)
    return base


def web_environment(base: Path) -> dict[str, str]:
    """Return variables that keep all files of Keyhole in a folder, and the user's settings out."""
    inherited = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {**inherited, "HOME": str(base), "KEYHOLE_CACHE_DIR": str(base / "cache"), "KEYHOLE_INDEX_MODEL": "none"}


@contextmanager
def serve_web(base: Path, *arguments: str, folder: str = "acme", **variables: str) -> Iterator[WebServer]:
    """Start a server on a workspace with a free port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "keyhole", "web", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**web_environment(base), **variables},
        cwd=base / folder,
    )
    try:
        assert process.stdout
        line = process.stdout.readline()
        found = re.match(r"Open .* at (http://\S+)/\?token=(\S+)\n", line)
        assert found, line + (process.communicate()[1] or "")
        server = WebServer(found[1], found[2], process)
        yield server
        server.stop()
    finally:
        process.kill()
        process.communicate()


def plain_text(drawn: bytes) -> str:
    """Return what is drawn without colours and places."""
    return _ESCAPES.sub("", drawn.decode(errors="replace"))


class WebPage:
    """What a page does: it sends keys, and draws what it gets."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.drawn = b""

    async def type(self, *keys: str) -> None:
        for key in keys:
            await self.socket.send_json(["stdin", key])

    async def see(self, text: str) -> str:
        """Return all that was drawn once a text is among it; where words touch depends on the layout."""
        async with asyncio.timeout(PATIENCE):
            while text not in self.text:
                message = await self.socket.receive()
                assert message.type == aiohttp.WSMsgType.BINARY, f"{message.type.name}, drawn: {self.text[-500:]}"
                self.drawn += message.data
        return self.text

    @property
    def text(self) -> str:
        return plain_text(self.drawn)

    def forget(self) -> None:
        """Forget what was drawn so far."""
        self.drawn = b""

    async def closed(self) -> None:
        """Wait until the server closes the connection."""
        async with asyncio.timeout(PATIENCE):
            while not self.socket.closed:
                message = await self.socket.receive()
                self.drawn += message.data if message.type == aiohttp.WSMsgType.BINARY else b""


@asynccontextmanager
async def visit(server: WebServer) -> AsyncIterator[aiohttp.ClientSession]:
    """Open the printed address as a browser does, and keep the cookie."""
    jar = aiohttp.CookieJar(unsafe=True)  # unsafe: for addresses without a name
    async with aiohttp.ClientSession(cookie_jar=jar) as browser:
        async with browser.get(f"{server.address}/?token={server.token}") as answer:
            assert answer.status == 200
        yield browser


@asynccontextmanager
async def open_page(
    browser: aiohttp.ClientSession, server: WebServer, number: int = 1, **options: Any
) -> AsyncIterator[WebPage]:
    """Connect as the page does."""
    address = f"{server.address}/ws/{number}?width=120&height=30"
    async with browser.ws_connect(address, origin=server.address, **options) as socket:
        yield WebPage(socket)


def explorers_of(server: WebServer) -> list[int]:
    """Return the processes that the server has started and that still run."""
    listed = subprocess.run(
        ["ps", "-o", "pid=,stat=", "--ppid", str(server.process.pid)], capture_output=True, text=True, check=False
    ).stdout
    return [int(row.split()[0]) for row in listed.splitlines() if "Z" not in row.split()[1]]
