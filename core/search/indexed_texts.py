"""The texts of files that are as they were when they were indexed; such a file is not searched for secrets again."""

from collections.abc import Collection

from keyhole.core.files.text_source import TextSource
from keyhole.core.index.protocols import SearchStore
from keyhole.core.index.rows import FileStamp
from keyhole.core.types.source_files import SourceFile


class IndexedTexts:
    """Reads files, as long as they are as they were when they were indexed."""

    def __init__(self, store: SearchStore, files: TextSource, paths: Collection[str]) -> None:
        self._files = files
        self._files.expect(paths)
        self._stamps = store.file_stamps(paths)
        # What has to be masked in the others is known: nothing.
        is_checked = store.facts().secrets == files.secrets.fingerprint
        self.unchecked = set(store.masks_of(paths) if is_checked else paths)

    def read(self, path: str) -> str | None:
        """Return the text of a file; None if it differs from the index."""
        known = self._stamps.get(path)
        if known is None:
            return None
        if path not in self.unchecked and (text := self._files.read_checked(path, known.stamp)) is not None:
            return text
        return self._compared(path, known)

    def _compared(self, path: str, known: FileStamp) -> str | None:
        """Return the text of a file if its content is as known, whatever its stamp."""
        source = self._files.read(path)
        return source.text if isinstance(source, SourceFile) and source.digest == known.digest else None
