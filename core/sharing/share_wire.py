"""What clients and the shared server say to each other before messages flow.

A request is a list of fields after their total length; the answer is one byte. On the loopback address, where anyone on
the machine can connect, both sides first prove with a token that they are the same user.
"""

import _socket
import os
import sys

ACCEPTED, DECLINED, RETIRED = b"+", b"-", b"x"
# What is asked for: a session of MCP, facts about the server, or its end.
SESSION, STATUS, STOP = b"session", b"status", b"stop"
TOKEN_BYTES = 32
MAX_REQUEST = 1 << 20
_LENGTH_BYTES = 4


def pack(fields: "list[bytes]") -> bytes:
    """Return fields as they are sent; none may contain a zero."""
    body = b"\0".join(fields)
    return len(body).to_bytes(_LENGTH_BYTES, "big") + body


def length_of(head: bytes) -> int:
    """Return the length of what follows the first bytes of a request; 0 if it is over the limit."""
    length = int.from_bytes(head, "big")
    return length if length <= MAX_REQUEST else 0


def receive(connection: _socket.socket, size: int) -> bytes:
    """Read so many bytes; fewer at the end of the connection."""
    content = b""
    while len(content) < size and (part := connection.recv(size - len(content))):
        content += part
    return content


def receive_fields(connection: _socket.socket) -> "list[bytes]":
    """Read a request; empty if the other side sent none."""
    length = length_of(receive(connection, _LENGTH_BYTES))
    content = receive(connection, length)
    return content.split(b"\0") if length and len(content) == length else []


def is_same_user(connection: _socket.socket) -> bool:
    """Return whether the other side runs as this user; True where the system does not tell."""
    if not hasattr(_socket, "SO_PEERCRED"):
        return True
    size = 4
    credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 3 * size)
    return int.from_bytes(credentials[size : 2 * size], sys.byteorder) == os.geteuid()
