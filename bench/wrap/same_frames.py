"""Whether a wrap changes anything: the same bytes have to pass on both of its sides, with real servers and clients."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from raw_client import RawClient
from wrapped_servers import BIN, HERE, SERVERS, Call, RealServer, filled

KEYHOLE = str(Path(sys.executable).parent / "keyhole")
# Lines that are no messages; servers ignore them or complain, and the wrap passes them on.
_ODD_LINES = (b"", b"not JSON", b'{"jsonrpc":"2.0","method":"notifications/unknown","params":{"a":"\xc3\xbc"}}')


@dataclass(frozen=True, slots=True)
class Outcome:
    """What passed a wrap: requests that were answered, bytes in each direction, and whether both sides are equal."""

    exchanges: int
    bytes_in: int
    bytes_out: int
    is_same: bool


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server runs: its files, the logs, and the journal."""

    work: Path
    logs: Path
    cache: Path

    def command(self, server: RealServer) -> list[str]:
        """Return the command of a server with a tap on each side of a wrap."""
        inner = [str(filled(part, self.work)) for part in server.command]
        tap = [sys.executable, str(HERE / "wire_tap.py")]
        return [*tap, str(self.logs / "outside"), KEYHOLE, "wrap", "--", *tap, str(self.logs / "inside"), *inner]

    def environment(self, server: RealServer) -> dict[str, str]:
        """Return the variables of a server."""
        own = {name: str(filled(value, self.work)) for name, value in server.environment.items()}
        return {"KEYHOLE_CACHE_DIR": str(self.cache), **own}

    def outcome(self, exchanges: int, *, client_leaves: bool = False) -> Outcome:
        """Compare both sides; of a client that kills its server, only up to the moment when it left."""
        sent, got = [(self.logs / f"outside.{way}").read_bytes() for way in ("in", "out")]
        passed, answered = [(self.logs / f"inside.{way}").read_bytes() for way in ("in", "out")]
        is_same = (passed, answered) == (sent, got)
        if client_leaves:
            # Some servers say something when they end, which nobody hears.
            is_same = passed == sent and answered.startswith(got)
        return Outcome(exchanges, len(sent), len(got), is_same and bool(sent and got))


def with_raw_client(server: RealServer, place: Place, count: int) -> Outcome:
    """Make requests of every kind, with odd lines between them."""
    wanted: list[Call] = [("tools/list", {}), *server.methods]
    wanted += [("tools/call", {"name": tool, "arguments": given}) for tool, given in server.calls]
    with RawClient(place.command(server), place.work, place.environment(server)) as client:
        client.introduce()
        for number, (method, given) in enumerate(islice(cycle(wanted), count - 1)):
            if number % 50 == 0 and "python" not in server.command[0]:
                client.send(_ODD_LINES[number // 50 % len(_ODD_LINES)])
            answer = filled(given, place.work)
            assert isinstance(answer, dict)
            client.request(method, answer)
    return place.outcome(count)


def with_fastmcp(name: str, place: Place) -> Outcome:
    """Use the client of fastmcp."""
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    server = SERVERS[name]
    program, *arguments = place.command(server)
    environment = {**os.environ, **place.environment(server)}

    async def use() -> int:
        async with Client(StdioTransport(program, arguments, env=environment, keep_alive=False)) as client:
            tools = await client.list_tools()
            for tool, given in server.calls:
                answer = filled(given, place.work)
                assert isinstance(answer, dict)
                await client.call_tool_mcp(tool, answer)
            return len(tools) and 2 + len(server.calls)

    return place.outcome(asyncio.run(use()), client_leaves=True)


def with_sdk(name: str, place: Place) -> Outcome:
    """Use the client of the official SDK for Python."""
    from mcp.client.session import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    server = SERVERS[name]
    program, *arguments = place.command(server)
    started = StdioServerParameters(
        command=program, args=arguments, env={**os.environ, **place.environment(server)}, cwd=str(place.work)
    )

    async def use() -> int:
        async with stdio_client(started) as (receive, send), ClientSession(receive, send) as session:
            await session.initialize()
            await session.list_tools()
            for tool, given in server.calls:
                answer = filled(given, place.work)
                assert isinstance(answer, dict)
                await session.call_tool(tool, answer)
            return 2 + len(server.calls)

    return place.outcome(asyncio.run(use()), client_leaves=True)


def with_inspector(name: str, place: Place) -> Outcome:
    """Use the command line of the Inspector, which has a client of the SDK for TypeScript."""
    server = SERVERS[name]
    environment = {**os.environ, **place.environment(server), "HOME": str(place.logs)}
    for options in (["--method", "tools/list"], inspector_call(server.calls[0], place.work)):
        command = [str(BIN / "mcp-inspector"), "--cli", *place.command(server), *options]
        subprocess.run(
            command,
            cwd=place.work,
            env=environment,
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=180,
        )
        done = place.outcome(2, client_leaves=True)
        if not done.is_same:
            break
    return done


def inspector_call(call: Call, work: Path) -> Sequence[str]:
    """Return the options of the Inspector for a call of a tool."""
    tool, given = call
    pairs = [f"{key}={filled(value, work)}" for key, value in given.items()]
    return ["--method", "tools/call", "--tool-name", tool, *(part for pair in pairs for part in ("--tool-arg", pair))]
