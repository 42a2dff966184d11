"""The interface of embedding models, and the quantisation of their vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# A vocabulary of up to this many tokens has ids of two bytes.
_SMALL_VOCABULARY = 1 << 16


class Encoded(NamedTuple):
    """One vector per text, and the distinct tokens of each text: their ids, sorted, with the model's `token_type`."""

    vectors: "NDArray[np.float32]"
    tokens: "list[NDArray[np.unsignedinteger]]"


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

    @property
    def token_type(self) -> str:
        """The type of token ids in the index, for numpy."""
        ...

    def encode_with_tokens(self, texts: Sequence[str]) -> Encoded:
        """Return the vector and the distinct tokens of each text."""
        ...

    def token_vectors(self, tokens: "NDArray[np.unsignedinteger]") -> "NDArray[np.int8]":
        """Return the directions of the vectors of these tokens, as rows of whole numbers from -127 to 127."""
        ...

    def token_weights(self, tokens: "NDArray[np.unsignedinteger]") -> "NDArray[np.float32]":
        """Return how much each token counts in a text: common words little, rare ones much."""
        ...


def token_type_of(count: int) -> str:
    """Return the type of the token ids of a vocabulary with this many tokens."""
    return "<u2" if count <= _SMALL_VOCABULARY else "<u4"


def quantise(vectors: "NDArray[np.float32]") -> list[tuple[bytes, bytes]]:
    """Return each vector as signs (one bit per number, for the scan) and as bytes (for rescoring)."""
    import numpy as np

    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(norms == 0, 1, norms)
    signs = np.packbits(unit > 0, axis=1, bitorder="little")
    small = np.rint(unit * 127).astype(np.int8)
    return [(sign.tobytes(), byte.tobytes()) for sign, byte in zip(signs, small, strict=True)]
