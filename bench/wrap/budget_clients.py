"""Real clients and keyhole wrap --budget: each reads a long answer to its end, as the notes say, and gets all of it."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from raw_client import RawClient
from same_frames import KEYHOLE, inspector_call
from wrapped_servers import BIN, HERE, SERVERS, Call, filled

sys.path.append(str(HERE.parents[1] / "tests"))
from rebuilt_answers import block_text, next_call, rebuilt_texts

Result = dict[str, Any]
CallTool = Callable[[str, dict[str, Any]], Awaitable[Result]]
_BUDGET = "4000"
_MORE = "keyhole_more"
# An answer of many pages from a server in TypeScript and one in Python.
_LONG: dict[str, Call] = {
    "filesystem": ("read_text_file", {"path": "WORK/long.txt"}),
    "fastmcp": ("long_text", {"size": 30_000}),
}


def read_with_every_client(place: Callable[[str], Path]) -> dict[str, int]:
    """Return how many pages each client needed for each long answer; 0 if they are not the answer."""
    clients = {"fastmcp": _with_fastmcp, "sdk": _with_sdk, "inspector": _with_inspector}
    found = {}
    for server, call in _LONG.items():
        for client, read in clients.items():
            work = place(f"{client}-{server}")
            (work / "long.txt").write_text("".join(f"line {number}: the quick brown fox\n" for number in range(2_000)))
            tool, given = call[0], filled(call[1], work)
            assert isinstance(given, dict)
            command = [str(filled(part, work)) for part in SERVERS[server].command]
            pages = read([KEYHOLE, "wrap", "--budget", _BUDGET, "--", *command], work, (tool, given))
            found[f"{client} {server}"] = len(pages) if _is_whole(pages, _whole(command, work, (tool, given))) else 0
    return found


def _whole(command: list[str], work: Path, call: Call) -> Result:
    """Return what the server itself answers."""
    with RawClient(command, work, {}) as client:
        client.introduce()
        answer = client.call(*call)["result"]
    assert isinstance(answer, dict)
    return answer


def _is_whole(pages: list[Result], whole: Result) -> bool:
    rebuilt = rebuilt_texts(pages)
    return len(pages) > 1 and [*rebuilt.values()] == [block_text(block) for block in whole["content"]]


async def _read(call_tool: CallTool, call: Call) -> list[Result]:
    pages = [await call_tool(*call)]
    while following := next_call(pages[-1]):
        pages.append(await call_tool(_MORE, following))
    return pages


def _environment(work: Path) -> dict[str, str]:
    return {**os.environ, "KEYHOLE_CACHE_DIR": str(work.parent / "cache")}


def _with_fastmcp(command: list[str], work: Path, call: Call) -> list[Result]:
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    async def use() -> list[Result]:
        transport = StdioTransport(command[0], command[1:], env=_environment(work), keep_alive=False)
        async with Client(transport) as client:
            assert _MORE in {tool.name for tool in await client.list_tools()}

            async def call_tool(name: str, given: dict[str, Any]) -> Result:
                answer = await client.call_tool_mcp(name, given)
                return dict(answer.model_dump(mode="json", by_alias=True, exclude_none=True))

            return await _read(call_tool, call)

    return asyncio.run(use())


def _with_sdk(command: list[str], work: Path, call: Call) -> list[Result]:
    from mcp.client.session import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    async def use() -> list[Result]:
        started = StdioServerParameters(command=command[0], args=command[1:], env=_environment(work), cwd=str(work))
        async with stdio_client(started) as (receive, send), ClientSession(receive, send) as session:
            await session.initialize()
            assert _MORE in {tool.name for tool in (await session.list_tools()).tools}

            async def call_tool(name: str, given: dict[str, Any]) -> Result:
                answer = await session.call_tool(name, given)
                return answer.model_dump(mode="json", by_alias=True, exclude_none=True)

            return await _read(call_tool, call)

    return asyncio.run(use())


def _with_inspector(command: list[str], work: Path, call: Call) -> list[Result]:
    """Use the command line of the Inspector, which starts the server again for each call."""

    async def call_tool(name: str, given: dict[str, Any]) -> Result:
        options = inspector_call((name, given), work)
        done = subprocess.run(
            [str(BIN / "mcp-inspector"), "--cli", *command, *options],
            cwd=work,
            env={**_environment(work), "HOME": str(work.parent)},
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=180,
        )
        answer = json.loads(done.stdout)
        assert isinstance(answer, dict)
        return answer

    return asyncio.run(_read(call_tool, call))
