"""What the shared server says about itself, and ending it."""

from dataclasses import dataclass

from keyhole.core.sharing.reach_server import Connection, ask
from keyhole.core.sharing.share_address import ShareAddress, UnsharedError, find_address
from keyhole.core.sharing.share_wire import ACCEPTED, STATUS, STOP

_PATIENCE = 2.0


@dataclass(frozen=True, slots=True)
class SharedStatus:
    """A running shared server."""

    process: int
    sessions: int
    roots: tuple[str, ...]


def shared_status(address: ShareAddress | None = None) -> SharedStatus | None:
    """Return what the shared server of these settings does; None if there is none. Raise UnsharedError if it hangs."""
    return _asked(address or find_address(), STATUS)


def stop_server(address: ShareAddress | None = None) -> SharedStatus | None:
    """End the shared server, and return what it did; None if there is none."""
    return _asked(address or find_address(), STOP)


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
    return SharedStatus(int(facts[0]), int(facts[1]), tuple(facts[2:])) if len(facts) > 1 else None


def _rest(connection: Connection) -> bytes:
    connection.settimeout(_PATIENCE)
    content = b""
    while part := connection.recv(1 << 16):
        content += part
    return content
