"""The socket of the shared server: only its user can connect, and it is replaced only if nobody listens on it."""

import asyncio
import hmac
import os
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from keyhole.core.index.private_files import write_private_file
from keyhole.core.sharing.share_address import USES_LOOPBACK
from keyhole.core.sharing.share_wire import TOKEN_BYTES, is_same_user

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
_WAITING = 128
_PATIENCE = 5.0


class SharedSocket:
    """A listening socket and its file."""

    def __init__(self, path: str, *, uses_loopback: bool = USES_LOOPBACK) -> None:
        self._path = Path(path)
        self._file: tuple[int, int] | None = None
        self.tokens = (secrets.token_hex(TOKEN_BYTES).encode(), secrets.token_hex(TOKEN_BYTES).encode())
        self.uses_loopback = uses_loopback
        self.listener = self._loopback() if uses_loopback else self._unix()

    def start(self) -> None:
        """Let clients find the socket; from now on they connect."""
        self.listener.listen(_WAITING)
        if self.uses_loopback:
            words = [str(self.listener.getsockname()[1]), *(token.decode() for token in self.tokens)]
            write_private_file(self._path, " ".join(words))
        else:
            # Only a socket that already listens gets the name that clients look for, so none is ever refused.
            os.replace(self._draft, self._path)  # noqa: PTH105
        found = self._path.lstat()
        self._file = found.st_dev, found.st_ino

    def is_ours(self) -> bool:
        """Return whether clients still find this server: another one may have taken its place."""
        with suppress(OSError):
            found = self._path.lstat()
            return (found.st_dev, found.st_ino) == self._file
        return False

    def give_up(self) -> None:
        """Remove the file if it is still ours; clients that are connected stay."""
        if self.is_ours():
            with suppress(OSError):
                self._path.unlink()
        self._file = None

    @property
    def _draft(self) -> str:
        return f"{self._path}.{os.getpid()}"

    def _unix(self) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX)
        with suppress(FileNotFoundError):
            os.unlink(self._draft)  # noqa: PTH108
        listener.bind(self._draft)
        os.chmod(self._draft, 0o600)  # noqa: PTH101
        return listener

    def _loopback(self) -> socket.socket:
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        return listener

    async def is_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Return whether the other side of a connection is a client of the same user."""
        if not self.uses_loopback:
            return is_same_user(writer.get_extra_info("socket"))
        theirs, ours = self.tokens
        try:
            given = await asyncio.wait_for(reader.readexactly(len(theirs)), _PATIENCE)
        except (TimeoutError, OSError, asyncio.IncompleteReadError):
            return False
        if not hmac.compare_digest(given, theirs):
            return False
        writer.write(ours)
        return True


@asynccontextmanager
async def serve_connections(place: SharedSocket, serve: Serve) -> AsyncIterator[None]:
    """Serve every client that connects, each in a task of its own."""

    async def serve_client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await place.is_client(reader, writer):
            await serve(reader, writer)
        else:
            writer.close()

    start = asyncio.start_server if place.uses_loopback else asyncio.start_unix_server
    server = await start(serve_client, sock=place.listener, backlog=_WAITING)
    place.start()
    try:
        yield
    finally:
        server.close()
