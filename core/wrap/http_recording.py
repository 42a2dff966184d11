"""Records the exchanges of a wrap over HTTP: which body belongs to which session, and whose session it is."""

from collections.abc import Callable, Iterable, Iterator
from email.message import Message
from typing import TYPE_CHECKING, TypeVar

from keyhole.core.wrap.framing import Body, CopiedStream, body_stream
from keyhole.core.wrap.wrap_recording import WrapRecording

if TYPE_CHECKING:
    from keyhole.core.wrap.exchanges import ClientNames, Exchanges

# Servers may forget a session silently, so the wrap forgets the oldest ones.
_MOST_SESSIONS = 1_000
_MOST_AGENTS = 100
SESSION_HEADER = "Mcp-Session-Id"

Kept = TypeVar("Kept")


class HttpRecording:
    """The sessions of one wrapped server. Only the thread of the copies uses what is in here."""

    def __init__(self, recording: WrapRecording) -> None:
        self.recording = recording
        self._sessions: dict[str, Exchanges] = {}
        # Servers without sessions get a client's name once, or never; its User-Agent header tells it apart.
        self._clients: dict[str, ClientNames] = {}

    def exchange(self, session: str, user_agent: str) -> "HttpExchange":
        """Return the record of one request and its response."""
        return HttpExchange(self, session, user_agent)

    def conversation(self, session: str, user_agent: str) -> "Exchanges | None":
        """Return the conversation that a request belongs to; None if calls are not recorded."""
        writer = self.recording.writer()
        if writer is None or session in self._sessions:
            return self._sessions.get(session)
        from keyhole.core.wrap.exchanges import ClientNames, Exchanges

        name, _, version = user_agent.partition(" ")[0].partition("/")
        client = _kept(self._clients, user_agent, lambda: ClientNames(name or "unknown", version), _MOST_AGENTS)
        made = Exchanges(writer, client, has_session=bool(session))
        return _kept(self._sessions, session, lambda: made, _MOST_SESSIONS) if session else made

    def begin(self, session: str, conversation: "Exchanges") -> None:
        """Remember which conversation a new session is."""
        _kept(self._sessions, session, lambda: conversation, _MOST_SESSIONS)


class HttpExchange:
    """Copies of one request and its response; all methods but `_…` are called by the thread that forwards them."""

    def __init__(self, parent: HttpRecording, session: str, user_agent: str) -> None:
        self._parent = parent
        self._copies = parent.recording.copies
        self._session = session
        self._agent = user_agent
        self._new_session = ""
        self._pairs: Exchanges | None = None
        self._request = Body(self._take_request)
        self._response: CopiedStream | None = None

    def saw_request(self, body: bytes) -> None:
        """Take a copy of a whole request."""
        self._copies.saw(self._request, body)
        self._copies.ended(self._request)

    def copied_request(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Pass on the pieces of a request, with a copy of each."""
        for piece in pieces:
            self._copies.saw(self._request, piece)
            yield piece
        self._copies.ended(self._request)

    def response_begins(self, headers: Message) -> None:
        """Look at the headers of the response."""
        self._new_session = headers.get(SESSION_HEADER, "") if not self._session else ""
        kind, encoding = headers.get("Content-Type", ""), headers.get("Content-Encoding", "")
        self._response = body_stream(kind, encoding, self._take_response)

    def saw_response(self, piece: bytes) -> None:
        """Take a copy of the next bytes of the response."""
        if self._response is not None:
            self._copies.saw(self._response, piece)

    def response_ended(self) -> None:
        """Say that the response is complete."""
        if self._response is not None:
            self._copies.ended(self._response)

    def replied(self, body: bytes) -> None:
        """Take a copy of an answer that is not the server's."""
        self._response = Body(self._take_response)
        self.saw_response(body)
        self.response_ended()

    def _take_request(self, text: bytes, at: float) -> None:
        self._pairs = self._parent.conversation(self._session, self._agent)
        if self._pairs is not None:
            self._pairs.from_client(text, at)

    def _take_response(self, text: bytes, at: float) -> None:
        if self._pairs is None:
            # A stream that the client opened without a request.
            self._pairs = self._parent.conversation(self._session, self._agent)
        if self._pairs is None:
            return
        if self._new_session:
            self._parent.begin(self._new_session, self._pairs)
        self._pairs.from_server(text, at)


def _kept(known: dict[str, Kept], key: str, make: Callable[[], Kept], most: int) -> Kept:
    """Return what is known for a key, or make it; the oldest is forgotten if there are too many."""
    if key not in known:
        while len(known) >= most:
            del known[next(iter(known))]
        known[key] = make()
    return known[key]
