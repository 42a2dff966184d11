"""Which chunks contain the words and phrases of a query, and how well: BM25 as SQLite's full-text search computes it.

It is computed number by number in the same order, so both engines give the same ranks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from math import log
from typing import TYPE_CHECKING

from keyhole.core.index.rows import WordQuery, WordRow
from keyhole.core.postgres.word_postings import Postings, tokens_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]
    Fractions = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

# How soon further occurrences of a word count less, and how much the length of a chunk matters.
_SATURATION, _LENGTH_SHARE = 1.2, 0.75
# A word in more than half of all chunks would count against a chunk.
_LEAST_WORTH = 1e-6
# Places of words in a chunk are below this, so that a chunk, a column and a place make one number.
_PLACE_BITS, _COLUMN_BITS = 32, 2

Text = tuple[str, ...]


class QueryTexts:
    """The words and phrases of a query, numbered: rare words, common words, phrases."""

    def __init__(self, query: WordQuery) -> None:
        self.rare, self.common = len(query.rare), len(query.common)
        self.weights = query.weights
        self.texts: list[Text] = [tuple(tokens_of(text)) for text in (*query.rare, *query.common, *query.phrases)]

    @property
    def words(self) -> set[str]:
        """Every word, also those of phrases."""
        return {word for text in self.texts for word in text}

    @property
    def has_phrases(self) -> bool:
        """Whether the places of words matter."""
        return any(len(text) > 1 for text in self.texts)

    @property
    def deciding(self) -> list[int]:
        """The numbers of the texts of which a chunk must contain one: all but the common words."""
        return [number for number in range(len(self.texts)) if not self.rare <= number < self.rare + self.common]


@dataclass(frozen=True, slots=True)
class Hits:
    """The chunks that contain a text, each with its file, its size, and how often the text is in each column."""

    chunk_ids: "Numbers"
    file_ids: "Numbers"
    words: "Numbers"
    counts: "Numbers"


def hits_of(text: Text, known: Mapping[str, Postings]) -> Hits:
    """Return the chunks that contain a word, or words that follow each other in one column."""
    if not text or any(word not in known for word in text):
        return _no_hits()
    first = known[text[0]]
    if len(text) == 1:
        return Hits(first.chunk_ids, first.file_ids, first.words, first.counts)
    import numpy as np

    # A chunk is only once among those with a word, and a place only once in a chunk.
    common = partial(np.intersect1d, assume_unique=True)
    # The same word may be in a phrase twice.
    together = reduce(common, (known[word].chunk_ids for word in set(text)), first.chunk_ids)
    found = reduce(common, (_keys(known[word], together) - number for number, word in enumerate(text)))
    chunks, columns = found >> _PLACE_BITS + _COLUMN_BITS, (found >> _PLACE_BITS) & ((1 << _COLUMN_BITS) - 1)
    counts = np.bincount(3 * chunks + columns, minlength=3 * len(together)).reshape(-1, 3)
    has_phrase = counts.any(axis=1)
    order = np.argsort(first.chunk_ids)
    of_first = order[np.searchsorted(first.chunk_ids, together[has_phrase], sorter=order)]
    return Hits(together[has_phrase], first.file_ids[of_first], first.words[of_first], counts[has_phrase])


def _keys(postings: Postings, chunk_ids: "Numbers") -> "Numbers":
    """Return each place of a word in some chunks, with the column and the number of the chunk in front."""
    import numpy as np

    numbers, is_there = positions_in(chunk_ids, postings.chunk_ids)
    per_column = postings.counts.ravel()
    chunk_and_column = (numbers[:, None] << _COLUMN_BITS | np.arange(3)).ravel()
    keys = np.repeat(chunk_and_column, per_column) << _PLACE_BITS | postings.places
    return keys[np.repeat(is_there, postings.counts.sum(axis=1))]


def positions_in(ordered: "Numbers", wanted: "Numbers") -> tuple["Numbers", "Flags"]:
    """Return where numbers are in an ordered list, and which of them are there at all."""
    import numpy as np

    if not len(ordered):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.bool_)
    found = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return found, ordered[found] == wanted


def _no_hits() -> Hits:
    import numpy as np

    none = np.zeros(0, np.int64)
    return Hits(none, none, none, np.zeros((0, 3), np.int64))


def chunks_in(hits: Sequence[Hits]) -> tuple["Numbers", "Numbers"]:
    """Return every chunk that is in one of some hits once, in order, and the files of the chunks."""
    import numpy as np

    every = [_no_hits(), *hits]
    chunk_ids, firsts = np.unique(np.concatenate([hit.chunk_ids for hit in every]), return_index=True)
    return chunk_ids, np.concatenate([hit.file_ids for hit in every])[firsts]


def worth_of(chunks: int, with_it: int) -> float:
    """Return how much a text counts: the fewer of all chunks contain it, the more."""
    worth = log((chunks - with_it + 0.5) / (with_it + 0.5))
    return worth if worth > 0 else _LEAST_WORTH


class WordRanking:
    """The scores of some chunks, given in order."""

    def __init__(self, texts: QueryTexts, chunk_ids: "Numbers", average: float) -> None:
        import numpy as np

        self._texts = texts
        self._chunk_ids = chunk_ids
        self._average = average
        self._scores = np.zeros(len(chunk_ids))
        # Which chunks contain which text.
        self._contains = np.zeros((len(texts.texts), len(chunk_ids)), np.bool_)

    def best(self, hits: Sequence[Hits], worths: Sequence[float], count: int) -> list[WordRow]:
        """Return the chunks with the highest scores; all that are as good as the last one are included."""
        import numpy as np

        gains = [self._gains(number, hits[number], worths[number]) for number in range(len(hits))]
        self._add_up(gains)
        if count <= 0:
            return []
        edge = np.partition(self._scores, -count)[-count] if count < len(self._scores) else -np.inf
        chosen = np.flatnonzero(self._scores >= edge)
        chunk_ids, scores = self._chunk_ids[chosen].tolist(), self._scores[chosen].tolist()
        return [WordRow(*row) for row in zip(chunk_ids, self._patterns(chosen), scores, strict=True)]

    def _gains(self, number: int, hits: Hits, worth: float) -> tuple["Numbers", "Fractions"]:
        """Return the places of the chunks that contain a text, and what it adds to the score of each."""
        places, is_there = positions_in(self._chunk_ids, hits.chunk_ids)
        places = places[is_there]
        self._contains[number, places] = True
        in_path, in_definitions, in_text = hits.counts[is_there].T
        first, second, third = self._texts.weights
        frequency = in_path * first + in_definitions * second + in_text * third
        length = 1.0 - _LENGTH_SHARE + _LENGTH_SHARE * hits.words[is_there] / self._average
        return places, worth * (frequency * (_SATURATION + 1.0) / (frequency + _SATURATION * length))

    def _add_up(self, gains: Sequence[tuple["Numbers", "Fractions"]]) -> None:
        """Add all gains in the order in which SQLite does: rare words, rare and common words, phrases.

        A common word counts only in chunks with a rare one, and there SQLite counts the rare ones twice: the only way
        to write optional words for it is `rare OR (rare AND common)`. It reports a rare word only where the second one
        is found.
        """
        import numpy as np

        rare, last = self._texts.rare, self._texts.rare + self._texts.common
        has_both: Flags = np.any(self._contains[:rare], axis=0) & np.any(self._contains[rare:last], axis=0)
        for places, gain in gains[:rare]:
            self._scores[places] += gain
        for places, gain in gains[:last]:
            counts = has_both[places]
            self._scores[places[counts]] += gain[counts]
        for places, gain in gains[last:]:
            self._scores[places] += gain
        if self._texts.common:
            self._contains[:last] &= has_both

    def _patterns(self, chosen: "Numbers") -> list[str]:
        """Return 1 or 0 for each text: whether a chunk contains it."""
        import numpy as np

        size = len(self._contains)
        digits = (self._contains[:, chosen].T + np.uint8(ord("0"))).tobytes().decode("ascii")
        return [digits[start : start + size] for start in range(0, len(digits), size)]
