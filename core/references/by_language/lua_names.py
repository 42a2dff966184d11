"""Lua: functions belong to tables, and files are modules."""

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.file_names import FileNames
from keyhole.core.references.lua_tables import is_local
from keyhole.core.references.name_meaning import NOTHING, NameMeaning, by_number, certain


class LuaNames(FileNames):
    """Names in Lua."""

    def _in_code(self, place: int, receiver: str, candidates: list[DefinitionRow]) -> NameMeaning:
        return self._of_table(place, receiver, candidates) if receiver else self._bare(place, candidates)

    def _unreached(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning:
        return super()._unreached(place, [row for row in candidates if not is_local(row)])

    def _of_table(self, place: int, table: str, candidates: list[DefinitionRow]) -> NameMeaning:
        """Return what a name after a table of Lua means."""
        tables = self._resolver.tables
        if self._is_known(place, table):
            if rows := tables.surely(self._path, self._names, place):
                return certain(rows)
            if tables.is_standard(self._path, self._names, table):
                return NOTHING
            # A table is often called the same in the file that uses it.
            if same := [row for row in candidates if row.parent == table]:
                return by_number(same)
        return self._resolver.by_members(self._names.name_at(place), self._language)
