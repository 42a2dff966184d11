"""What a rewriter of messages has to be able to do. Without one, the wrap forwards every byte as it is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ToServer:
    """The server gets this message, and answers it."""

    message: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """The client gets this answer, and the server never sees the request."""

    message: bytes


class Rewriter(Protocol):
    """Changes the messages of one client's conversation with one server.

    A message is one line of stdio, the body of an HTTP request or response, or the data of a server-sent event, always
    without the line end. It may hold anything: an array of messages, a notification, or no JSON at all. Return what is
    not yours as the same bytes. `request` and `response` are called from different threads. If one of them raises, the
    wrap forwards the message as it was.
    """

    def request(self, message: bytes) -> ToServer | Reply:
        """Return what to do with a message of the client: change and forward it, or answer it."""
        ...

    def response(self, message: bytes) -> bytes:
        """Return what the client gets instead of a message of the server."""
        ...


# One rewriter for each conversation: the process on stdio, the session over HTTP, or one exchange where the server
# gives no session id. Ids of requests are unique only within a conversation.
NewRewriter = Callable[[], Rewriter]
