"""Cursors: where a list continues, as a text that only works for the same request and the same index."""

import base64
import binascii
import struct
from hashlib import blake2b

from keyhole.core.errors import CursorError, ErrorKind

# Request key, generation and offset, followed by their checksum.
_BODY = struct.Struct(">8sQI")
_CHECK_BYTES = 4


def request_key(*facts: object) -> bytes:
    """Return a key for what a request asks for, without how much of it or how it is shown."""
    return blake2b(repr(facts).encode(), digest_size=8, person=b"keyhole request").digest()


def write_cursor(request: bytes, generation: int, offset: int) -> str:
    """Return the cursor for an offset."""
    body = _BODY.pack(request, generation, offset)
    return base64.urlsafe_b64encode(body + _checksum(body)).decode().rstrip("=")


def read_cursor(cursor: str, request: bytes) -> tuple[int, int]:
    """Return a cursor's offset and the generation of the index that it belongs to."""
    try:
        content = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        body, check = content[: _BODY.size], content[_BODY.size :]
        made_for, generation, offset = _BODY.unpack(body)
    except (binascii.Error, ValueError, struct.error):
        body, check = b"", b"?"
    if check != _checksum(body):
        raise CursorError("this is not a cursor from keyhole", ErrorKind.OLD_CURSOR)
    if made_for != request:
        raise CursorError("this cursor belongs to another request", ErrorKind.OLD_CURSOR)
    return offset, generation


def check_generation(made_at: int, now: int) -> None:
    """Reject a cursor if the index has changed since, because the list may have changed too."""
    if made_at != now:
        raise CursorError("the index has changed since this cursor was made", ErrorKind.OLD_CURSOR)


def _checksum(body: bytes) -> bytes:
    return blake2b(body, digest_size=_CHECK_BYTES, person=b"keyhole cursor").digest()
