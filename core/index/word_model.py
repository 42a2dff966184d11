"""Keyhole's own model, applied word by word.

Its tokenizer never looks beyond a run of letters, digits and underscores. So the tokens of each such word are computed
once and cached, and a text is embedded by counting them. This is many times faster than model2vec, and loading takes a
tenth of the time. A token that occurs n times is weighted with the square root of n, as in training, so that repeated
words do not outweigh all others. A word that splits into many tiny tokens (a hash, a typo) means nothing and is
ignored.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import chain, filterfalse, pairwise
from typing import TYPE_CHECKING
from unicodedata import combining, normalize

from keyhole.core.index.embedder import Encoded, token_type_of
from keyhole.core.index.model_folder import VECTORS_FILE, ModelFolder
from keyhole.core.index.single_threaded import single_threaded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_CACHE_LIMIT = 200_000
# A longer word is data (a hash, base64), and only its start is kept.
_LONGEST_WORD, _LONGEST_KEPT = 200, 64
# The number of texts that are embedded together, with one table of counts.
_GROUP = 64
# A word is ignored if it splits into at least _SCRAPS tokens with fewer than _SCRAP_LETTERS letters on average.
_SCRAPS, _SCRAP_LETTERS = 3, 3
_UNKNOWN = "[UNK]"

_ASCII_TO_SPACE = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}
# Latin letters with and without accents only: the model was trained on English and knows almost no other scripts.
_WORD = re.compile(r"[0-9A-Za-z_\u00c0-\u024f\u0300-\u036f]+")
# Splits like the tokenizer: at camelCase, at underscores, and between letters and digits.
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


class WordEmbedder(ModelFolder):
    """A model whose tokens never span words, so the vector of a text is a sum over its words."""

    reading = "roots of counts, no scraps, Latin letters"

    def load(self) -> None:
        """Load the model if it is not loaded yet."""
        if "_parts" not in self.__dict__:
            with self._lock, single_threaded():
                self._parts  # noqa: B018  # the first access loads it

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one row per text, of length 1, or 0 if no word is known."""
        return self.encode_with_tokens(texts).vectors

    @property
    def token_type(self) -> str:
        """The type of token ids in the index, for numpy."""
        self.load()
        return token_type_of(len(self._parts[1]))

    def encode_with_tokens(self, texts: Sequence[str]) -> Encoded:
        """Return the vector and the distinct tokens of each text."""
        self.load()
        import numpy as np

        with self._lock:
            groups = [self._encode(texts[start : start + _GROUP]) for start in range(0, len(texts), _GROUP)]
        if not groups:
            return Encoded(np.zeros((0, self.dimension), np.float32), [])
        return Encoded(
            np.concatenate([group.vectors for group in groups]), [t for group in groups for t in group.tokens]
        )

    def token_vectors(self, tokens: "NDArray[np.unsignedinteger]") -> "NDArray[np.int8]":
        """Return the vectors of these tokens, which are whole numbers already."""
        self.load()
        vectors: NDArray[np.int8] = self._parts[1][tokens]
        return vectors

    def token_weights(self, tokens: "NDArray[np.unsignedinteger]") -> "NDArray[np.float32]":
        """Return the lengths of the vectors of these tokens: training gave common words short ones, rare ones long."""
        import numpy as np

        lengths: NDArray[np.float32] = np.linalg.norm(self.token_vectors(tokens).astype(np.float32), axis=1)
        return lengths

    def _encode(self, texts: Sequence[str]) -> Encoded:
        import numpy as np

        _, vectors = self._parts
        tokens = [list(chain.from_iterable(map(self._tokens.__getitem__, _words_of(text)))) for text in texts]
        # Numbers of two bytes are sorted several times as fast.
        ids = np.fromiter(chain.from_iterable(tokens), token_type_of(len(vectors)))
        used, columns = np.unique(ids, return_inverse=True)
        places = np.repeat(np.arange(len(texts)), [len(each) for each in tokens]) * len(used) + columns
        counts = np.bincount(places, minlength=len(texts) * len(used))
        roots = np.sqrt(counts, dtype=np.float32).reshape(len(texts), len(used))
        sums: NDArray[np.float32] = roots @ vectors[used].astype(np.float32)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        unit = (sums / np.where(lengths == 0, 1, lengths)).astype(np.float32)
        cells = np.flatnonzero(counts)
        ends = np.searchsorted(cells, np.arange(len(texts) + 1) * len(used)).tolist()
        of_texts = used[cells % max(1, len(used))]
        return Encoded(unit, [of_texts[start:end] for start, end in pairwise(ends)])

    @cached_property
    def _tokens(self) -> "_WordTokens":
        return _WordTokens(self._parts[0])

    @cached_property
    def _parts(self) -> "tuple[Tokenizer, NDArray[np.int8]]":
        """The tokenizer, and one vector per token."""
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        with self._explained():
            vectors: NDArray[np.int8] = load_file(self._folder / VECTORS_FILE)["embeddings"]
            tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
            if vectors.dtype.name != "int8":
                raise ValueError(f"its vectors have the type {vectors.dtype.name}, not int8")
            if tokenizer.get_vocab_size() != len(vectors):
                raise ValueError(f"{tokenizer.get_vocab_size():,} tokens and {len(vectors):,} vectors")
        return tokenizer, vectors


class _WordTokens(dict[str, tuple[int, ...]]):
    """The tokens of each word as written, since code repeats few words very often."""

    def __init__(self, tokenizer: "Tokenizer") -> None:
        super().__init__()
        self._of_parts = _PartTokens(tokenizer)

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) > _CACHE_LIMIT:
            self.clear()
        tokens = self[word] = tuple(chain.from_iterable(map(self._of_parts.__getitem__, _parts_of(word))))
        return tokens


class _PartTokens(dict[str, tuple[int, ...]]):
    """The tokens of each part of a name; empty if it is unknown or splits into scraps."""

    def __init__(self, tokenizer: "Tokenizer") -> None:
        super().__init__()
        self._tokenizer = tokenizer

    def __missing__(self, part: str) -> tuple[int, ...]:
        if len(self) > _CACHE_LIMIT:
            self.clear()
        # If the part itself is a token, the tokenizer does not split it, and this check is fast.
        token = self._tokenizer.token_to_id(part)
        tokens = self[part] = (token,) if token is not None else self._split(part)
        return tokens

    def _split(self, part: str) -> tuple[int, ...]:
        ids = self._tokenizer.encode(part, add_special_tokens=False).ids
        is_scraps = len(ids) >= _SCRAPS and len(part) < _SCRAP_LETTERS * len(ids)
        return () if is_scraps or ids == [self._tokenizer.token_to_id(_UNKNOWN)] else tuple(ids)


def _words_of(text: str) -> list[str]:
    return text.translate(_ASCII_TO_SPACE).split() if text.isascii() else _WORD.findall(text)


def _parts_of(word: str) -> list[str]:
    if not word.isascii():
        word = "".join(filterfalse(combining, normalize("NFD", word)))
    return [part.lower() for part in _PART.findall(word if len(word) <= _LONGEST_WORD else word[:_LONGEST_KEPT])]
