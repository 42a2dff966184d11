"""What the shared servers of a user say about themselves, and ending them."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from keyhole.core.sharing.reach_server import Connection, ask
from keyhole.core.sharing.share_address import ShareAddress, UnsharedError, all_addresses, find_address
from keyhole.core.sharing.share_wire import ACCEPTED, STATUS, STOP

_PATIENCE = 2.0


@dataclass(frozen=True, slots=True)
class SharedStatus:
    """A running shared server: its process, its clients, its cache folder, and the workspaces that it has open."""

    process: int
    sessions: int
    cache_dir: str
    roots: tuple[str, ...]


def shared_status(address: ShareAddress | None = None) -> SharedStatus | None:
    """Return what the shared server of these settings does; None if there is none. Raise UnsharedError if it hangs."""
    return _asked(address or find_address(), STATUS)


def running_servers(cache_dir: str | os.PathLike[str]) -> list[SharedStatus]:
    """Return the shared servers that use a cache folder, with these or other settings; those that hang are left out."""
    return [found for _, found in _servers(cache_dir, [])]


def stop_servers(cache_dir: str | os.PathLike[str]) -> tuple[list[SharedStatus], list[str]]:
    """End the shared servers that use a cache folder; return what they did, and the sockets that do not answer."""
    silent: list[str] = []
    stopped = [found for address, _ in _servers(cache_dir, silent) if (found := _asked(address, STOP))]
    return stopped, silent


def _servers(cache_dir: str | os.PathLike[str], silent: list[str]) -> Iterator[tuple[ShareAddress, SharedStatus]]:
    for address in all_addresses():
        try:
            found = _asked(address, STATUS)
        except (UnsharedError, OSError):
            silent.append(address.socket)
            continue
        if found and found.cache_dir == os.fspath(cache_dir):
            yield address, found


def _asked(address: ShareAddress, kind: bytes) -> SharedStatus | None:
    answered = ask(address, [kind], _PATIENCE)
    if answered is None:
        return None
    answer, connection = answered
    try:
        facts = _rest(connection).decode("utf-8", "surrogateescape").split("\n") if answer == ACCEPTED else []
    except OSError as error:
        raise UnsharedError(f"the shared server does not answer ({error})") from None
    finally:
        connection.close()
    try:
        process, sessions, cache_dir, *roots = facts
        return SharedStatus(int(process), int(sessions), cache_dir, tuple(roots))
    except ValueError:
        # Another version, which says something else.
        return None


def _rest(connection: Connection) -> bytes:
    connection.settimeout(_PATIENCE)
    content = b""
    while part := connection.recv(1 << 16):
        content += part
    return content
