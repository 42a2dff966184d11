"""The interface of embedding models, and the quantisation of their vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """A model; the index records its name and dimension, and a change of either embeds every file again."""

    @property
    def name(self) -> str:
        """The name that the index records; a different name means different vectors."""
        ...

    @property
    def dimension(self) -> int:
        """The length of a vector; a multiple of 8."""
        ...

    def load(self) -> None:
        """Load the model, or raise ModelError."""
        ...

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one row per text."""
        ...


def quantise(vectors: "NDArray[np.float32]") -> list[tuple[bytes, bytes]]:
    """Return each vector as signs (one bit per number, for the scan) and as bytes (for rescoring)."""
    import numpy as np

    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(norms == 0, 1, norms)
    signs = np.packbits(unit > 0, axis=1, bitorder="little")
    small = np.rint(unit * 127).astype(np.int8)
    return [(sign.tobytes(), byte.tobytes()) for sign, byte in zip(signs, small, strict=True)]
