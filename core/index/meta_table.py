"""The table `meta`: facts about the whole index."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields

from keyhole.core.index.database import Database
from keyhole.core.index.rows import FactName, IndexFacts

_NAMES = frozenset(field.name for field in fields(IndexFacts))


class MetaTable(Database):
    """Facts by name."""

    _facts: IndexFacts | None = None

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything inside from one state of the index; its facts are read once."""
        with super().snapshot():
            self._facts = self._read_facts()
            try:
                yield
            finally:
                self._facts = None

    @property
    def is_in_snapshot(self) -> bool:
        """Whether everything is read from one state of the index."""
        return self._facts is not None

    def facts(self) -> IndexFacts:
        """Return the facts about the whole index."""
        return self._facts or self._read_facts()

    def _read_facts(self) -> IndexFacts:
        known = {name: value for name, value in self.query("SELECT key, value FROM meta") if name in _NAMES}
        return IndexFacts(**known)

    def fact(self, name: FactName) -> object:
        """Return one fact; None if it is not recorded."""
        return self.value("SELECT value FROM meta WHERE key = ?", name)

    def set_fact(self, name: FactName, value: int | str) -> None:
        """Record one fact about the index."""
        self._db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (name, value))
