"""A small MCP server on stdio, as a program: tests start it behind the wrap. It answers in the way it is asked to."""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

TOOLS = [
    {
        "name": "look",
        "description": "Return a text of some length. " + "Read this first. " * 20,
        "inputSchema": {"type": "object", "properties": {"size": {"type": "integer"}}},
        "annotations": {"readOnlyHint": True},
    },
    {"name": "write", "description": "Change something.", "inputSchema": {"type": "object"}},
]
INSTRUCTIONS = "Look before you write."


def result(message: dict[str, Any]) -> dict[str, Any]:
    """Return the result or error of a request."""
    parameters = message.get("params") or {}
    if message["method"] == "initialize":
        info = {"name": "small", "version": "1"}
        greeting = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
        return {"result": {**greeting, "instructions": INSTRUCTIONS}}
    if message["method"] == "tools/list":
        number = int(parameters.get("cursor", 0))
        more = {"nextCursor": str(number + 1)} if number + 1 < len(TOOLS) else {}
        return {"result": {"tools": [TOOLS[number]], **more}}
    if message["method"] != "tools/call":
        return {"error": {"code": -32601, "message": f"no method {message['method']}"}}
    given = parameters.get("arguments") or {}
    if given.get("fails"):
        return {"result": {"content": [{"type": "text", "text": "It failed."}], "isError": True}}
    text = given.get("text", "") + "x" * given.get("size", 0)
    facts: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    if "structured" in given:
        facts["structuredContent"] = given["structured"]
    if "image" in given:
        facts["content"].append({"type": "image", "mimeType": "image/png", "data": given["image"]})
    return {"result": facts}


def main() -> None:
    """Answer until the input ends; a `stubborn` server ignores that and signals, has a child, and talks on and on."""
    if "stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(["sleep", "300"])
        while True:
            print(json.dumps({"pids": [os.getpid(), child.pid]}), flush=True)
            time.sleep(0.05)
    for line in sys.stdin.buffer:
        message = json.loads(line)
        given = (message.get("params") or {}).get("arguments") or {}
        if given.get("dies"):
            os.kill(os.getpid(), signal.SIGKILL)
        if "id" in message and not given.get("waits"):
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **result(message)}), flush=True)
    print("bye", file=sys.stderr)
    sys.exit(7)


if __name__ == "__main__":
    main()
