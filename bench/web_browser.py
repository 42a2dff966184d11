"""Check `keyhole web` in a real browser, Chromium without a window, with the network off.

    .venv/bin/python bench/web_browser.py [--record] [--screenshot FILE]      # make web-test

The explorer is loaded, searched and copied from; strangers and other sites are refused. Every request of the page is
looked at. If the system allows it (Linux, unshare), all of this runs where only the loopback network exists.
"""

import argparse
import asyncio
import base64
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web
from chromium import PATIENCE, Browser, Tab, chromium, find_chromium
from record import HERE, refuse_changes, save_record

sys.path.append(str(HERE.parent / "tests"))
from web_pages import WebServer, explorers_of, plain_text, serve_web, write_indexed

_INSIDE = "--inside-network-namespace"
# Notes what is copied, and whether the browser allowed it.
_NOTE_COPIES = """
const clipboard = navigator.clipboard, write = clipboard && clipboard.writeText.bind(clipboard);
if (write) clipboard.writeText = text => write(text).then(() => { window.copied = text; });
"""
# What a page of another site can try.
_ATTACK = """
new Promise(done => {
  const socket = new WebSocket("ws://HOST/ws/1");
  socket.onopen = () => done("connected");
  socket.onerror = () => done("refused");
})
"""
_READ = """
fetch("http://HOST/", {credentials: "include"}).then(answer => "read " + answer.status, () => "refused")
"""


class Checks:
    """What was checked, with its result."""

    def __init__(self) -> None:
        self.results: dict[str, bool] = {}

    def note(self, what: str, *, is_true: bool) -> None:
        """Note and print one result."""
        self.results[what] = is_true
        print("passed" if is_true else "FAILED", what, flush=True)


def drawn_in(tab: Tab) -> str:
    """Return the text of all that the page was sent to draw."""
    frames = [event["response"] for event in tab.happened("Network.webSocketFrameReceived")]
    return plain_text(b"".join(base64.b64decode(frame["payloadData"]) for frame in frames if frame["opcode"] == 2))


async def becomes_true(condition: Callable[[], bool]) -> bool:
    """Wait for a condition, and return whether it became true."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                await asyncio.sleep(0.05)
    except TimeoutError:
        return False
    return True


async def is_loaded(tab: Tab) -> bool:
    """Wait until a page is loaded, and return whether it is."""
    return await becomes_true(lambda: bool(tab.happened("Page.loadEventFired")))


async def check_explorer(browser: Browser, server: WebServer, checks: Checks, screenshot: Path | None) -> Tab:
    """Use the explorer as its owner does."""
    tab = await browser.open(script=_NOTE_COPIES)
    await tab.send("Page.navigate", url=f"{server.address}/?token={server.token}")
    checks.note("the page loads and draws the explorer", is_true=await becomes_true(lambda: "Explore" in drawn_in(tab)))
    entries = (await tab.send("Page.getNavigationHistory"))["entries"]
    checks.note(
        "neither the address nor the history has the token",
        is_true=await tab.run("location.href") == f"{server.address}/"
        and all(server.token not in entry["url"] for entry in entries),
    )
    checks.note("scripts can't read the cookie", is_true=await tab.run("document.cookie") == "")
    await tab.send("Input.insertText", text="RetryPolicy")
    checks.note("a search shows its result", is_true=await becomes_true(lambda: "retry.py" in drawn_in(tab)))
    await tab.press("Enter", 13)
    is_previewed = await becomes_true(lambda: "Decides whether and when" in drawn_in(tab))
    checks.note("the preview shows the file", is_true=is_previewed)
    if screenshot:
        await asyncio.sleep(0.5)
        picture = await tab.send("Page.captureScreenshot", format="png")
        screenshot.write_bytes(base64.b64decode(picture["data"]))
    await tab.send("Input.insertText", text="e")
    is_refused = await becomes_true(lambda: "can't open your editor" in drawn_in(tab))
    checks.note("the editor is off, with a notice", is_true=is_refused)
    await tab.send("Input.insertText", text="y")
    await becomes_true(lambda: "Sent the" in drawn_in(tab))
    copied = await tab.run("window.copied || ''")
    checks.note("copying reaches the browser's clipboard", is_true="RetryPolicy" in copied)
    check_requests(tab, server, checks)
    checks.note("the page can't open other tabs", is_true=await tab.run(f"window.open('{server.address}/') === null"))
    return tab


async def check_strangers(browser: Browser, server: WebServer, checks: Checks) -> None:
    """Come without the token, with a wrong one, and from another site with the owner's cookie."""
    for what, address in (("without the token", "/"), ("with a wrong token", "/?token=wrong")):
        tab = await browser.open(is_stranger=True)
        await tab.send("Page.navigate", url=server.address + address)
        await is_loaded(tab)
        text = await tab.run("document.body.innerText")
        statuses = [event["response"]["status"] for event in tab.happened("Network.responseReceived")]
        checks.note(f"a browser {what} is refused", is_true=text.startswith("Rejected") and 403 in statuses)
    async with other_site() as other:
        tab = await browser.open()
        await tab.send("Page.navigate", url=other)
        await is_loaded(tab)
        # Ports do not count for cookies, so the browser sends the owner's cookie along.
        before = explorers_of(server)
        is_refused = await tab.run(_ATTACK.replace("HOST", server.host)) == "refused"
        checks.note("another site can't connect", is_true=is_refused and explorers_of(server) == before)
        checks.note("another site can't read", is_true=await tab.run(_READ.replace("HOST", server.host)) == "refused")


