"""Filling in the trigrams that a search for a regular expression narrows files down by.

They cost a quarter of an index run and many people never need them, so they are made when the first
such search comes, and for files that changed when the next one comes.
"""

from pathlib import Path

from keyhole.core.deadline import check_time
from keyhole.core.errors import LockedStoreError
from keyhole.core.files.read import read_source
from keyhole.core.index.lock import writer_lock
from keyhole.core.index.store import Store
from keyhole.core.types import SourceFile

_BATCH = 200


def fill_trigrams(store: Store, root: Path, folder: Path, *, max_bytes: int) -> None:
    """Add what is missing; leave it when another process is writing, since files without are read anyway."""
    missing = store.query("SELECT id, path, digest FROM file WHERE NOT has_trigrams")
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


def _add(store: Store, root: Path, rows: list[tuple[int, str, str]], max_bytes: int) -> None:
    with store.transaction():
        for file_id, path, digest in rows:
            source = read_source(root, path, max_bytes=max_bytes)
            is_same = store.value("SELECT digest FROM file WHERE id = ? AND NOT has_trigrams", file_id) == digest
            if isinstance(source, SourceFile) and source.digest == digest and is_same:
                store.add_trigrams(file_id, source.text)
