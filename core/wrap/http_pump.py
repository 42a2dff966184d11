"""The wrap of a server with an address: listens on this machine, and forwards each HTTP exchange as it is.

Only what belongs to one connection changes (`Host`, chunks), and `Accept-Encoding` is limited to what the recorder can
decompress. Bodies and events are passed on byte for byte, as soon as they come. Paths are those of the server, so that
everything at its address can be reached.
"""

import select
import socket
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from keyhole.core.errors import ErrorKind, PortError
from keyhole.core.listening import is_loopback
from keyhole.core.wrap.client_watch import ClientWatch
from keyhole.core.wrap.http_bodies import CHUNK, body_pieces
from keyhole.core.wrap.http_rewriting import rewritten_request, rewritten_response

if TYPE_CHECKING:
    from keyhole.core.wrap.http_recording import HttpExchange, HttpRecording
    from keyhole.core.wrap.rewriting import NewRewriter, Rewriter

HOST = "127.0.0.1"
# What concerns one connection only (RFC 9110, 7.6.1).
_OF_CONNECTION = {
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}
_DECODED = ("gzip", "x-gzip", "deflate", "identity")
_CONNECT_SECONDS = 30.0
_WITHOUT_BODY = (204, 304)
SESSION = "mcp-session-id"


class HttpPump(ThreadingHTTPServer):
    """Listens on this machine and forwards to a server; each connection of a client has one to the server."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self, url: str, port: int, recording: "HttpRecording | None" = None, new_rewriter: "NewRewriter | None" = None
    ) -> None:
        parts = urlsplit(url)
        self.is_secure = parts.scheme == "https"
        self.upstream_host = parts.netloc.rpartition("@")[2]
        self.path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        self.recording = recording
        self.new_rewriter = new_rewriter
        self.rewriters: dict[str, Rewriter] = {}
        try:
            super().__init__((HOST, port), _Forwarding)
        except OSError as error:
            raise PortError(f"cannot listen on {HOST}:{port} ({error.strerror})", ErrorKind.TAKEN_PORT) from error

    @property
    def url(self) -> str:
        """The address that clients use instead of the server's."""
        return f"http://{HOST}:{self.server_port}{self.path}"

    def connect(self) -> HTTPConnection:
        """Return a new connection to the server."""
        kind = HTTPSConnection if self.is_secure else HTTPConnection
        made = kind(self.upstream_host, timeout=_CONNECT_SECONDS)
        made.connect()
        # A stream of events may be silent for hours.
        made.sock.settimeout(None)
        return made

    def rewriter_for(self, session: str) -> "Rewriter | None":
        """Return the rewriter of a session, or a new one where there is no session."""
        if self.new_rewriter is None:
            return None
        known = self.rewriters.get(session) if session else None
        made = known or self.new_rewriter()
        if session:
            self.rewriters[session] = made
        return made

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that went away is no problem of the wrap."""


class _Forwarding(BaseHTTPRequestHandler):
    """Forwards the exchanges of one connection of a client."""

    server: HttpPump
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    _upstream: HTTPConnection | None = None
    _socket: socket.socket
    _has_begun = False

    def forward(self) -> None:
        """Forward one exchange."""
        self._has_begun = False
        if problem := self._refusal():
            self._tell(403, problem)
            return
        recording = self.server.recording
        session = self.headers.get(SESSION, "")
        exchange = recording.exchange(session, self.headers.get("User-Agent", "")) if recording else None
        rewriter = self.server.rewriter_for(session)
        try:
            reply = self._send_request(exchange, rewriter)
            if reply is not None:
                self._reply(reply, exchange)
                return
            if self._upstream is not None:
                self._send_response(self._upstream.getresponse(), exchange, rewriter)
        except (OSError, HTTPException) as error:
            self._fail(error)

    do_GET = do_POST = do_DELETE = do_PUT = do_PATCH = do_HEAD = do_OPTIONS = forward  # noqa: N815  # so named by http.server

    def log_message(self, *_: object) -> None:
        """Write nothing to stderr."""

    def finish(self) -> None:
        """Close the connection to the server with that of the client."""
        if self._upstream is not None:
            self._upstream.close()
        super().finish()

    def _refusal(self) -> str:
        """Return why a request is refused: pages in a browser must not reach the server through the wrap."""
        own = urlsplit(f"//{self.headers.get('Host', '')}").hostname or ""
        origin = self.headers.get("Origin")
        if not is_loopback(own):
            return f"Host {own!r} is not this machine"
        if origin is not None and not is_loopback(urlsplit(origin).hostname or ""):
            return f"Origin {origin!r} is not this machine"
        return ""

    # The request

    def _send_request(self, exchange: "HttpExchange | None", rewriter: "Rewriter | None") -> bytes | None:
        """Send the request to the server; return a reply if the rewriter answers it instead."""
        pieces: Iterable[bytes] = self._request_pieces()
        length = self.headers.get("Content-Length")
        if rewriter and self.command == "POST":
            body = b"".join(pieces)
            if exchange:
                exchange.saw_request(body)
            wanted = rewritten_request(rewriter, body)
            if wanted.is_reply:
                return wanted.body
            pieces, length = [wanted.body], str(len(wanted.body))
        elif exchange:
            pieces = exchange.copied_request(pieces)
        self._connect()
        self._put_headers(length)
        try:
            for piece in pieces:
                self._upstream_send(piece, is_chunked=length is None)
            if length is None and self._has_body:
                self._upstream_send(b"", is_chunked=True)
        except (BrokenPipeError, ConnectionResetError):
            # The server has answered without reading all of it.
            self.close_connection = True
        return None

    @property
    def _has_body(self) -> bool:
        return "chunked" in self.headers.get("Transfer-Encoding", "").casefold()

    def _connect(self) -> None:
        """Use the connection of the last exchange, unless the server has closed it since."""
        if self._upstream is not None and self._upstream.sock is not None:
            if not select.select([self._upstream.sock], [], [], 0)[0]:
                return
            self._upstream.close()
        self._upstream = self.server.connect()
        # The connection forgets it as soon as the answer is to be its last.
        self._socket = self._upstream.sock

    def _put_headers(self, length: str | None) -> None:
        upstream = self._connected
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        upstream.putheader("Host", self.server.upstream_host)
        for name, value in self.headers.items():
            lower = name.casefold()
            if lower in _OF_CONNECTION or lower in ("host", "content-length", "expect"):
                continue
            upstream.putheader(name, self._decodable(value) if lower == "accept-encoding" else value)
        if length is not None:
            upstream.putheader("Content-Length", length)
        elif self._has_body:
            upstream.putheader("Transfer-Encoding", "chunked")
        upstream.endheaders()

    @property
    def _connected(self) -> HTTPConnection:
        if self._upstream is None:
            raise ConnectionError("not connected")
        return self._upstream

    def _decodable(self, value: str) -> str:
        """Return what the client accepts, without formats that the recorder can't read, or the rewriter."""
        known = _DECODED if self.server.new_rewriter is None else ()
        kept = [part for part in value.split(",") if part.split(";")[0].strip().casefold() in known]
        return ",".join(kept) or "identity"

    def _upstream_send(self, piece: bytes, *, is_chunked: bool) -> None:
        self._connected.send(b"%x\r\n%s\r\n" % (len(piece), piece) if is_chunked else piece)

    def _request_pieces(self) -> Iterator[bytes]:
        if self._has_body:
            yield from self._request_chunks()
            return
        left = int(self.headers.get("Content-Length") or 0)
        while left > 0 and (piece := self.rfile.read(min(left, CHUNK))):
            left -= len(piece)
            yield piece

    def _request_chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline(100).partition(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline(2)
        while self.rfile.readline(CHUNK).strip():
            pass

    # The response

    def _send_response(
        self, response: HTTPResponse, exchange: "HttpExchange | None", rewriter: "Rewriter | None"
    ) -> None:
        headers = response.getheaders()
        if exchange:
            exchange.response_begins(response.headers)
        session = response.headers.get(SESSION, "")
        if rewriter and session:
            self.server.rewriters.setdefault(session, rewriter)
        pieces = rewritten_response(rewriter, response, body_pieces(response)) if rewriter else body_pieces(response)
        length = None if rewriter else response.headers.get("Content-Length")
        has_body = self.command != "HEAD" and response.status not in _WITHOUT_BODY
        self._has_begun = True
        self.send_response_only(response.status, response.reason)
        for name, value in headers:
            if name.casefold() not in _OF_CONNECTION and name.casefold() != "content-length":
                self.send_header(name, value)
        is_chunked = has_body and length is None and self.request_version != "HTTP/1.0"
        if length is not None:
            self.send_header("Content-Length", length)
        elif is_chunked:
            self.send_header("Transfer-Encoding", "chunked")
        if not is_chunked and length is None and has_body:
            self.close_connection = True
        self.end_headers()
        if has_body:
            with ClientWatch(self.connection, self._socket) if length is None else nullcontext():
                self._send_pieces(pieces, exchange, is_chunked=is_chunked)
        else:
            response.read()
        if exchange:
            exchange.response_ended()

    def _send_pieces(self, pieces: Iterable[bytes], exchange: "HttpExchange | None", *, is_chunked: bool) -> None:
        for piece in pieces:
            if exchange:
                exchange.saw_response(piece)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if is_chunked else piece)
        if is_chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _reply(self, body: bytes, exchange: "HttpExchange | None") -> None:
        if exchange:
            exchange.replied(body)
        self.send_response_only(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _fail(self, error: Exception) -> None:
        """Tell the client that the server can't be reached, unless an answer has begun."""
        self.close_connection = True
        if self._upstream is not None:
            self._upstream.close()
            self._upstream = None
        if not self._has_begun:
            with suppress(OSError):
                self._tell(502, f"cannot reach {self.server.upstream_host} ({error or type(error).__name__})")

    def _tell(self, status: int, problem: str) -> None:
        body = f"keyhole wrap: {problem}\n".encode()
        self.close_connection = True
        self.send_response_only(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
