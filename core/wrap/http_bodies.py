"""The body of an HTTP response, piece by piece as it comes."""

from collections.abc import Iterator
from http.client import HTTPResponse

CHUNK = 65_536


def body_pieces(response: HTTPResponse) -> Iterator[bytes]:
    """Yield the body as it comes, and give the connection back."""
    # Older Pythons do not count what `read1` has read, and would wait for more than there is.
    left = None if response.chunked else response.length
    while left != 0 and (piece := response.read1(CHUNK if left is None else min(left, CHUNK))):
        left = None if left is None else left - len(piece)
        yield piece
    if left:
        raise ConnectionError("the answer ended too early")
    response.close()
