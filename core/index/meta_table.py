"""The table `meta`: facts about the whole index."""

from dataclasses import fields

from keyhole.core.index.database import Database
from keyhole.core.index.rows import FactName, IndexFacts

_NAMES = frozenset(field.name for field in fields(IndexFacts))


class MetaTable(Database):
    """Facts by name."""

    def facts(self) -> IndexFacts:
        """Return the facts about the whole index."""
        known = {name: value for name, value in self.query("SELECT key, value FROM meta") if name in _NAMES}
        return IndexFacts(**known)

    def fact(self, name: FactName) -> object:
        """Return one fact; None if it is not recorded."""
        return self.value("SELECT value FROM meta WHERE key = ?", name)

    def set_fact(self, name: FactName, value: int | str) -> None:
        """Record one fact about the index."""
        self._db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (name, value))
