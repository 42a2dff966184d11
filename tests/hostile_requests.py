"""Requests that no client sends: those that once went unanswered, were answered with megabytes, or took half a minute.

`make fuzz` (bench/fuzz_requests.py) starts from them; what it finds is added here.
"""

import json
from dataclasses import dataclass

LONG = "a" * 900_000


@dataclass(frozen=True, slots=True)
class Hostile:
    """A message, and what the answer has to have: the id, and some words of the error."""

    name: str
    body: bytes
    id: int | str | None
    words: str


def call(tool: str, arguments: object, request_id: object = 7) -> bytes:
    return rpc("tools/call", {"name": tool, "arguments": arguments}, request_id)


def rpc(method: str, params: object, request_id: object = 7) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}).encode()


def many(count: int) -> dict[str, int]:
    return {f"x{number}": 1 for number in range(count)}


NOT_JSON, ONE_OBJECT, BAD_ID = "the message is not valid JSON", "must be one JSON object", "id must be a whole number"
TOO_LARGE, NO_FILE = "the request is over 1,000,000 bytes", "is not a file in the workspace"
CASES = [
    Hostile("not JSON", b"hello", None, NOT_JSON),
    Hostile("not UTF-8", b'{"jsonrpc":"2.0","id":7,"method":"\xff"}', 7, NOT_JSON),
    Hostile("cut off", b'{"jsonrpc":"2.0","id":"seven","method":"ping', "seven", NOT_JSON),
    Hostile("lone surrogate", call("read_file", {"path": "\ud800"}), 7, NOT_JSON),
    Hostile("deep", rpc("ping", {"a": 0}).replace(b"0}}", b"[" * 90_000 + b"]" * 90_000 + b"}}"), 7, NOT_JSON),
    Hostile("batch", b"[]", None, ONE_OBJECT),
    Hostile("text", b'"ping"', None, ONE_OBJECT),
    Hostile("null", b"null", None, ONE_OBJECT),
    Hostile("id is an object", rpc("ping", {}, {}), None, BAD_ID),
    Hostile("id is null", rpc("ping", {}, None), None, BAD_ID),
    Hostile("id is true", rpc("ping", {}, True), None, BAD_ID),
    Hostile("id is a fraction", rpc("ping", {}, 1.5), None, BAD_ID),
    Hostile("id is long", rpc("ping", {}, LONG), None, BAD_ID),
    Hostile("id is huge", rpc("ping", {}, 10**4_000), None, BAD_ID),
    Hostile("no version", b'{"id":7,"method":"ping"}', 7, 'jsonrpc must be "2.0"'),
    Hostile("no method", b'{"jsonrpc":"2.0","id":7}', 7, "method is missing"),
    Hostile("method is a number", b'{"jsonrpc":"2.0","id":7,"method":1}', 7, "method must be a text"),
    Hostile("params is a list", rpc("tools/list", [1]), 7, "params must be an object"),
    Hostile("long method", rpc(LONG, {}), 7, "method has 900,000 characters; the limit is 200"),
    Hostile("long method, short parameter", rpc(LONG, {"method": "x"}), 7, "method has 900,000 characters"),
    Hostile("long tool name", call(LONG, {}), 7, "name has 900,000 characters"),
    Hostile("long address", rpc("resources/read", {"uri": LONG}), 7, "uri has 900,000 characters"),
    Hostile("unknown address", rpc("resources/read", {"uri": "x" * 8_000}), 7, "unknown resource 'xxx"),
    Hostile("unknown file", rpc("resources/read", {"uri": f"keyhole://file/{'x' * 8_000}"}), 7, NO_FILE),
    Hostile("1,000 arguments", call("read_file", many(1_000)), 7, "1,000 arguments; the limit is 100"),
    Hostile("50,000 arguments", call("read_file", many(50_000)), 7, "50,000 arguments; the limit is 100"),
    Hostile("100,000 arguments", call("read_file", many(100_000)), 7, TOO_LARGE),
    Hostile("90 arguments", call("read_file", many(90)), 7, "and 87 more problems"),
    Hostile("many values", call("read_file", {"paths": [[]] * 200_000}), 7, "more than 2,000 values"),
    Hostile("wrong values", call("read_file", {"paths": [1] * 1_900}), 7, "and 1,897 more problems"),
    Hostile("much metadata", rpc("ping", {"_meta": many(50_000)}), 7, "more than 2,000 values"),
    Hostile("long path", call("read_file", {"path": LONG}), 7, NO_FILE),
    Hostile("long argument name", call("read_file", {LONG: 1}), 7, "unknown parameter 'aaa"),
    Hostile("long mode", call("search_code", {"query": "a", "mode": LONG}), 7, "mode: unknown value 'aaa"),
    Hostile("long language", call("search_code", {"query": "a", "language": LONG}), 7, "unknown language 'aaa"),
    Hostile("long symbol", call("find_related", {"symbol": LONG}), 7, "finds similar names"),
    Hostile("over 1 MB", call("read_file", {"path": LONG * 2}), 7, TOO_LARGE),
    Hostile("escapes", call("read_file", {"path": "\x1b\U000e0041" * 10_000}), 7, NO_FILE),
]


def error_of(answer: bytes) -> tuple[object, str]:
    """Return the id and the error text of an answer: a JSON-RPC error, or a tool's."""
    # Over HTTP, other requests than tool calls are answered with a stream of one event.
    (event,) = [
        line.removeprefix(b"data: ") for line in answer.splitlines() if line[:1] == b"{" or line[:5] == b"data:"
    ]
    message = json.loads(event)
    if "error" in message:
        return message["id"], message["error"]["message"]
    result = message["result"]
    assert result["isError"], message
    return message["id"], result["content"][0]["text"]
