"""The calls of an agent to a wrapped server in a journal, always the same."""

import json
from collections.abc import Sequence

from recorded_calls import NOON, open_journal

from keyhole.core.service import Service
from keyhole.core.types.calls import WrappedServer
from keyhole.core.wrap.exchanges import CallWriter, Exchanges

TOOLS = [
    {
        "name": "search_issues",
        "description": "Search the issues of all repositories. " * 12,
        "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}},
        "annotations": {"readOnlyHint": True},
    },
    {"name": "create_issue", "description": "Open an issue.", "inputSchema": {"type": "object"}},
]
ISSUES = [
    f"#{number} Retry fails after {number} attempts: the backoff is never reset, see acme/retry.py"
    for number in range(900)
]


WRAPPED_CALLS = 5


def record_wrapped(service: Service, command: Sequence[str] = ("github-server",)) -> None:
    """Write a conversation with a wrapped server: a list of tools, a huge answer, a failure, and a small answer."""
    journal = open_journal(service)
    journal.wraps(WrappedServer("github", tuple(command), folder=str(service.root)))
    pairs = Exchanges(CallWriter(journal, "github", "stdio"))
    pairs._session = "always"
    hello: dict[str, object] = {"clientInfo": {"name": "claude-code", "version": "2.1"}}
    steps: list[tuple[str, dict[str, object], dict[str, object]]] = [
        ("initialize", hello, {"result": {"instructions": "Search before you open an issue."}}),
        ("tools/list", {}, {"result": {"tools": TOOLS}}),
        _call("search_issues", {"query": "retry backoff"}, "\n".join(ISSUES)),
        _call("create_issue", {"title": "Retry fails", "body": "It does."}, "You may not do that.", is_error=True),
        _call("search_issues", {"query": "backoff never reset"}, ISSUES[7]),
    ]
    for number, (method, given, answer) in enumerate(steps):
        at = NOON + 400 + 5 * number
        sent = {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
        pairs.from_client(json.dumps(sent).encode(), at)
        pairs.from_server(json.dumps({"jsonrpc": "2.0", "id": number, **answer}).encode(), at + 0.25)
    assert journal.flush()


def _call(
    tool: str, arguments: dict[str, object], text: str, *, is_error: bool = False
) -> tuple[str, dict[str, object], dict[str, object]]:
    result = {"content": [{"type": "text", "text": text}], "isError": is_error}
    return "tools/call", {"name": tool, "arguments": arguments}, {"result": result}
