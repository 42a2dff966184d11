"""Remembers the requests of a client that have no answer yet, and how it greeted the server."""

import _thread

# Requests above it are refused by every server, so they need not be sent again.
_LONGEST = 1_000_000
_MOST = 1_000
_GREETINGS = ("initialize", "notifications/initialized")
# How our servers start an answer; other messages of theirs name a method first.
_ANSWER = b'{"jsonrpc":"2.0","id":'
_ID_ENDS = (b',"result":', b',"error":')
_ENDED = b'{"code":-32000,"message":"The Keyhole server ended during this call, and a new one is starting. Try again."}'


class Unanswered:
    """What has to be said again to another server; used by two threads."""

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._unsorted: list[bytes] = []
        self._last = b""
        self._greeting: list[bytes] = []
        self._requests: dict[str, bytes] = {}
        # Requests that were answered with an error; what a server still says to them is dropped.
        self._given_up: set[str] = set()

    def add(self, chunk: bytes) -> None:
        """Add what the client sent, in chunks of any size."""
        with self._lock:
            *lines, last = (self._last + chunk).split(b"\n")
            self._unsorted += [line for line in lines if line.strip() and len(line) <= _LONGEST]
            # What is too long is kept as something too long, not as a message that starts in its middle.
            self._last = last if len(last) <= 2 * _LONGEST else last[: _LONGEST + 1]

    def sort(self) -> None:
        """Tell requests from other messages; the first time, this takes longer."""
        with self._lock:
            for line in self._unsorted:
                self._sort_line(line)
            self._unsorted.clear()

    def remove(self, messages: bytes) -> bytes:
        """Forget the requests that are answered by messages of a server; return what is for the client."""
        self.sort()
        with self._lock:
            return b"\n".join([line for line in messages.split(b"\n") if not self._is_late(line)])

    def _is_late(self, line: bytes) -> bool:
        """Forget the request that a message is the answer to; return whether it has had another one."""
        if not line.startswith(_ANSWER):
            return False
        id_ = _id_of_answer(line)
        if self._requests.pop(id_, None) is None and id_ in self._given_up:
            self._given_up.remove(id_)
            return True
        return False

    def requests(self) -> "list[tuple[str, bytes]]":
        """Return the requests without an answer, except greetings."""
        self.sort()
        with self._lock:
            return [(id_, line) for id_, line in self._requests.items() if line not in self._greeting]

    def give_up(self, requests: "list[tuple[str, bytes]]") -> bytes:
        """Forget those of these requests that are still open, and return an error as the answer to each."""
        with self._lock:
            # A client may have used the same id again.
            given_up = [id_ for id_, line in requests if self._requests.get(id_) is line]
            for id_ in given_up:
                del self._requests[id_]
            self._given_up.update(given_up)
        return b"".join(b'{"jsonrpc":"2.0","id":%s,"error":%s}\n' % (id_.encode(), _ENDED) for id_ in given_up)

    def to_repeat(self) -> "tuple[list[bytes], bytes]":
        """Return the messages that greet a server, and all that it has to be asked again."""
        self.sort()
        with self._lock:
            # A greeting that was not answered yet is asked again like everything else.
            asked = set(self._requests.values())
            greeting = [line + b"\n" for line in self._greeting if line not in asked]
            return greeting, b"".join(line + b"\n" for line in self._requests.values()) + self._last

    def _sort_line(self, line: bytes) -> None:
        import json

        try:
            parsed = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(parsed, dict):
            return
        method, parameters = parsed.get("method"), parsed.get("params")
        if method in _GREETINGS:
            self._greeting.append(line)
        if method == "notifications/cancelled" and isinstance(parameters, dict):
            self._requests.pop(json.dumps(parameters.get("requestId")), None)
        elif method is not None and "id" in parsed and len(self._requests) < _MOST:
            self._requests[json.dumps(parsed["id"])] = line


def _id_of_answer(line: bytes) -> str:
    import json

    start = len(_ANSWER)
    ends = [place for end in _ID_ENDS if (place := line.find(end, start)) >= 0]
    try:
        return json.dumps(json.loads(line[start : min(ends)])) if ends else ""
    except ValueError:
        return ""
