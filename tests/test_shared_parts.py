"""Parts of the shared server by themselves."""

import asyncio
import json
import sys
import threading
import time
from pathlib import Path

import pytest

from keyhole.core import turns
from keyhole.core.deadline import Deadline, within
from keyhole.core.errors import DeadlineError
from keyhole.core.service import Service
from keyhole.core.sharing.reach_server import connect_loopback
from keyhole.core.sharing.unanswered import Unanswered
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.syntax import Outline, Symbol
from keyhole.core.types.view_requests import MapRequest
from keyhole.core.view.maps.map_view import map_view, parse_map_request
from keyhole.mcp_server.open_workspaces import OpenWorkspaces
from keyhole.mcp_server.shared_listener import SharedSocket, serve_connections

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs sockets in folders")


def test_on_the_loopback_address_both_sides_know_a_token(tmp_path: Path) -> None:
    path = tmp_path / "port"
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readline())
        writer.write(b"answer\n")
        writer.close()

    def talk() -> bytes:
        connection = connect_loopback(str(path))
        assert connection
        connection.sendall(b"question\n")
        answer = connection.recv(100)
        connection.close()
        return answer

    async def run() -> None:
        place = SharedSocket(str(path), uses_loopback=True)
        async with serve_connections(place, serve):
            assert path.stat().st_mode & 0o777 == 0o600
            assert await asyncio.to_thread(talk) == b"answer\n"
            port, ours, theirs = path.read_text().split()
            path.write_text(f"{port} {theirs} {ours}")
            assert await asyncio.to_thread(connect_loopback, str(path)) is None
            place.give_up()
        assert not place.is_ours()

    asyncio.run(run())
    assert heard == [b"question\n"]


def test_idle_workspaces_are_closed(tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    workspaces = OpenWorkspaces()
    flags: dict[str, object] = {"cache_dir": tmp_path / "cache", "index.model": "none"}
    with workspaces.lend(root, force=False, flags=flags) as first:
        with workspaces.lend(root, force=False, flags=flags) as second:
            assert first is second
        assert isinstance(first.service, Service)
        workspaces.close_idle(0)
        assert workspaces.roots() == [root]
    workspaces.close_idle(1_000)
    assert workspaces.roots() == [root]
    workspaces.close_idle(0)
    assert workspaces.roots() == []


def test_a_long_call_pauses_for_a_short_one_of_another_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_QUANTUM", 0)
    monkeypatch.setattr(turns, "_LONGEST_PAUSE", 60)
    order: list[str] = []
    is_short_started, is_long_at_work = threading.Event(), threading.Event()

    def long() -> None:
        with turns.taking_turns("a"):
            is_long_at_work.set()
            is_short_started.wait()
            turns.give_way()
            order.append("long")

    thread = threading.Thread(target=long)
    thread.start()
    is_long_at_work.wait()
    with turns.taking_turns("b"):
        is_short_started.set()
        time.sleep(0.05)
        turns.give_way()
        order.append("short")
    thread.join()
    assert order == ["short", "long"]
    with turns.taking_turns("a"), turns.taking_turns("a"):
        turns.give_way()


def test_what_was_not_answered_is_asked_again() -> None:
    def line(**message: object) -> bytes:
        return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"

    hello, ready = line(id=0, method="initialize"), line(method="notifications/initialized")
    one, two, three = (line(id=number, method="tools/call") for number in (1, "two", 3))
    kept = Unanswered()
    kept.add(hello)
    assert kept.to_repeat() == ([], hello)
    kept.remove(b'{"jsonrpc":"2.0","id":0,"result":{}}\n')
    kept.add(ready + one + two[:9])
    kept.add(two[9:] + three + b"{half")
    kept.remove(b'{"jsonrpc":"2.0","method":"x"}\n{"jsonrpc":"2.0","id":"two","error":{}}\n')
    assert kept.to_repeat() == ([hello, ready], one + three + b"{half")
    later = Unanswered()
    later.add(hello + two)
    (error,) = later.give_up(later.requests()).splitlines()
    assert json.loads(error)["id"] == "two"
    assert later.to_repeat() == ([], hello)
    late = b'{"jsonrpc":"2.0","id":"two","result":{}}\n'
    assert later.remove(late + ready) == ready
    later.add(two)
    assert later.remove(late) == late
    kept.add(b"\n" + line(method="notifications/cancelled", params={"requestId": 3}) + b"x" * 3_000_000)
    assert kept.to_repeat()[1].startswith(one + b"x")
    assert len(kept.to_repeat()[1]) < 1_100_000


def test_the_map_of_a_long_file_checks_its_time_and_gives_way() -> None:
    def ended(count: int) -> bool:
        names = [f"f_{number}" for number in range(count)]
        symbols = tuple(
            Symbol(name, "function", f"{name}()", "", "", line, line, line, "", True)
            for line, name in enumerate(names, 1)
        )
        source = SourceFile("a.py", 0, 0, "", "", "\n" * count)
        try:
            with within(Deadline(0)):
                map_view(source, Outline("python", symbols), parse_map_request(MapRequest("a.py")))
        except DeadlineError:
            return True
        return False

    assert ended(1_000)
    # A short one is written before anyone could notice.
    assert not ended(10)
