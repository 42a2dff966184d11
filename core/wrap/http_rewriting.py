"""Lets a rewriter change the messages in HTTP bodies and in server-sent events."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPResponse

from keyhole.core.wrap.rewriting import Reply, Rewriter

# An event ends with an empty line; lines end in any of three ways.
_END_OF_EVENT = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class RequestBody:
    """What the server gets, or the client if it is a reply."""

    body: bytes
    is_reply: bool = False


def rewritten_request(rewriter: Rewriter, body: bytes) -> RequestBody:
    """Return what becomes of the body of a request."""
    try:
        wanted = rewriter.request(body)
    except Exception:  # noqa: BLE001  # the message passes as it was
        return RequestBody(body)
    return RequestBody(wanted.message, isinstance(wanted, Reply))


def rewritten_response(rewriter: Rewriter, response: HTTPResponse, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the body of a response with its messages rewritten."""
    kind = (response.headers.get("Content-Type") or "").partition(";")[0].strip().casefold()
    if kind == "application/json":
        yield _rewritten(rewriter, b"".join(pieces))
    elif kind == "text/event-stream":
        yield from _rewritten_events(rewriter, pieces)
    else:
        yield from pieces


def _rewritten_events(rewriter: Rewriter, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield each event when it is whole; at the end also what is left."""
    rest = b""
    for piece in pieces:
        rest += piece
        while found := _END_OF_EVENT.search(rest):
            yield _rewritten_event(rewriter, rest[: found.start()]) + found[0]
            rest = rest[found.end() :]
    if rest:
        yield rest


def _rewritten_event(rewriter: Rewriter, event: bytes) -> bytes:
    lines = _LINE_END.split(event)
    data = b"\n".join(line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:"))
    new = _rewritten(rewriter, data) if data else data
    if new == data:
        return event
    others = [line for line in lines if not line.startswith(b"data:")]
    return b"\n".join([*others, *(b"data: " + line for line in new.split(b"\n"))])


def _rewritten(rewriter: Rewriter, message: bytes) -> bytes:
    with suppress(Exception):
        return rewriter.response(message)
    return message