@asynccontextmanager
async def other_site() -> AsyncIterator[str]:
    """Serve an empty page on another port."""

    async def show(_: web.Request) -> web.Response:
        return web.Response(text="<p>another site", content_type="text/html")

    application = web.Application()
    application.add_routes([web.get("/{path:.*}", show)])
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    yield f"http://{host}:{port}/"
    await runner.cleanup()


def requests_of(tab: Tab) -> list[str]:
    """Return the addresses of all that a page has requested."""
    asked = [event["request"]["url"] for event in tab.happened("Network.requestWillBeSent")]
    return asked + [event["url"] for event in tab.happened("Network.webSocketCreated")]


def check_requests(tab: Tab, server: WebServer, checks: Checks) -> None:
    """Look at all that the page has requested, and at the errors that the browser reports."""
    asked = requests_of(tab)
    foreign = [url for url in asked if urlsplit(url).netloc != server.host and not url.startswith("data:")]
    checks.note("the page requests nothing from elsewhere", is_true=bool(asked) and not foreign)
    entries = [event["entry"] for event in tab.happened("Log.entryAdded")]
    problems = [entry["text"] for entry in entries if entry["level"] == "error"]
    problems += [str(event["exceptionDetails"]) for event in tab.happened("Runtime.exceptionThrown")]
    checks.note("the browser reports no error", is_true=not problems)
    for line in (*problems, *foreign):
        print(line)


async def check_all(base: Path, screenshot: Path | None) -> dict[str, object]:
    """Run every check and return the figures of the record."""
    checks = Checks()
    with serve_web(base) as server:
        async with chromium() as browser:
            version = (await browser.send("Browser.getVersion"))["product"]
            owner = await check_explorer(browser, server, checks, screenshot)
            await check_strangers(browser, server, checks)
            requests = len(requests_of(owner))
            await browser.close(owner)
            checks.note(
                "closing the tab ends its explorer", is_true=await becomes_true(lambda: not explorers_of(server))
            )
        checks.note("the server stops cleanly", is_true=server.stop() == 0)
    return {"browser": version, "requests of the page": requests, **checks.results}


def run_offline() -> None:
    """Run this script again where only the loopback network exists, if the system allows it."""
    unshare = shutil.which("unshare")
    command = [str(unshare), "--net", "--map-root-user"]
    if unshare and subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
        os.execv(unshare, [*command, sys.executable, *sys.argv, _INSIDE])
    print("unshare is missing or not allowed, so the network stays on")


def raise_loopback() -> None:
    """Turn on the loopback network of a new namespace, which is off at first."""
    get_flags, set_flags, up = 0x8913, 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sh14x", b"lo", 0)
        (flags,) = struct.unpack("16xh14x", fcntl.ioctl(handle, get_flags, request))
        fcntl.ioctl(handle, set_flags, struct.pack("16sh14x", b"lo", flags | up))


def is_offline() -> bool:
    """Return whether there is no network but loopback."""
    return [name for _, name in socket.if_nameindex()] == ["lo"]


def main() -> None:
    """Run the checks and store the record."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", action="store_true")
    options.add_argument("--screenshot", type=Path, help="where to store a picture of the page")
    options.add_argument(_INSIDE, action="store_true", dest="is_inside", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    find_chromium()
    if chosen.record:
        refuse_changes()
    if chosen.is_inside:
        raise_loopback()
        sys.argv.remove(_INSIDE)
    else:
        run_offline()
    with tempfile.TemporaryDirectory() as folder:
        base = write_indexed(Path(folder))
        figures = {"network off": is_offline(), **asyncio.run(check_all(base, chosen.screenshot))}
    failed = [what for what, result in figures.items() if result is False and what != "network off"]
    if chosen.record and not failed:
        print("recorded as", save_record("web-browser", figures))
    if failed:
        raise SystemExit(f"failed: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
