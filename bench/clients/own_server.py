"""Each client with our own server: it must offer every tool to its model, and deliver an answer of each."""

from typing import Any

from client_run import Conditions, LabError, Run, run_client
from measure import delivered_text

from keyhole.core.types.choices import ToolSet
from keyhole.mcp_server.tool_texts import tool_names

FILES = {
    "shop/prices.py": '''"""Prices."""

from shop.money import rounded


def total_price(prices: list[float]) -> float:
    """Return the sum of some prices."""
    return rounded(sum(prices))
''',
    "shop/money.py": '''"""Money."""


def rounded(amount: float) -> float:
    """Round an amount to cents."""
    return round(amount, 2)
''',
    "README.md": "# Shop\n\nSee [prices](shop/prices.py) and [what is missing](missing.md).\n",
}
# Our server has started by then, also on a busy machine.
_START = 25
# What is asked of each tool, and what its answer must hold.
CALLS: dict[str, tuple[dict[str, object], str]] = {
    "search_code": ({"query": "total_price"}, "shop/prices.py"),
    "map_file": ({"path": "shop/prices.py"}, "total_price"),
    "read_file": ({"path": "shop/money.py"}, "return round(amount, 2)"),
    "find_references": ({"symbol": "rounded"}, "shop/prices.py"),
    "get_tree": ({}, "shop/ (2 files)"),
    "get_links": ({"path": "README.md"}, "shop/prices.py"),
    "get_backlinks": ({"path": "shop/prices.py"}, "README.md"),
    "search_by_links": ({"has_links_to": "shop/prices.py"}, "README.md"),
    "find_broken_links": ({}, "missing.md"),
    "find_related": ({"path": "shop/prices.py", "line": 6}, "shop/"),
    "index_status": ({}, "3"),
}


def try_own_server(client: str) -> dict[str, Any]:
    """Return the protocol that a client and our server agree on; every tool must be offered and answer."""
    asked = [(name, CALLS[name][0]) for name in tool_names(ToolSet.ALL)]
    # A client that does not wait for a server to start knows its tools only with the second question.
    plan = [asked[0], *asked]
    run = run_client(client, plan, Conditions(hold=_START, keyhole_files=FILES))
    failed = {}
    for number, (name, _) in enumerate(asked, start=1):
        delivered = delivered_text(run.results[number]) if number in run.results else ""
        if CALLS[name][1] not in delivered:
            failed[name] = delivered[:300] or "no answer"
    if failed:
        raise LabError(f"{client} with our server: {failed}")
    return {"protocol": _agreed_protocol(run), "tools_that_answered": len(asked)}


def _agreed_protocol(run: Run) -> str:
    """Return the newest version that was in an answer of the server to the client's introduction."""
    versions: list[str] = []
    for line in run.probe:
        result = line.get("result") or {}
        versions += [result["protocolVersion"]] if "protocolVersion" in result else result.get("supportedVersions", [])
    return max(versions, default="none")
