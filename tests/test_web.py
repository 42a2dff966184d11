"""The explorer in a browser: what a page gets, and who gets none. The server and its explorers are real processes."""

import asyncio
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from web_pages import (
    PATIENCE,
    WebPage,
    WebServer,
    explorers_of,
    open_page,
    serve_web,
    visit,
    web_environment,
    write_indexed,
)

from keyhole.core.cli.browser_session import session_command
from keyhole.core.cli.main import run
from keyhole.core.processes import is_running
from keyhole.core.types.choices import TOKEN_PLACEHOLDER
from keyhole.tui.closing import EXIT_HANGUP
from keyhole.tui.web.page import static_files
from keyhole.tui.web.visitor_check import is_own_host

pytestmark = pytest.mark.anyio

HOSTILE_NAME = "two $(touch pwned) ; touch pwned"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_indexed(tmp_path_factory.mktemp("web"))


@pytest.fixture(scope="module")
def server(base: Path) -> Iterator[WebServer]:
    """Serve two workspaces, the second with a name that a shell would run."""
    (base / HOSTILE_NAME).mkdir()
    (base / HOSTILE_NAME / "second.py").write_text("def in_the_second_workspace(): ...\n")
    with serve_web(base, ".", str(base / HOSTILE_NAME)) as running:
        yield running


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.05)


