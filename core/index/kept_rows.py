"""Rows that nearly every search reads, kept in memory by each reader while the index is unchanged."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from keyhole.core.index.database import json_ids
from keyhole.core.index.meta_table import MetaTable

Row = TypeVar("Row")

# Of each kind. A chunk takes about 1 kB with all its rows, and a search reads some hundred of them, so this is enough
# for all searches of a small project and for the last dozens of a large one.
_MOST_KEPT = 10_000


class KeptRows(MetaTable):
    """Rows by the id in their first cell."""

    def __init__(self, path: Path, *, vfs: str | None = None, is_reader: bool = False) -> None:
        super().__init__(path, vfs=vfs, is_reader=is_reader)
        self._kept: dict[Callable[..., object], dict[int, Any]] = {}
        self._generation = 0

    def kept_rows(self, kind: Callable[..., Row], sql: str, ids: Iterable[int]) -> list[Row]:
        """Return rows by their ids; inside of a snapshot, only those are read that are not known yet."""
        wanted = list(ids)
        if not self.is_in_snapshot:
            return self.rows(kind, sql, json_ids(wanted))
        known = self._known(kind)
        if missing := [id_ for id_ in wanted if id_ not in known]:
            if len(known) + len(missing) > _MOST_KEPT:
                known.clear()
                missing = wanted
            # An id without a row is not looked up again either.
            known.update(dict.fromkeys(missing))
            known.update((cells[0], kind(*cells)) for cells in self.query(sql, json_ids(missing)))
        return [row for id_ in wanted if (row := known[id_]) is not None]

    def _known(self, kind: Callable[..., object]) -> dict[int, Any]:
        generation = self.facts().generation
        if generation != self._generation:
            self._kept, self._generation = {}, generation
        return self._kept.setdefault(kind, {})
