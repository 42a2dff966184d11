"""The full-text table `file_trigrams`: which files may contain a text."""

from collections.abc import Sequence

from keyhole.core.index.database import Database
from keyhole.core.index.rows import FileDigest


class TrigramTable(Database):
    """The three-letter sequences of files; a file without recorded trigrams may contain any text."""

    def files_with_trigrams(self, trigrams: Sequence[str]) -> list[FileDigest]:
        """Return the files that may contain all these trigrams, sorted by path."""
        if not trigrams:
            return self.rows(FileDigest, "SELECT id, path, digest FROM file ORDER BY path")
        return self.rows(
            FileDigest,
            """SELECT id, path, digest FROM file WHERE NOT has_trigrams
                OR id IN (SELECT rowid FROM file_trigrams WHERE file_trigrams MATCH ?) ORDER BY path""",
            " AND ".join('"' + trigram.replace('"', '""') + '"' for trigram in trigrams),
        )

    def files_without_trigrams(self) -> list[FileDigest]:
        """Return the files whose trigrams are not recorded yet."""
        return self.rows(FileDigest, "SELECT id, path, digest FROM file WHERE NOT has_trigrams")

    def add_trigrams(self, file: FileDigest, text: str) -> None:
        """Record the trigrams of a file, unless the file has changed or already has them."""
        digest_if_missing = "SELECT digest FROM file WHERE id = ? AND NOT has_trigrams"
        if self._db.execute(digest_if_missing, (file.id,)).get == file.digest:
            self._db.execute("INSERT INTO file_trigrams (rowid, content) VALUES (?, ?)", (file.id, text))
            self._db.execute("UPDATE file SET has_trigrams = 1 WHERE id = ?", (file.id,))

    def _merge_trigrams(self) -> None:
        self.query("INSERT INTO file_trigrams (file_trigrams) VALUES ('optimize')")

    def _delete_trigrams(self, file_id: int) -> None:
        self._db.execute(
            "DELETE FROM file_trigrams WHERE rowid IN (SELECT id FROM file WHERE id = ? AND has_trigrams)", (file_id,)
        )
