"""Recording the trigrams that a regex search uses to narrow down the files.

They would take a quarter of an index run, and many people never need them. So the first regex search records them, and
later ones record those of files that changed.
"""

from keyhole.core.deadline import check_time
from keyhole.core.errors import LockedStoreError
from keyhole.core.files.text_source import TextSource
from keyhole.core.index.index_home import IndexHome
from keyhole.core.index.protocols import WriterStore
from keyhole.core.index.rows import FileDigest
from keyhole.core.types.source_files import SourceFile

_BATCH = 200


def fill_trigrams(store: WriterStore, files: TextSource, home: IndexHome) -> None:
    """Record missing trigrams, unless another process is writing: a search reads files without trigrams anyway."""
    missing = store.files_without_trigrams()
    if not missing:
        return
    try:
        with home.writer_lock(wait=False):
            for start in range(0, len(missing), _BATCH):
                # If the deadline passes here, what was recorded is kept and the next search is faster.
                check_time()
                _add(store, files, missing[start : start + _BATCH])
    except LockedStoreError:
        return


def _add(store: WriterStore, files: TextSource, missing: list[FileDigest]) -> None:
    with store.transaction():
        for file in missing:
            source = files.read(file.path)
            if isinstance(source, SourceFile) and source.digest == file.digest:
                store.add_trigrams(file, source.text)