@pytest.fixture
def web(base: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return what runs the command in this process; it must fail before it serves."""
    monkeypatch.chdir(base / "acme")

    def fails(*arguments: str) -> str:
        assert run(["web", *arguments]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        return printed.err

    return fails


# What a page gets


async def test_a_page_searches_and_what_needs_the_machine_is_off(server: WebServer) -> None:
    async with visit(server) as browser:
        async with open_page(browser, server) as page:
            await page.see("Explore")
            await page.type("RetryPolicy")
            await page.see("src/acme/retry.py:")
            await page.type("\r")
            await page.see("Decides whether and when to try again.")
            for key, notice in (
                ("e", "The browser can't open your editor."),
                ("W", "The browser shows one workspace."),
                ("\x1a", "There is no shell to return to."),
                ("y", "to the browser."),
            ):
                page.forget()
                await page.type(key)
                await page.see(notice)
            # The text goes to the browser as a request to copy it.
            assert b"\x1b]52;c;" in page.drawn
            await page.socket.send_json(["resize", {"width": 70, "height": 24}])
            await page.see("keyhole")
            for nonsense in (
                "",
                "{",
                "[]",
                '["stdin"]',
                '["stdin", 5]',
                '["resize", {"width": "x"}]',
                '["stdin", "\\ud800"]',
            ):
                await page.socket.send_str(nonsense)
            page.forget()
            await page.socket.send_json(["resize", {"width": 10**9, "height": 10**9}])
            await page.see("Stats")
            assert len(explorers_of(server)) == 1
        await wait_until(lambda: not explorers_of(server))


async def test_each_workspace_has_its_address_and_a_name_runs_nothing(server: WebServer, base: Path) -> None:
    async with visit(server) as browser:
        async with browser.get(f"{server.address}/2") as answer:
            assert "two $(touch pwned) ; touch pwned · Keyhole" in await answer.text()
        for missing in ("/3", "/ws/3", "/0"):
            async with browser.get(server.address + missing) as answer:
                assert answer.status == 404
        async with open_page(browser, server, 2) as page:
            await page.see("1 file")
            await page.type("second")
            await page.see("in_the_second_workspace")
            # ctrl+q ends the explorer, and with it the connection.
            await page.type("\x11")
            await page.closed()
    assert not list(base.rglob("pwned"))


async def test_an_explorer_that_cannot_start_says_why_on_the_page(base: Path) -> None:
    (base / "gone").mkdir()
    with serve_web(base, "../gone") as server:
        (base / "gone").rmdir()
        async with visit(server) as browser, open_page(browser, server) as page:
            await page.closed()
            assert "keyhole: cannot open" in page.text


async def test_everything_the_page_loads_comes_from_the_server(server: WebServer) -> None:
    async with visit(server) as browser:
        async with browser.get(f"{server.address}/") as answer:
            page = await answer.text()
        (connected,) = re.findall(r'websocket-url="([^"]*)"', page)
        assert connected == f"ws://{server.host}/ws/1"
        loaded = re.findall(r'(?:src|href)="([^"]*)"', page)
        style = files("keyhole.assets").joinpath("web", "page.css").read_text("utf-8")
        loaded += re.findall(r'url\("?([^")]*)', style)
        loaded.remove("data:,")
        assert {path.removeprefix("/static/") for path in loaded} == set(static_files())
        for path in loaded:
            async with browser.get(server.address + path) as answer:
                assert (path, answer.status) == (path, 200)
    for name, file in static_files().items():
        if not name.endswith(".ttf"):
            text = re.sub(r"/\*.*?\*/", "", file.read_text("utf-8"), flags=re.DOTALL)
            assert re.findall(r"https?://[\w.]+|@import", text) == [], name
    assert "//" not in page.replace(connected, "")


async def test_the_address_with_the_token_becomes_one_without(server: WebServer) -> None:
    address = f"{server.address}/2?token={server.token}"
    async with aiohttp.ClientSession() as stranger, stranger.get(address, allow_redirects=False) as answer:
        assert (answer.status, answer.headers["Location"]) == (303, "/2")
        cookie = answer.headers["Set-Cookie"]
        assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
        assert server.token not in cookie
    for path in ("//example.org/", "/%5Cexample.org", "/static/", "/nothing"):
        address = f"{server.address}{path}?token={server.token}"
        async with aiohttp.ClientSession() as stranger, stranger.get(address, allow_redirects=False) as answer:
            assert (path, answer.headers["Location"]) == (path, "/")
    async with visit(server) as browser:
        async with browser.get(f"{server.address}/?ping=http://example.org", allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, "/")
        async with browser.get(f"{server.address}/") as answer:
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'; script-src 'self';" in policy
            assert "sandbox allow-scripts allow-same-origin" in policy
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert server.token not in await answer.text()


# Who gets nothing

PATHS = ("/", "/2", "/static/textual.js", "/static/", "/download/x", "/ws/1", "/nothing")


@pytest.mark.parametrize("path", PATHS)
async def test_strangers_and_other_sites_are_rejected_everywhere(server: WebServer, path: str) -> None:
    async with visit(server) as browser:
        for headers in (
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://127.0.0.1:1"},
            {"Origin": f"https://{server.host}"},
            {"Host": f"evil.example:{server.host.partition(':')[2]}"},
            {"Host": ""},
        ):
            async with browser.get(server.address + path, headers=headers) as answer:
                assert (headers, answer.status) == (headers, 403)
                assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    async with aiohttp.ClientSession() as stranger:
        for query in ("", "?token=", "?token=wrong", f"?token={server.token}x", "?token=%ff%00"):
            async with stranger.get(server.address + path + query, allow_redirects=False) as answer:
                assert (query, answer.status) == (query, 403)
                assert "Open the address that keyhole web printed" in await answer.text()


async def test_a_socket_needs_the_cookie_and_the_own_origin(server: WebServer) -> None:
    async def status(browser: aiohttp.ClientSession, **options: Any) -> int:
        with pytest.raises(aiohttp.WSServerHandshakeError) as error:
            await browser.ws_connect(f"{server.address}/ws/1", **options)
        return error.value.status

    async with aiohttp.ClientSession() as stranger:
        assert await status(stranger, origin=server.address) == 403
        assert await status(stranger, origin=server.address, headers={"Cookie": f"keyhole-{server.host[-5:]}=x"}) == 403
    async with visit(server) as browser:
        assert await status(browser) == 403
        for origin in ("http://evil.example", "http://127.0.0.1:1", "null", f"{server.address}.evil.example"):
            assert (origin, await status(browser, origin=origin)) == (origin, 403)
        assert await status(browser, origin="http://evil.example", headers={"Host": "evil.example"}) == 403
    assert explorers_of(server) == []


async def test_folders_are_not_listed_and_nothing_is_downloaded(server: WebServer) -> None:
    async with visit(server) as browser:
        for path in ("/static", "/static/", "/static/js/", "/static/../page.py", "/download/x"):
            async with browser.get(server.address + path) as answer:
                assert (path, answer.status) == (path, 404)
        async with browser.post(f"{server.address}/") as answer:
            assert answer.status == 405


@pytest.mark.parametrize(
    ("bound", "own", "foreign"),
    [
        (
            "127.0.0.1",
            ["127.0.0.1:1", "localhost:80", "[::1]:1", "LOCALHOST"],
            ["evil.example", "10.0.0.1", "", "[::1"],
        ),
        ("::1", ["[::1]:7778", "localhost"], ["localhost.evil.example", "[::2]:1"]),
        ("0.0.0.0", ["10.0.0.1:7778", "localhost:1", "[fe80::1]:1"], ["evil.example:7778", "0x7f.1.example", "a b"]),
        ("box.lan", ["box.lan:7778", "BOX.LAN"], ["10.0.0.1", "evil.example", "localhost"]),
    ],
)
def test_which_hosts_are_the_servers_own(bound: str, own: list[str], foreign: list[str]) -> None:
    assert [host for host in own if not is_own_host(host, bound)] == []
    assert [host for host in foreign if is_own_host(host, bound)] == []


# How it ends


def send_junk(server: WebServer) -> None:
    """Send what is no HTTP, and wait for the answers."""
    host, _, port = server.host.partition(":")
    for junk in (b"\x16\x03\x01\x02\r\n\r\n", b"GET /\xff HTTP/1.1\r\n\r\n", b"GET /" + b"a" * 100_000):
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(junk)
            assert b"400 Bad Request" in connection.recv(1_000)


async def explorer_of(server: WebServer, page: WebPage) -> int:
    await page.see("Explore")
    (explorer,) = explorers_of(server)
    return explorer


def test_an_explorer_ends_when_the_server_is_gone(base: Path) -> None:
    """Only its input ends, as after a kill of the server: an explorer at rest does not write and sees nothing else."""
    command = session_command(base / "acme", force=False, is_fresh=True)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=web_environment(base), bufsize=0
    ) as explorer:
        assert explorer.stdin
        assert explorer.stdout
        drawn = b""
        while b"Explore" not in drawn and (part := explorer.stdout.read(10_000)):
            drawn += part
        explorer.stdin.close()
        while explorer.stdout.read(10_000):
            pass
        assert explorer.wait(PATIENCE) == EXIT_HANGUP


async def test_a_token_that_was_given_is_neither_printed_nor_passed_on(base: Path) -> None:
    token = "given-" + "x" * 20
    with serve_web(base, "--host", "0.0.0.0", KEYHOLE_TOKEN=token) as printed:
        assert printed.token == TOKEN_PLACEHOLDER
        server = WebServer(printed.address.replace("0.0.0.0", "127.0.0.1"), token, printed.process)
        async with visit(server) as browser, open_page(browser, server) as page:
            explorer = await explorer_of(server, page)
            if Path("/proc/self/environ").exists():
                assert token.encode() not in Path(f"/proc/{explorer}/environ").read_bytes()
            send_junk(server)
            # Ctrl+C ends everything.
            server.process.send_signal(signal.SIGINT)
            _, errors = await asyncio.to_thread(server.process.communicate, timeout=PATIENCE)
            assert (server.process.returncode, errors) == (0, "")
            assert not is_running(explorer)


# The command


def test_other_addresses_need_a_token_that_was_given(web: Callable[..., str]) -> None:
    assert web("--host", "0.0.0.0", "--port", "0") == (
        "keyhole: refusing to serve on 0.0.0.0 without a token; pass --token-file, or serve on 127.0.0.1\n"
    )


def test_without_the_extra_the_command_to_install_it_is_shown(
    web: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("aiohttp", "textual_serve"):
        monkeypatch.setitem(sys.modules, package, None)
    assert "not installed (aiohttp, textual_serve); run `pip install 'keyhole[web]'`" in web()


def test_wrong_folders_ports_and_tokens_are_errors(web: Callable[..., str], server: WebServer) -> None:
    taken = server.host.partition(":")[2]
    for arguments, problem in (
        (["missing"], "missing"),
        (["--port", taken], f"cannot listen on 127.0.0.1:{taken}"),
        (["--token", "a b"], "a token must be one line"),
        (["--token", "a", "--token-file", "b"], "cannot be used together"),
        ([str(Path.home())], "pass --force"),
    ):
        assert problem in web(*arguments)


def test_the_explorer_in_a_terminal_loads_nothing_of_this() -> None:
    code = "import keyhole.core.cli.main, keyhole.tui.run_explorer, keyhole.tui.app, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "keyhole.tui.app" in loaded
    assert {"aiohttp", "keyhole.tui.web", "keyhole.tui.browser_driver", "textual.drivers.web_driver"} & set(
        loaded
    ) == set()
