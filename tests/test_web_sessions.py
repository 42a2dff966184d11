"""The parts of the server for browsers that need small limits: the number of explorers, and ending one by force."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from web_pages import WebPage

from keyhole.core.processes import is_running
from keyhole.tui.web import app_process, sessions
from keyhole.tui.web.app_process import AppProcess
from keyhole.tui.web.sessions import Sessions

pytestmark = pytest.mark.anyio

STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("__GANGLION__", flush=True)
sys.stdout.write("D\\0\\0\\0\\5ready")
sys.stdout.flush()
time.sleep(600)
"""
FAILING = "import sys; sys.stderr.write('no ' * 100_000); sys.exit(2)"


@asynccontextmanager
async def served(command: list[str]) -> AsyncIterator[str]:
    application = web.Application()
    opened = Sessions([command])
    application.add_routes([web.get("/ws/{number}", opened.open)])
    application.on_shutdown.append(opened.close_all)
    runner = web.AppRunner(application, shutdown_timeout=5)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/ws/1"
    await runner.cleanup()


async def test_one_page_too_many_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_SESSIONS", 2)
    monkeypatch.setattr(app_process, "_PATIENCE", (0.1, 0.1))
    async with served([sys.executable, "-c", STUBBORN]) as address, aiohttp.ClientSession() as browser:
        async with browser.ws_connect(address) as first, browser.ws_connect(address) as second:
            await WebPage(first).see("ready")
            await WebPage(second).see("ready")
            async with browser.ws_connect(address) as third:
                page = WebPage(third)
                await page.closed()
                assert "explorers are open. Close a tab, then reload this one." in page.text
        # Once a page is closed, another one can be opened.
        await asyncio.sleep(0.5)
        async with browser.ws_connect(address) as fourth:
            await WebPage(fourth).see("ready")


async def test_an_explorer_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_process, "_PATIENCE", (0.1, 0.1))
    process = await AppProcess.start([sys.executable, "-c", STUBBORN], 80, 24)
    drawn: list[bytes] = []

    async def show(content: bytes) -> None:
        drawn.append(content)

    drawing = asyncio.create_task(process.draw(show))
    while not drawn:
        await asyncio.sleep(0.01)
    await process.stop()
    await drawing
    assert not is_running(process._process.pid)
    # What is typed afterwards is dropped.
    await process.type("x")


async def test_a_long_error_of_an_explorer_is_shortened() -> None:
    async with (
        served([sys.executable, "-c", FAILING]) as address,
        aiohttp.ClientSession() as browser,
        browser.ws_connect(address) as socket,
    ):
        page = WebPage(socket)
        await page.closed()
        assert len(page.text) == 4_000


async def test_an_explorer_that_the_system_does_not_start_is_an_error_on_the_page() -> None:
    async with (
        served(["/nothing/here"]) as address,
        aiohttp.ClientSession() as browser,
        browser.ws_connect(address) as socket,
    ):
        page = WebPage(socket)
        await page.closed()
        assert page.text == "keyhole: the explorer could not start (No such file or directory)\r\n"


async def test_the_server_stops_even_if_its_explorers_do_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(app_process, "_PATIENCE", (0.1, 0.1))
    note = tmp_path / "process"
    code = f"import os, pathlib; pathlib.Path({str(note)!r}).write_text(str(os.getpid()))\n{STUBBORN}"
    async with aiohttp.ClientSession() as browser:
        async with served([sys.executable, "-c", code]) as address:
            socket = await browser.ws_connect(address)
            await WebPage(socket).see("ready")
        assert not is_running(int(note.read_text()))
