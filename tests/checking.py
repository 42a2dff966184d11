"""Runs checks in this process, and a small real MCP server to check."""

import sys
from pathlib import Path

from keyhole.core.checks.check_result import CheckResult
from keyhole.core.checks.checks_file import CHECKS_FILE, parse_checks
from keyhole.core.checks.run_checks import CheckRun, run_checks
from keyhole.core.service import Service
from keyhole.mcp_server.checked_tools import CheckedTools

# Answers over stdio without any library, so that it starts at once.
SERVER = r"""
import json, sys
tools = [{"name": "greet", "description": DESCRIPTION, "inputSchema": {"type": "object"}}]
for line in sys.stdin:
    asked = json.loads(line)
    method, reply = asked.get("method"), {"jsonrpc": "2.0", "id": asked.get("id")}
    if "id" not in asked:
        continue
    if method == "initialize":
        reply["result"] = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                           "serverInfo": {"name": "small", "version": "1"}}
    elif method == "tools/list":
        reply["result"] = {"tools": tools}
    elif method == "tools/call" and asked["params"]["name"] == "greet":
        text = ANSWER + asked["params"].get("arguments", {}).get("name", "")
        reply["result"] = {"content": [{"type": "text", "text": text}], "isError": False}
    elif method == "tools/call" and asked["params"]["name"] == "broken":
        reply["error"] = {"code": -32603, "message": "cannot do that"}
    elif method == "tools/call":
        reply["result"] = {"content": [{"type": "text", "text": "no such tool"}], "isError": True}
    else:
        reply["error"] = {"code": -32601, "message": "unknown method"}
    print(json.dumps(reply), flush=True)
"""


def write_server(folder: Path, *, description: str = "Greets someone.", answer: str = "Hello, ") -> str:
    """Write a server into a folder, and return the command that starts it, as TOML."""
    path = folder / "small_server.py"
    path.write_text(f"DESCRIPTION = {description!r}\nANSWER = {answer!r}\n{SERVER}")
    return f"[{sys.executable!r}, {str(path)!r}]"


def checked(
    service: Service, text: str, *, skips: str = "", updates: bool = False, only: str = ""
) -> list[CheckResult]:
    """Run the checks of a text on a workspace."""
    run = CheckRun(service, CheckedTools(service), lambda _: skips, updates, only)
    return run_checks(run, [parse_checks(text.encode(), CHECKS_FILE)])


def found(results: list[CheckResult]) -> list[tuple[str, str]]:
    """Return how each check ended, and what it found."""
    return [(str(result.status), result.finding.found) for result in results]
