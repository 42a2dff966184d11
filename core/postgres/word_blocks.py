"""The words of new chunks until they are written: collected chunk by chunk, then packed into rows all together."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from keyhole.core.index.rows import WordColumns
from keyhole.core.postgres.repository_set import number_of
from keyhole.core.postgres.word_postings import (
    FILES_OF_BLOCK,
    NARROW,
    WIDE,
    BlockWord,
    RecordFormat,
    packed,
    tokens_of,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]


class _WordNumbers(dict[str, int]):
    """Numbers words in the order in which they are first asked for."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


class WordBlocks:
    """The words of chunks that wait to be written."""

    def __init__(self) -> None:
        self.file_ids: set[int] = set()
        self._numbers = _WordNumbers()
        # The words of all chunks, one after the other, as numbers.
        self._words = array("I")
        # For each chunk: the number of its file, its own number, and how many words its three columns have.
        self._chunks = array("q")

    def __len__(self) -> int:
        return len(self._chunks) // 5

    def add(self, file_id: int, chunk_id: int, columns: WordColumns) -> int:
        """Add the words of a chunk; return how many it has."""
        self.file_ids.add(file_id)
        before = len(self._words)
        self._chunks.extend((number_of(file_id), number_of(chunk_id)))
        for column in columns:
            words = tokens_of(column)
            self._words.extend(map(self._numbers.__getitem__, words))
            self._chunks.append(len(words))
        return len(self._words) - before

    def rows(self) -> list[BlockWord]:
        """Return the rows of all words, sorted by word, so that the same word is near itself in the table."""
        if not self._words:
            return []
        import numpy as np

        chunks = np.frombuffer(self._chunks, np.int64).reshape(-1, 5)
        sizes = chunks[:, 2:]
        chunk = np.repeat(np.arange(len(chunks)), sizes.sum(axis=1))
        column = np.repeat(np.tile(np.arange(3), len(chunks)), sizes.ravel())
        names = sorted(self._numbers)
        ranks = np.empty(len(names), np.int64)
        ranks[[self._numbers[name] for name in names]] = np.arange(len(names))
        word, block = ranks[np.frombuffer(self._words, np.uint32)], (chunks[:, 0] // FILES_OF_BLOCK)[chunk]
        # Sorting keeps the order of chunks, columns and places in each row.
        order = np.argsort(word << 32 | block, kind="stable")
        found = _Occurrences(*(part[order] for part in (word, block, chunk, column, _places(sizes))))
        return list(found.rows(names, chunks))


def _places(sizes: "Numbers") -> "Numbers":
    """Return the place of each word in its column."""
    import numpy as np

    per_column = sizes.ravel()
    starts = np.cumsum(per_column) - per_column
    return np.arange(per_column.sum()) - np.repeat(starts, per_column)


@dataclass(frozen=True, slots=True)
class _Occurrences:
    """All occurrences of words, sorted by word, block, chunk, column and place."""

    word: "Numbers"
    block: "Numbers"
    chunk: "Numbers"
    column: "Numbers"
    place: "Numbers"

    def rows(self, names: list[str], chunks: "Numbers") -> Iterator[BlockWord]:
        """Pack the occurrences into a row for each word and block."""
        import numpy as np

        is_row = _differs(self.word) | _differs(self.block)
        is_record = is_row | _differs(self.chunk)
        record = np.cumsum(is_record) - 1
        counts = np.bincount(3 * record + self.column, minlength=3 * (record[-1] + 1)).reshape(-1, 3)
        facts = _record_facts(chunks[self.chunk[is_record]], counts)
        narrow, wide = _records(facts, NARROW), _records(facts, WIDE)
        places, place_starts = self._packed_places(is_record)
        first_records, first_places = record[is_row], place_starts[is_row]
        cells = zip(
            self.word[is_row].tolist(),
            self.block[is_row].tolist(),
            np.logical_or.reduceat(_is_large(facts), first_records).tolist(),
            _spans(first_records, len(counts)),
            _spans(first_places, len(places)),
            strict=True,
        )
        for word, block, is_wide, (first, last), (start, end) in cells:
            stored, size = (wide, WIDE.bytes) if is_wide else (narrow, NARROW.bytes)
            yield BlockWord(block, is_wide, names[word], stored[first * size : last * size], places[start:end])

    def _packed_places(self, is_record: "Flags") -> tuple[bytes, "Numbers"]:
        """Return the distances between places, packed, and where each one starts."""
        import numpy as np

        is_first = is_record | _differs(self.column)
        return packed(np.where(is_first, self.place, np.diff(self.place, prepend=0)))


def _differs(numbers: "Numbers") -> "Flags":
    """Return whether each number differs from the one before."""
    import numpy as np

    return np.concatenate([[True], numbers[1:] != numbers[:-1]])


def _record_facts(chunks: "Numbers", counts: "Numbers") -> tuple["Numbers", ...]:
    """Return the numbers of records in the order in which they are stored."""
    return chunks[:, 1], chunks[:, 2:].sum(axis=1), chunks[:, 0] % FILES_OF_BLOCK, *counts.T


def _is_large(facts: tuple["Numbers", ...]) -> "Flags":
    """Return which records are too large for the narrow format."""
    import numpy as np

    _, words, _, *counts = facts
    most: Numbers = np.max(counts, axis=0)
    return (words > NARROW.most_words) | (most > NARROW.most_occurrences)


def _records(facts: tuple["Numbers", ...], kind: RecordFormat) -> bytes:
    """Return records as bytes; numbers that are too large for the format are cut, so another one must be used."""
    import numpy as np

    records = np.empty(len(facts[0]), kind.types)
    for name, numbers in zip(records.dtype.names or (), facts, strict=True):
        records[name] = numbers
    return records.tobytes()


def _spans(starts: "Numbers", end: int) -> Iterator[tuple[int, int]]:
    """Return where each of some neighbouring parts starts and ends."""
    return pairwise([*starts.tolist(), end])
