"""The table `file_trigrams`: which files may contain a text.

Trigrams are our own and not those of pg_trgm, which knows only letters and digits, and needs the text in the database.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from psycopg.types.numeric import Int4

from keyhole.core.index.rows import FileDigest
from keyhole.core.postgres.repository_rows import RepositoryRows
from keyhole.core.postgres.server_connection import IntegerArray

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_FILE = "SELECT id, path, digest FROM file WHERE repo = %(repo)s"
_OF_MANY = "file_trigrams WHERE trigrams @> %(wanted)s::integer[] AND repo = %(repo)s"
# Of few repositories, each is looked up by its mark: there may be many others in the same partition.
_OF_FEW = """unnest(%(numbers)s::integer[], %(marks)s::integer[]) wanted(number, mark)
    JOIN file_trigrams ON repo = number AND trigrams @> (%(wanted)s::integer[] || mark)"""
_FEW = 16
# New trigrams wait in a list that every search reads, until they are sorted in; only the owner may ask for that.
_SORT_IN = """SELECT gin_clean_pending_list(pg_index.indexrelid) FROM pg_index JOIN pg_class ON oid = indexrelid
    JOIN pg_am ON pg_am.oid = relam WHERE amname = 'gin' AND pg_has_role(relowner, 'USAGE') AND indrelid =
        (SELECT tableoid FROM file_trigrams WHERE repo = %(repo)s LIMIT 1)"""


class PostgresTrigrams(RepositoryRows):
    """The three-letter sequences of files; a file without recorded trigrams may contain any text."""

    def files_with_trigrams(self, trigrams: Sequence[str]) -> list[FileDigest]:
        """Return the files that may contain all these trigrams, sorted by path."""
        if not trigrams:
            return self.rows(FileDigest, f"{_FILE} ORDER BY path")
        numbers = self.repositories.numbers
        return self.rows(
            FileDigest,
            f"""WITH found AS MATERIALIZED (
                SELECT repo, file_id FROM {_OF_FEW if len(numbers) <= _FEW else _OF_MANY}
                UNION ALL SELECT repo, id FROM file WHERE repo = %(repo)s AND NOT has_trigrams)
            SELECT id, path, digest FROM found JOIN file ON file.repo = found.repo AND file.id = found.file_id
                ORDER BY path""",  # noqa: S608
            wanted=_hashes(trigrams).tolist(),
            numbers=list(map(Int4, numbers)),
            marks=[_mark(number) for number in numbers],
        )

    def files_without_trigrams(self) -> list[FileDigest]:
        """Return the files whose trigrams are not recorded yet."""
        return self.rows(FileDigest, f"{_FILE} AND NOT has_trigrams ORDER BY id")

    def add_trigrams(self, file: FileDigest, text: str) -> None:
        """Record the trigrams of a file, unless the file has changed or already has them."""
        recorded = """UPDATE file SET has_trigrams = true
            WHERE repo = %(repo)s AND id = %(id)s AND NOT has_trigrams AND digest = %(digest)s RETURNING id"""
        if self.query(recorded, id=file.id, digest=file.digest):
            self._add_trigrams(file.id, text)

    def _sort_in_trigrams(self) -> None:
        """Let the server do now what its own maintenance would do later."""
        self.query(_SORT_IN)

    def _add_trigrams(self, file_id: int, text: str) -> None:
        import numpy as np

        numbers = np.append(_hashes([text]), np.int32(_mark(self.repository)))
        self._add("file_trigrams", [(file_id, IntegerArray.of(numbers))])


def _hashes(texts: Iterable[str]) -> "npt.NDArray[np.int32]":
    """Return the distinct trigrams of texts in any case, as numbers.

    Several trigrams may have the same number: a search reads the files it finds anyway.
    """
    import numpy as np

    found = [np.zeros(0, np.uint32)]
    for text in map(str.casefold, texts):
        letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32)
        first, second, third = (letters[place : len(letters) - 2 + place] for place in range(3))
        if len(letters) >= 3:
            # Multiplied with large odd numbers, which spreads the few letters of code over all 32 bits.
            found.append(first * np.uint32(0x9E3779B1) ^ second * np.uint32(0x85EBCA77) ^ third * np.uint32(0xC2B2AE3D))
    return np.unique(np.concatenate(found)).view(np.int32)


def _mark(repository: int) -> int:
    """Return the number that all files of a repository have among their trigrams."""
    return _signed(crc32(f"repository {repository}".encode()))


def _signed(number: int) -> int:
    return number - (1 << 32) if number >> 31 else number
