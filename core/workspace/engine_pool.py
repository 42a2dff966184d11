"""A pool of index readers: they stay open, and each serves one caller at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING

from keyhole.core.deadline import acquire_slot
from keyhole.core.errors import ErrorKind, StoreError
from keyhole.core.workspace.model_loader import ModelLoader
from keyhole.core.workspace.opening import OpenWorkspace

if TYPE_CHECKING:
    from keyhole.core.search.engine import Engine
    from keyhole.core.search.shared_caches import SharedCaches

# Searches wait for the disk and SQLite in parallel. More readers would only wait for the interpreter lock, and each
# reader needs memory for its own page cache.
MOST_READERS = 4


@dataclass(slots=True, eq=False)
class _Opening:
    """One index until it is replaced: what tells it from others, its idle readers and the caches they share."""

    index: object
    caches: "SharedCaches"
    idle: "list[Engine]"


class EnginePool:
    """Lends readers that stay open, so that the next search starts with warm caches; safe to use from any thread."""

    def __init__(self, workspace: OpenWorkspace, models: ModelLoader) -> None:
        self._workspace = workspace
        self._models = models
        self._slots = BoundedSemaphore(MOST_READERS)
        self._lock = Lock()
        self._opening: _Opening | None = None

    @contextmanager
    def lend(self) -> "Iterator[Engine]":
        """Lend a reader; after an index error it is closed and not used again."""
        with acquire_slot(self._slots):
            opening, idle = self._take()
            engine = idle or self._open(opening)
            try:
                yield engine
            except StoreError:
                engine.store.close()
                raise
            except BaseException:
                self._give_back(opening, engine)
                raise
            self._give_back(opening, engine)

    def close(self) -> None:
        """Close every reader; a lent one is closed when it is returned."""
        with self._lock:
            self._forget()

    def _take(self) -> "tuple[_Opening, Engine | None]":
        """Return the current index, and an idle reader of it if there is one."""
        from keyhole.core.search.shared_caches import SharedCaches

        index = self._workspace.home.identity()
        if index is None:
            raise StoreError("this workspace has no index yet", ErrorKind.NO_INDEX)
        with self._lock:
            # Another process may have replaced a damaged index file.
            if self._opening is None or self._opening.index != index:
                self._forget()
                self._opening = _Opening(index, SharedCaches(), [])
            return self._opening, self._opening.idle.pop() if self._opening.idle else None

    def _forget(self) -> None:
        for engine in self._opening.idle if self._opening else ():
            engine.store.close()
        self._opening = None

    def _open(self, opening: _Opening) -> "Engine":
        """Open a reader; this is the only place that opens the index for searching."""
        from keyhole.core.search.engine import Engine

        store = self._workspace.home.open_reader()
        return Engine(
            store,
            self._workspace.texts_for(store),
            embedder=self._models.embedder,
            problem=self._models.problem,
            caches=opening.caches,
        )

    def _give_back(self, opening: _Opening, engine: "Engine") -> None:
        with self._lock:
            is_kept = opening is self._opening and not engine.store.is_frozen
            if is_kept:
                opening.idle.append(engine)
        if not is_kept:
            engine.store.close()
