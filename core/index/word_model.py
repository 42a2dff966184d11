"""Keyhole's own model, read word by word.

Its tokenizer never looks beyond a run of letters, digits and underscores. So the tokens of each such word are found
once and remembered, and a text is embedded by counting them: many times as fast as model2vec, and loaded in a tenth
of the time. Where a token comes n times, it counts as the root of n, as it did in training: what a chunk repeats
does not drown what it says once. A word that comes apart into scraps (a hash, a slip of the keyboard) says nothing,
and is left out.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from keyhole.core.errors import AssetError
from keyhole.core.index.model import ModelFolder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_CACHE_LIMIT = 200_000
# A longer run is data (a hash, base64), of which only the start is worth keeping.
_LONGEST_WORD, _LONGEST_KEPT = 200, 64
# Texts that are embedded together share one table of counts.
_GROUP = 64
# From this many pieces, of fewer letters each, a word is in scraps.
_SCRAPS, _SCRAP_LETTERS = 3, 3
_INSIDE_WORD, _UNKNOWN = "##", "[UNK]"

_ASCII_TO_SPACE = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}
# The model learned from English: of other scripts it knows next to nothing. Marks belong to accented letters.
_WORD = re.compile(r"[0-9A-Za-z_\u00c0-\u024f\u0300-\u036f]+")


class WordEmbedder(ModelFolder):
    """Embeds with a model whose tokens lie within words: vectors of texts are sums over their words."""

    reading = "roots of counts, no scraps, Latin letters"

    def load(self) -> None:
        """Load the model, unless it is loaded."""
        with self._lock:
            self._parts  # noqa: B018  # the first look loads it

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one row per text, of length 1 or, where no word is known, 0."""
        import numpy as np

        with self._lock:
            groups = [self._encode(texts[start : start + _GROUP]) for start in range(0, len(texts), _GROUP)]
        return np.concatenate(groups) if groups else np.zeros((0, self.dimension), np.float32)

    def _encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np

        _, vectors = self._parts
        words = [_words_of(text) for text in texts]
        self._learn(chain.from_iterable(words))
        tokens = [list(chain.from_iterable(map(self._tokens.__getitem__, each))) for each in words]
        used, columns = np.unique(np.fromiter(chain.from_iterable(tokens), np.int64), return_inverse=True)
        places = np.repeat(np.arange(len(texts)), [len(each) for each in tokens]) * len(used) + columns
        counts = np.bincount(places, minlength=len(texts) * len(used)).reshape(len(texts), len(used))
        sums: NDArray[np.float32] = np.sqrt(counts, dtype=np.float32) @ vectors[used].astype(np.float32)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return (sums / np.where(lengths == 0, 1, lengths)).astype(np.float32)

    def _learn(self, words: Iterable[str]) -> None:
        """Remember the tokens of words that are new."""
        if len(self._tokens) > _CACHE_LIMIT:
            self._tokens.clear()
        tokenizer, _ = self._parts
        unusual = []
        for word in set(words).difference(self._tokens):
            is_plain = word.isalpha() and (word.islower() or word.istitle())
            # A word that is a token of its own is never cut, and telling so is cheap.
            if is_plain and (token := tokenizer.token_to_id(word.lower())) is not None:
                self._tokens[word] = (token,)
            else:
                unusual.append(word)
        starts = [word if len(word) <= _LONGEST_WORD else word[:_LONGEST_KEPT] for word in unusual]
        encodings = tokenizer.encode_batch_fast(starts, add_special_tokens=False)
        for word, encoding in zip(unusual, encodings, strict=True):
            self._tokens[word] = tuple(self._telling(encoding.ids))

    def _telling(self, ids: list[int]) -> Iterable[int]:
        """Leave out unknown tokens, and those of words in scraps."""
        if len(ids) < _SCRAPS and self._unknown not in ids:
            return ids
        pieces = [self._pieces[id_] for id_ in ids]
        starts = [place for place, (is_inside, _) in enumerate(pieces) if not is_inside]
        kept: list[int] = []
        for start, end in pairwise([*starts, len(ids)]):
            count = end - start
            letters = sum([letters for _, letters in pieces[start:end]]) if count > 1 else pieces[start][1]
            if letters and (count < _SCRAPS or letters >= _SCRAP_LETTERS * count):
                kept += ids[start:end]
        return kept

    @cached_property
    def _unknown(self) -> int | None:
        return self._parts[0].token_to_id(_UNKNOWN)

    @cached_property
    def _pieces(self) -> "_Pieces":
        return _Pieces(self._parts[0])

    @cached_property
    def _tokens(self) -> dict[str, tuple[int, ...]]:
        return {}

    @cached_property
    def _parts(self) -> "tuple[Tokenizer, NDArray[np.int8]]":
        """The tokenizer, and one vector per token."""
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        try:
            vectors: NDArray[np.int8] = load_file(self._folder / "model.safetensors")["embeddings"]
            tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
            if tokenizer.get_vocab_size() != len(vectors):
                raise ValueError(f"{tokenizer.get_vocab_size():,} tokens and {len(vectors):,} vectors")
        except Exception as error:
            raise AssetError(f"the model in {self._folder} cannot be loaded: {error}") from error
        return tokenizer, vectors


class _Pieces(dict[int, tuple[bool, int]]):
    """Of each token, whether it goes on inside a word, and how many letters it has; an unknown one has none."""

    def __init__(self, tokenizer: "Tokenizer") -> None:
        super().__init__()
        self._tokenizer = tokenizer

    def __missing__(self, id_: int) -> tuple[bool, int]:
        token = self._tokenizer.id_to_token(id_) or _UNKNOWN
        letters = 0 if token == _UNKNOWN else len(token.removeprefix(_INSIDE_WORD))
        piece = self[id_] = (token.startswith(_INSIDE_WORD), letters)
        return piece


def _words_of(text: str) -> list[str]:
    return text.translate(_ASCII_TO_SPACE).split() if text.isascii() else _WORD.findall(text)
