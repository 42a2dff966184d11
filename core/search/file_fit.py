"""How well whole files fit a query, by the words and the vectors of their documents (index/file_document.py)."""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING

from keyhole.core.index.file_document import COUNT_MASKS, COUNT_SHIFTS, HASH_SHIFT, hash_of_word
from keyhole.core.index.rows import StoredDocument
from keyhole.core.index.single_threaded import load_numpy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The weight of a word in the path, in the names of definitions and in the comment.
COLUMN_WEIGHTS = (1.0, 1.0, 1.0)
# BM25: how soon further occurrences stop to count, how much long documents lose, and the length that is usual.
_SATURATION, _LENGTH_SHARE, _USUAL_LENGTH = 1.2, 0.5, 80


def fit_by_words(
    worths: Mapping[str, float],
    documents: Sequence[StoredDocument],
    weights: tuple[float, float, float] = COLUMN_WEIGHTS,
) -> dict[int, float]:
    """Return the share of the query's words that each document contains, from 0 to 1, by the id of its file.

    `worths` are the words of the query, each with what it is worth: more if it is rare. As in BM25, a word counts more
    if it is frequent in the document, and less if the document is long. The result depends on no other document.
    """
    load_numpy()
    import numpy as np

    cells = np.frombuffer(b"".join([document.words for document in documents]), "<u8")
    ends = np.cumsum([len(document.words) // 8 for document in documents], dtype=np.intp)
    packed, hashes = cells.astype(np.uint32), (cells >> HASH_SHIFT).astype(np.uint32)
    counts = [packed >> shift & mask for shift, mask in zip(COUNT_SHIFTS, COUNT_MASKS, strict=True)]
    found = np.zeros(len(documents))
    lengths = _sums(counts[0] + counts[1] + counts[2], ends)
    slowness = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths / _USUAL_LENGTH)
    worth_of_hash = {hash_of_word(word): worth for word, worth in worths.items()}
    for hashed in sorted(worth_of_hash):
        places = np.flatnonzero(hashes == hashed)
        numbers = np.searchsorted(ends, places, side="right")
        times = sum(count[places] * weight for count, weight in zip(counts, weights, strict=True))
        found[numbers] += worth_of_hash[hashed] * times / (times + slowness[numbers])
    total = sum(worth_of_hash.values())
    shares = np.round(found / total if total else found, 6).tolist()
    return {document.file_id: share for document, share in zip(documents, shares, strict=True)}


def fit_by_vector(query: "NDArray[np.float32]", documents: Sequence[StoredDocument]) -> dict[int, float]:
    """Return the cosine of a query with each document that has a vector, by the id of its file."""
    import numpy as np

    embedded = [document for document in documents if document.vector]
    length = float(np.linalg.norm(query))
    if not embedded or not length:
        return {}
    vectors = np.frombuffer(b"".join(document.vector for document in embedded), np.int8).reshape(len(embedded), -1)
    # Summed row by row, so that the place of a file among the others makes no difference.
    cosines = np.round((vectors * query.astype(np.float64)).sum(axis=1) / (127 * length), 6).tolist()
    return {document.file_id: min(1.0, cosine) for document, cosine in zip(embedded, cosines, strict=True)}


def mean_of(fits: Mapping[int, float]) -> float:
    """Return the mean fit, for what an older version of Keyhole indexed: nothing speaks for it or against it."""
    return round(fsum(fits.values()) / len(fits), 6) if fits else 0.0


def _sums(values: "NDArray[np.uint32]", ends: "NDArray[np.intp]") -> "NDArray[np.float64]":
    """Return the sums of consecutive parts of a list."""
    import numpy as np

    running = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    sums: NDArray[np.float64] = np.diff(running[ends], prepend=0.0)
    return sums
