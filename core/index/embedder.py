"""Turning text into vectors, by any model that fits this shape."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """A model: its name and dimension are recorded in the index, and a change of either re-embeds."""

    @property
    def name(self) -> str:
        """What the index records; another name means other vectors."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers a vector has; a multiple of 8."""
        ...

    def load(self) -> None:
        """Make ready to encode, or raise AssetError."""
        ...

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one row per text."""
        ...


def quantise(vectors: "NDArray[np.float32]") -> list[tuple[bytes, bytes]]:
    """Return each vector as signs (one bit each, for the scan) and as bytes (for rescoring)."""
    import numpy as np

    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(norms == 0, 1, norms)
    signs = np.packbits(unit > 0, axis=1, bitorder="little")
    small = np.rint(unit * 127).astype(np.int8)
    return [(sign.tobytes(), byte.tobytes()) for sign, byte in zip(signs, small, strict=True)]
