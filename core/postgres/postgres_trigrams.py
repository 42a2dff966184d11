"""The table `file_trigrams`: which files may contain a text.

Trigrams are our own and not those of pg_trgm, which knows only letters and digits, and needs the text in the database.
"""

from collections.abc import Iterable, Sequence
from zlib import crc32

from keyhole.core.index.rows import FileDigest
from keyhole.core.postgres.repository_rows import RepositoryRows

_FILE = "SELECT id, path, digest FROM file WHERE repo = %(repo)s"
_FEW = 16


class PostgresTrigrams(RepositoryRows):
    """The three-letter sequences of files; a file without recorded trigrams may contain any text."""

    def files_with_trigrams(self, trigrams: Sequence[str]) -> list[FileDigest]:
        """Return the files that may contain all these trigrams, sorted by path."""
        if not trigrams:
            return self.rows(FileDigest, f"{_FILE} ORDER BY path")
        return self.rows(
            FileDigest,
            f"""WITH found AS MATERIALIZED (
                SELECT repo, file_id FROM file_trigrams WHERE repo = %(repo)s AND trigrams @> %(wanted)s::integer[]
                    AND {self._of_repositories}
                UNION ALL SELECT repo, id FROM file WHERE repo = %(repo)s AND NOT has_trigrams)
            SELECT id, path, digest FROM found JOIN file ON file.repo = %(repo)s AND file.repo = found.repo
                AND file.id = found.file_id ORDER BY path""",  # noqa: S608
            wanted=_hashes(trigrams),
            marks=[_mark(number) for number in self.repositories.numbers],
        )

    @property
    def _of_repositories(self) -> str:
        """A condition for the marks of few repositories, which makes the lookup shorter; many would make it longer."""
        return "trigrams && %(marks)s::integer[]" if len(self.repositories.numbers) <= _FEW else "true"

    def files_without_trigrams(self) -> list[FileDigest]:
        """Return the files whose trigrams are not recorded yet."""
        return self.rows(FileDigest, f"{_FILE} AND NOT has_trigrams ORDER BY id")

    def add_trigrams(self, file: FileDigest, text: str) -> None:
        """Record the trigrams of a file, unless the file has changed or already has them."""
        recorded = """UPDATE file SET has_trigrams = true
            WHERE repo = %(repo)s AND id = %(id)s AND NOT has_trigrams AND digest = %(digest)s RETURNING id"""
        if self.query(recorded, id=file.id, digest=file.digest):
            self._add_trigrams(file.id, text)

    def _add_trigrams(self, file_id: int, text: str) -> None:
        self._add("file_trigrams", [(file_id, [*_hashes([text]), _mark(self.repository)])])


def _hashes(texts: Iterable[str]) -> list[int]:
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
    numbers: list[int] = np.unique(np.concatenate(found)).view(np.int32).tolist()
    return numbers


def _mark(repository: int) -> int:
    """Return the number that all files of a repository have among their trigrams."""
    return _signed(crc32(f"repository {repository}".encode()))


def _signed(number: int) -> int:
    return number - (1 << 32) if number >> 31 else number
