"""Chromium without a window, driven by its debugging port."""

import asyncio
import itertools
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    # Its own sandbox needs rights that a container does not have; it only opens our pages.
    "--no-sandbox",
    "--disable-gpu",
    "--window-size=1400,900",
)
PATIENCE = 60.0


class Tab:
    """One tab: it sends commands and keeps every event."""

    def __init__(self, browser: "Browser", session: str, target: str) -> None:
        self._browser = browser
        self.session = session
        self.target = target
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def send(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command and return its answer."""
        return await self._browser.send(method, self.session, **parameters)

    async def run(self, script: str) -> Any:
        """Run a script in the page, as after a click, and return its value."""
        answer = await self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def press(self, key: str, code: int) -> None:
        """Press a key that types nothing, such as Enter."""
        for kind in ("rawKeyDown", "keyUp"):
            await self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def happened(self, method: str) -> list[dict[str, Any]]:
        """Return the events of a kind."""
        return [parameters for name, parameters in self.events if name == method]


class Browser:
    """A running Chromium."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._tabs: dict[str, Tab] = {}
        self.reading = asyncio.create_task(self._read())

    async def send(self, method: str, session: str = "", **parameters: object) -> dict[str, Any]:
        """Send a command to the browser or to a tab, and return its answer."""
        number = next(self._numbers)
        answered = self._answers[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        await self._socket.send_json(message)
        async with asyncio.timeout(PATIENCE):
            answer = await answered
        assert "error" not in answer, (method, answer["error"])
        result: dict[str, Any] = answer["result"]
        return result

    async def open(self, *, is_stranger: bool = False, script: str = "") -> Tab:
        """Open a tab, for a stranger without the cookies of the others; the script runs before those of its pages."""
        place = await self.send("Target.createBrowserContext") if is_stranger else {}
        target = (await self.send("Target.createTarget", url="about:blank", **place))["targetId"]
        session = (await self.send("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
        tab = self._tabs[session] = Tab(self, session, target)
        for domain in ("Page", "Runtime", "Network", "Log"):
            await tab.send(f"{domain}.enable")
        if script:
            await tab.send("Page.addScriptToEvaluateOnNewDocument", source=script)
        return tab

    async def close(self, tab: Tab) -> None:
        """Close a tab."""
        await self.send("Target.closeTarget", targetId=tab.target)

    async def _read(self) -> None:
        async for message in self._socket:
            said = message.json()
            if "id" in said:
                self._answers.pop(said["id"]).set_result(said)
            elif tab := self._tabs.get(said.get("sessionId", "")):
                tab.events.append((said["method"], said["params"]))


def find_chromium() -> str:
    """Return the program, or exit and say what to install."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        raise SystemExit("Chromium is not installed; on Debian or Ubuntu run: sudo apt-get install chromium")
    return found


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Run Chromium with a profile of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        log = Path(profile, "log")
        with log.open("wb") as output:
            process = subprocess.Popen(
                [find_chromium(), *_OPTIONS, f"--user-data-dir={profile}"], stdout=output, stderr=output
            )
        try:
            address = await _debugging_address(Path(profile, "DevToolsActivePort"), process, log)
            async with aiohttp.ClientSession() as client, client.ws_connect(address, max_msg_size=0) as socket:
                browser = Browser(socket)
                yield browser
                browser.reading.cancel()
        finally:
            process.terminate()
            process.wait(timeout=20)


async def _debugging_address(file: Path, process: subprocess.Popen[bytes], log: Path) -> str:
    async with asyncio.timeout(PATIENCE):
        while not (file.exists() and len(file.read_text().split()) == 2):
            if process.poll() is not None:
                raise SystemExit(f"Chromium ended at once:\n{log.read_text(errors='replace')}")
            await asyncio.sleep(0.05)
    port, path = file.read_text().split()
    return f"ws://127.0.0.1:{port}{path}"
