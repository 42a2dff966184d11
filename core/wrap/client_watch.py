"""Notices that a client has gone away while an answer streams to it."""

import select
import socket
import threading
from contextlib import suppress

_LOOK_SECONDS = 0.5


class ClientWatch:
    """Closes the connection to the server when the client leaves: a silent stream would stay open for ever."""

    def __init__(self, client: socket.socket, upstream: socket.socket) -> None:
        self._client = client
        self._upstream = upstream
        self._done = threading.Event()

    def __enter__(self) -> None:
        threading.Thread(target=self._watch, name="keyhole-watch", daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self._done.set()

    def _watch(self) -> None:
        with suppress(OSError, ValueError):
            while not self._done.wait(_LOOK_SECONDS):
                if select.select([self._client], [], [], 0)[0]:
                    has_left = not self._client.recv(1, socket.MSG_PEEK)
                    if has_left and not self._done.is_set():
                        self._upstream.shutdown(socket.SHUT_RDWR)
                    return
