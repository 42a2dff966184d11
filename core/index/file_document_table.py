"""The table `file_document`: the words and the vector of a short document about each file."""

from collections.abc import Iterable

from keyhole.core.index.kept_rows import KeptRows
from keyhole.core.index.rows import DocumentRow, StoredDocument


class FileDocumentTable(KeptRows):
    """Documents, by the id of their file."""

    def file_documents(self, file_ids: Iterable[int]) -> list[StoredDocument]:
        """Return the documents of the files that have one, in no particular order."""
        return self.kept_rows(
            StoredDocument,
            """SELECT file_id, words, vector FROM json_each(?) wanted
                JOIN file_document ON file_id = wanted.value""",
            file_ids,
        )

    def _insert_document(self, file_id: int, document: DocumentRow) -> None:
        self._db.execute("INSERT INTO file_document (file_id, words, vector) VALUES (?, ?, ?)", (file_id, *document))

    def _delete_document(self, file_id: int) -> None:
        self._db.execute("DELETE FROM file_document WHERE file_id = ?", (file_id,))
