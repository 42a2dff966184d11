"""Answers for the current files: files that changed since they were indexed are indexed again first."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, TypeVar

from keyhole.core.deadline import acquire_slot
from keyhole.core.errors import FullStoreError, UnwritableStoreError
from keyhole.core.files.stamps import stamp_of
from keyhole.core.files.walk import examine
from keyhole.core.masking import Mask
from keyhole.core.types.missing import StaleReason
from keyhole.core.types.source_files import Candidate, SourceFile, Stamp
from keyhole.core.workspace.engine_pool import EnginePool
from keyhole.core.workspace.model_loader import ModelLoader
from keyhole.core.workspace.opening import OpenWorkspace

if TYPE_CHECKING:
    from keyhole.core.index.protocols import SearchStore, WriterStore
    from keyhole.core.search.engine import Engine

Answer = TypeVar("Answer")
# Returns an answer, the files it is about, and those of them that are known to have changed.
Attempt = Callable[["Engine"], tuple[Answer, set[str], set[str]]]

# A file may change again while it is indexed again. After this many tries its results are left out.
_TRIES = 3


@dataclass(frozen=True, slots=True)
class StaleFiles:
    """Files in an answer that differ from the index, and why they were not indexed again."""

    paths: frozenset[str]
    reason: StaleReason


class FreshResults:
    """Searches the index, and searches again if a file in the answer has changed."""

    def __init__(self, workspace: OpenWorkspace, engines: EnginePool, models: ModelLoader) -> None:
        self._workspace = workspace
        self._engines = engines
        self._models = models
        # Only one search of this process may write at a time. The writer lock protects against other processes only,
        # and it fails instead of waiting.
        self._writing = BoundedSemaphore(1)

    def answer(self, attempt: Attempt[Answer], *, needs_trigrams: bool = False) -> tuple[Answer, StaleFiles]:
        """Return an answer from one snapshot of the index, and which of its files differ from the index."""
        reason = StaleReason.CHANGING
        with self._engines.lend() as engine:
            if needs_trigrams:
                self._fill_trigrams(engine.store)
            for _ in range(_TRIES):
                with engine.store.snapshot():
                    answer, paths, changed = attempt(engine)
                    stale = self._stale_paths(engine.store, paths) | changed
                try:
                    if not stale or not self._reindex(stale):
                        break
                except (FullStoreError, UnwritableStoreError):
                    reason = StaleReason.NOT_WRITABLE
                    break
        return answer, StaleFiles(frozenset(stale), reason)

    def _fill_trigrams(self, store: "WriterStore") -> None:
        from keyhole.core.index.trigrams import fill_trigrams

        workspace = self._workspace
        # Without the right to write, a search reads files without trigrams.
        with acquire_slot(self._writing), suppress(FullStoreError, UnwritableStoreError):
            fill_trigrams(store, workspace.files, workspace.home)

    def _reindex(self, paths: set[str]) -> bool:
        """Index the current content of files; return False if another process is writing."""
        from keyhole.core.index.update import refresh_files

        with acquire_slot(self._writing):
            return refresh_files(self._workspace.update_request(self._models.embedder), paths)

    def _stale_paths(self, store: "SearchStore", paths: set[str]) -> set[str]:
        known = store.file_stamps(paths)
        changed = {path for path in paths if not (path in known and self._is_as_indexed(path, *known[path]))}
        return changed | self._differently_masked(store, paths - changed)

    def _differently_masked(self, store: "SearchStore", paths: set[str]) -> set[str]:
        """Return the files with other masks than the ones wanted now, or that are secret now.

        That can only be if the user has decided otherwise since the last run, or that run was of an older version.
        """
        if store.facts().secrets in (None, self._workspace.secrets.fingerprint):
            return set()
        masks = store.masks_of(paths)
        return {path for path in paths if self._masks(path) != masks.get(path, ())}

    def _masks(self, path: str) -> tuple[Mask, ...] | None:
        """Return what is to be masked in a file now; None if it is not to be served."""
        workspace = self._workspace
        found = examine(workspace.root, path, max_bytes=workspace.max_bytes, secrets=workspace.secrets)
        source = workspace.files.read(path) if isinstance(found, Candidate) else found
        return source.masked if isinstance(source, SourceFile) else None

    def _is_as_indexed(self, path: str, stamp: Stamp, digest: str) -> bool:
        try:
            status = os.lstat(f"{self._workspace.root}/{path}")
        except OSError:
            return False
        if stamp_of(status) == stamp:
            return True
        # A file with a new stamp may have the same content, and one that had just changed when it was indexed has an
        # unknown time in its recorded stamp. So compare the content.
        source = self._workspace.files.read(path)
        return isinstance(source, SourceFile) and source.digest == digest
