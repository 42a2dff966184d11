"""Filling in the trigrams that a search for a regular expression narrows files down by.

They cost a quarter of an index run and many people never need them, so they are made when the first
such search comes, and for files that changed when the next one comes.
"""

from pathlib import Path

from keyhole.core.deadline import check_time
from keyhole.core.errors import LockedStoreError
from keyhole.core.files.read import read_source
from keyhole.core.index.lock import writer_lock
from keyhole.core.index.protocols import WriterStore
from keyhole.core.index.rows import FileDigest
from keyhole.core.types import SourceFile

_BATCH = 200


def fill_trigrams(store: WriterStore, root: Path, folder: Path, *, max_bytes: int) -> None:
    """Add what is missing; leave it when another process is writing, since files without are read anyway."""
    missing = store.files_without_trigrams()
    if not missing:
        return
    try:
        with writer_lock(folder, wait=False):
            for start in range(0, len(missing), _BATCH):
                # What is added stays: whoever asks again has less to wait for.
                check_time()
                _add(store, root, missing[start : start + _BATCH], max_bytes)
    except LockedStoreError:
        return


def _add(store: WriterStore, root: Path, files: list[FileDigest], max_bytes: int) -> None:
    with store.transaction():
        for file in files:
            source = read_source(root, file.path, max_bytes=max_bytes)
            if isinstance(source, SourceFile) and source.digest == file.digest:
                store.add_trigrams(file, source.text)
