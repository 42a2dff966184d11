"""The references of the symbols that were asked for last, so that the next page does not find them again."""

from collections.abc import Callable, Iterable
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Searches must not load what only references need.
    from keyhole.core.references.reference import Reference

# About 10 MB.
_MOST_KEPT = 50_000


class KeptReferences:
    """Lists of references in one generation of the index, by the id of their definition; thread-safe."""

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._most = most
        self._lock = Lock()
        self._lists: dict[int, list[Reference]] = {}
        self._count = 0

    def of(self, definition: int, find: "Callable[[], Iterable[Reference]]") -> "list[Reference]":
        """Return the references of a definition; `find` finds them if they are not kept."""
        with self._lock:
            found = self._take(definition)
        # Two threads may find the same list, but neither waits for the other.
        found = list(find()) if found is None else found
        with self._lock:
            self._take(definition)
            self._lists[definition] = found
            self._count += len(found)
            # The one that was not asked for the longest comes first.
            while self._count > self._most:
                self._take(next(iter(self._lists)))
        return found

    def _take(self, definition: int) -> "list[Reference] | None":
        found = self._lists.pop(definition, None)
        self._count -= len(found or ())
        return found
