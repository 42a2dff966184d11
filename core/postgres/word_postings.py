"""How the words of chunks are stored: a row for each word of a block of files, with a record for each chunk.

A record has the chunk's number in its repository, how many words the chunk has, which file of the block it is in, and
how often the word is in the path, the definitions and the text. Most numbers are small; a row in which one is not has
wide records. The places of a word in these three columns are stored beside the records, each as the distance from the
one before, in as few bytes as it needs (seven bits in each byte, the lowest first; the last byte is below 128).
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from keyhole.core.postgres.repository_rows import storable_text
from keyhole.core.postgres.repository_set import first_id, number_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]

# A block is so many files with consecutive numbers. Large blocks make few rows; changing a file reads its whole block.
FILES_OF_BLOCK = 64


class RecordFormat(NamedTuple):
    """The types of a record's numbers, its size, where the file is, and the most words and occurrences it can hold."""

    types: str
    bytes: int
    file_at: int
    most_words: int
    most_occurrences: int


NARROW = RecordFormat("<u4, <u2, u1, u1, u1, u1", 10, 6, (1 << 16) - 1, (1 << 8) - 1)
WIDE = RecordFormat("<u4, <u4, u1, <u4, <u4, <u4", 21, 8, (1 << 32) - 1, (1 << 32) - 1)
# As SQLite's tokenizer `ascii` splits: index/words.py has already split and folded the words.
_TOKEN = re.compile("[0-9A-Za-z\x80-\U0010ffff]+")


class BlockWord(NamedTuple):
    """A row as stored: a word in a block of files."""

    block: int
    is_wide: bool
    word: str
    postings: bytes
    places: bytes


@dataclass(frozen=True)
class Postings:
    """The chunks that contain a word, in any order; `counts` has a row for each chunk and a column for each origin."""

    chunk_ids: "Numbers"
    file_ids: "Numbers"
    words: "Numbers"
    counts: "Numbers"
    packed_places: bytes

    @cached_property
    def places(self) -> "Numbers":
        """The places of the word, chunk by chunk; they start from 0 in each column."""
        import numpy as np

        per_column = self.counts.ravel()
        starts = (np.cumsum(per_column) - per_column)[per_column > 0]
        return _summed(unpacked(self.packed_places), starts)


def tokens_of(text: str) -> list[str]:
    """Return the words of a text, as they are stored."""
    return _TOKEN.findall(storable_text(text))


def block_of(file_id: int) -> tuple[int, int]:
    """Return the block of a file in its repository, and the file's number in it."""
    return divmod(number_of(file_id), FILES_OF_BLOCK)


def postings_in(rows: Sequence[tuple[int, int, bool, bytes, bytes]]) -> Postings:
    """Return what rows about one word say, each with the number of its repository instead of the word."""
    import numpy as np

    found = [_records(rows, is_wide=is_wide) for is_wide in (False, True)]
    chunk_ids, file_ids, words, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    # In the same order as the records.
    places = b"".join(row[4] for is_wide in (False, True) for row in rows if row[2] == is_wide)
    return Postings(chunk_ids, file_ids, words, counts, places)


def _records(
    rows: Sequence[tuple[int, int, bool, bytes, bytes]], *, is_wide: bool
) -> tuple["Numbers", "Numbers", "Numbers", "Numbers"]:
    """Return the ids of chunks and files, the sizes and the counts in rows with records of one kind."""
    import numpy as np

    chosen = [row for row in rows if row[2] == is_wide]
    kind = WIDE if is_wide else NARROW
    records = np.frombuffer(b"".join(row[3] for row in chosen), kind.types)
    sizes = [len(row[3]) // kind.bytes for row in chosen]
    first_chunks = np.repeat(np.array([first_id(row[0]) for row in chosen], np.int64), sizes)
    first_files = np.repeat(np.array([first_id(row[0]) + row[1] * FILES_OF_BLOCK for row in chosen], np.int64), sizes)
    chunks, words, files, *counts = (records[name].astype(np.int64) for name in records.dtype.names or ())
    return first_chunks + chunks, first_files + files, words, np.stack(counts, axis=1)


def has_files(row: BlockWord, numbers: Set[int]) -> bool:
    """Return whether a row has records of some files, given by their numbers in the block."""
    kind = WIDE if row.is_wide else NARROW
    return not numbers.isdisjoint(row.postings[kind.file_at :: kind.bytes])


def without_files(row: BlockWord, numbers: Set[int]) -> BlockWord | None:
    """Return a row without the records of some files; None if nothing is left."""
    import numpy as np

    records = np.frombuffer(row.postings, (WIDE if row.is_wide else NARROW).types)
    is_kept = ~np.isin(records["f2"], list(numbers))
    if not is_kept.any():
        return None
    per_record = sum(records[name].astype(np.int64) for name in ("f3", "f4", "f5"))
    stored = np.frombuffer(row.places, np.uint8)
    place_of_byte = np.cumsum(np.concatenate([[0], stored[:-1] < 128]))
    is_kept_byte = np.repeat(is_kept, per_record)[place_of_byte]
    return row._replace(postings=records[is_kept].tobytes(), places=stored[is_kept_byte].tobytes())


def packed(numbers: "Numbers") -> tuple[bytes, "Numbers"]:
    """Return numbers in as few bytes as each needs, and where each one starts."""
    import numpy as np

    sizes = np.ones(len(numbers), np.int64)
    while (is_longer := numbers >> (7 * sizes) > 0).any():
        sizes += is_longer
    starts = np.cumsum(sizes) - sizes
    number_of_byte = np.repeat(np.arange(len(numbers)), sizes)
    place_in_number = np.arange(len(number_of_byte)) - starts[number_of_byte]
    found = (numbers[number_of_byte] >> (7 * place_in_number)) & 127
    found[place_in_number < sizes[number_of_byte] - 1] |= 128
    return found.astype(np.uint8).tobytes(), starts


def unpacked(stored: bytes) -> "Numbers":
    """Return the numbers that `packed` has stored."""
    import numpy as np

    parts = np.frombuffer(stored, np.uint8)
    is_last = parts < 128
    if is_last.all():
        return parts.astype(np.int64)
    starts = np.flatnonzero(np.concatenate([[True], is_last[:-1]]))
    number_of_byte = np.cumsum(np.concatenate([[0], is_last[:-1]]))
    place_in_number = np.arange(len(parts)) - starts[number_of_byte]
    found: Numbers = np.add.reduceat((parts & 127).astype(np.int64) << (7 * place_in_number), starts)
    return found


def _summed(distances: "Numbers", starts: "Numbers") -> "Numbers":
    """Return the sums of distances so far, beginning again at each start."""
    import numpy as np

    sums = np.cumsum(distances)
    before: Numbers = np.concatenate([[0], sums])[starts]
    return sums - np.repeat(before, np.diff(np.append(starts, len(distances))))
