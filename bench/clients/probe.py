"""An MCP server for the lab: raw JSON-RPC over stdio, so that nothing stands between a case and the client.

    python probe.py LOG [SECONDS]       # SECONDS: how long it waits before it answers the first request

It logs what the client sends at the start. The tool `slow` answers after the given number of seconds.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from case_texts import result_of

# Not ending with a blank, which some clients remove.
LONG_TEXT = "".join(f"{number:05d} " for number in range(10_000)).rstrip()
# As long, but nothing in it is in the other one.
INSTRUCTIONS = "".join(f"{number:05d} " for number in range(50_000, 60_000)).rstrip()
# The search of tools in Qwen Code saves a longer result to a file.
DESCRIPTIONS = {"described": LONG_TEXT, "described_less": LONG_TEXT[:20_000].rstrip()}
_CASE = {
    "type": "object",
    "properties": {"shape": {"type": "string"}, "size": {"type": "integer"}},
    "required": ["shape", "size"],
}
_SLOW = {"type": "object", "properties": {"seconds": {"type": "number"}}, "required": ["seconds"]}


def _tools() -> list[dict[str, object]]:
    def tool(name: str, **more: object) -> dict[str, object]:
        return {"name": name, "description": f"Answer: {name}", "inputSchema": _CASE, **more}

    declared = {"anthropic/maxResultSizeChars": 100_000}
    return [
        tool("plain"),
        tool("declared", _meta=declared),
        tool("structured"),
        tool("structured_twice"),
        tool("structured_declared", _meta=declared),
        tool("error"),
        tool("two_blocks"),
        tool("always", _meta={"anthropic/alwaysLoad": True}),
        *(tool(name, description=text) for name, text in DESCRIPTIONS.items()),
        tool("slow", inputSchema=_SLOW),
    ]


def _answer(method: str, given: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        return {
            "protocolVersion": given["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "probe", "version": "1"},
            "instructions": INSTRUCTIONS,
        }
    if method == "tools/list":
        return {"tools": _tools()}
    if method == "tools/call":
        arguments = given["arguments"]
        if given["name"] == "slow":
            time.sleep(float(arguments["seconds"]))
            return {"content": [{"type": "text", "text": "slow answer"}]}
        return result_of(str(given["name"]), str(arguments["shape"]), int(arguments["size"]))
    return {} if method == "ping" else None


def main() -> None:
    """Answer requests until the client closes stdin."""
    log, delay = Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    for line in sys.stdin:
        request = json.loads(line)
        method, number = request.get("method", ""), request.get("id")
        if method in ("initialize", "server/discover", "notifications/cancelled"):
            with log.open("a") as file:
                file.write(json.dumps({"at": time.time(), **request}) + "\n")
        if method == "initialize":
            time.sleep(delay)
        if number is None:
            continue
        result = _answer(method, request.get("params") or {})
        body = {"result": result} if result is not None else {"error": {"code": -32601, "message": "Method not found"}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": number, **body}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
