"""Rejects requests that no client sends, before any library works on them: too large, too many values, or malformed.

The libraries would validate a request with 100,000 arguments for half a minute and answer with megabytes, and on stdio
they would not answer a malformed one at all. So every message is checked here first, on both transports, with the same
limits and the same answers: a JSON-RPC error of at most 500 characters, with the id of the request if it has one.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from keyhole.core.untrusted_text import error_text

MAX_REQUEST_BYTES = 1_000_000
# The tool with the most parameters has 12, and no client sends a thousand values of metadata.
_MOST_ARGUMENTS = 100
_MOST_VALUES = 2_000
_LARGEST_ID = 2**63
# Names are quoted in errors; the paths inside addresses are quoted too.
_LONGEST = {"id": 200, "method": 200, "name": 200, "uri": 8_192}

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32_700, -32_600, -32_602

_ID = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")\s*'
# The id of a message that can't be parsed. Clients write it among the first members or as the last one. At the start,
# nothing but a member of the outer object can match.
_ID_AT_START = re.compile(rb'\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,200}"\s*,\s*)*' + _ID + rb"[,}]")
# At the end, an argument of an incomplete message can match too, so the braces of the message are counted.
_ID_AT_END = re.compile(rb"[{,]\s*" + _ID + rb"\}\s*\Z")
# The braces of a large message are not counted, because most of it is gone. There the id must follow the parameters or
# the version, as it does in the messages of all known clients.
_ID_AT_LARGE_END = re.compile(rb'(?:\}|"jsonrpc"\s*:\s*"2\.0")\s*,\s*' + _ID + rb"\}\s*\Z")
# A string of JSON, also one without an end: so every quote is looked at once, and the search takes linear time.
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
# How much of each end of a large message is searched for the id.
_END = 1_000


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """The answer to a request that is rejected."""

    code: int
    message: str
    request_id: int | str | None = None
    is_too_large: bool = False

    def to_json(self) -> bytes:
        """Return the JSON-RPC error on one line."""
        error = {"code": self.code, "message": error_text(self.message)}
        return json.dumps({"jsonrpc": "2.0", "id": self.request_id, "error": error}).encode()


def refuse_large(start: bytes = b"", end: bytes = b"") -> RefusedRequest:
    """Reject a message over the limit, of which only both ends are known."""
    text = f"the request is over {MAX_REQUEST_BYTES:,} bytes; send a smaller one"
    return RefusedRequest(INVALID_REQUEST, text, _id_of_large(start, end), is_too_large=True)


def check_request(body: bytes) -> RefusedRequest | None:
    """Return why a message is rejected; None if it is not."""
    if len(body) > MAX_REQUEST_BYTES:
        return refuse_large(body[:_END], body[-_END:])
    # The parser that the libraries use too, so that both accept the same messages. Imported here because it is slow.
    from pydantic_core import from_json

    try:
        request = from_json(body)
    except ValueError as error:
        text = f"the message is not valid JSON ({error})"
        return RefusedRequest(PARSE_ERROR, text, _id_in_text(body))
    if not isinstance(request, dict):
        return RefusedRequest(
            INVALID_REQUEST, "a message must be one JSON object; send each request as its own message"
        )
    return _check_message(request)


def _check_message(request: Mapping[str, object]) -> RefusedRequest | None:
    request_id = _usable_id(request.get("id"))
    if problem := _shape_problem(request):
        return RefusedRequest(INVALID_REQUEST, problem, request_id)
    if problem := _size_problem(request):
        return RefusedRequest(INVALID_PARAMS, problem, request_id)
    return None


def _shape_problem(request: Mapping[str, object]) -> str:
    """Return what is wrong with the outer object of a message, or an empty text."""
    if request.get("jsonrpc") != "2.0":
        return 'jsonrpc must be "2.0"'
    if "method" not in request:
        is_answer = isinstance(request.get("result"), dict) or isinstance(request.get("error"), dict)
        return "" if is_answer else "method is missing"
    if "id" in request and _usable_id(request["id"]) is None:
        return "id must be a whole number or a short text"
    if not isinstance(request["method"], str):
        return "method must be a text"
    if not isinstance(request.get("params"), dict | None):
        return "params must be an object"
    return ""


def _size_problem(request: Mapping[str, object]) -> str:
    """Return which part of a message is over its limit, or an empty text."""
    parameters = request.get("params")
    inside = parameters if isinstance(parameters, dict) else {}
    for name, longest in _LONGEST.items():
        for value in (request.get(name), inside.get(name)):
            if isinstance(value, str) and len(value) > longest:
                return f"{name} has {len(value):,} characters; the limit is {longest:,}"
    arguments = inside.get("arguments")
    if isinstance(arguments, dict) and len(arguments) > _MOST_ARGUMENTS:
        return f"the request has {len(arguments):,} arguments; the limit is {_MOST_ARGUMENTS}"
    if _has_more_values(request, _MOST_VALUES):
        return f"the request has more than {_MOST_VALUES:,} values; send fewer"
    return ""


def _has_more_values(request: object, most: int) -> bool:
    """Return whether an object has more values, at any depth, than a limit; stops counting there."""
    count, waiting = 0, [request]
    while waiting and count <= most:
        value = waiting.pop()
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        count += len(inside)
        waiting.extend(inside)
    return count > most


def _usable_id(value: object) -> int | str | None:
    """Return the id of a request if it is one that can be sent back."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if abs(value) < _LARGEST_ID else None
    return value if isinstance(value, str) and len(value) <= _LONGEST["id"] else None


def _id_in_text(body: bytes) -> int | str | None:
    """Return the id of a message that can't be parsed, if it is where clients write it."""
    if found := _ID_AT_START.match(body[:_END]):
        return _parsed_id(found[1])
    found = _ID_AT_END.search(body[-_END:])
    return _parsed_id(found[1]) if found and _is_balanced(body) else None


def _id_of_large(start: bytes, end: bytes) -> int | str | None:
    """Return the id of a message of which only both ends are known."""
    found = _ID_AT_START.match(start) or _ID_AT_LARGE_END.search(end)
    return _parsed_id(found[1]) if found else None


def _parsed_id(text: bytes) -> int | str | None:
    try:
        return _usable_id(json.loads(text))
    except ValueError:
        return None


def _is_balanced(body: bytes) -> bool:
    """Return whether every brace and bracket is closed, and the last one ends the outer object."""
    bare = _STRING.sub(b"", body).rstrip()
    is_closed = bare.count(b"{") == bare.count(b"}") and bare.count(b"[") == bare.count(b"]")
    return is_closed and bare.endswith(b"}")
