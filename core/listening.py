"""Listening for connections: the socket of a server, and whether only this machine can reach it."""

import socket
from ipaddress import ip_address

from keyhole.core.errors import ErrorKind, PortError


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached only from this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> tuple[socket.socket, str]:
    """Listen on a port, or on any free one for 0; return the socket and its address."""
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise PortError(f"cannot listen on {host}:{port} ({error.strerror})", ErrorKind.TAKEN_PORT) from error
    # Accepted connections inherit this. asyncio sets it too, but not on a listener that was made without a protocol
    # number, and then every answer after the first waits 40 ms for the client to acknowledge the headers.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    shown = f"[{host}]" if ":" in host else host
    return listener, f"http://{shown}:{listener.getsockname()[1]}"
