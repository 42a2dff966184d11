"""SQL: tables are in schemas, and a statement can give names to parts of itself."""

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.file_names import FileNames
from keyhole.core.references.name_meaning import NOTHING, NameMeaning, by_name, by_number, certain
from keyhole.core.references.names_in_file import NO_SYMBOL
from keyhole.core.syntax.occurrences import OccurrenceRole

# In lines.
_LONGEST_STATEMENT = 50


class SqlNames(FileNames):
    """Names in SQL."""

    def _in_code(self, place: int, receiver: str, candidates: list[DefinitionRow]) -> NameMeaning:
        return self._of_schema(place, receiver, candidates) if receiver else self._bare(place, candidates)

    def _is_hidden(self, place: int) -> bool:
        return super()._is_hidden(place) or self._is_alias(place)

    def _of_schema(self, place: int, schema: str, candidates: list[DefinitionRow]) -> NameMeaning:
        """Return what has a name in a schema of SQL; scripts may create tables without naming their schema."""
        if rows := [row for row in candidates if row.parent == schema]:
            # Scripts that set up a database each, such as tests, create tables of the same name.
            near = [row for row in rows if row.path == self._path] or rows
            is_clear = len({row.path for row in near}) == 1
            return certain(near) if is_clear else by_name(near)
        is_column = self._names.role_at(place) is OccurrenceRole.ARGUMENT
        return NOTHING if is_column else by_number([row for row in candidates if not row.parent])

    def _is_alias(self, place: int) -> bool:
        """Return whether a statement of SQL gives this name to something: `WITH name AS …`."""
        names, symbol, line = self._names, self._names.symbol_at(place), self._names.line_at(place)
        starts = [one for one in names.places(names.name_at(place)) if names.role_at(one) is OccurrenceRole.LOCAL]
        starts = [one for one in starts if names.symbol_at(one) == symbol]
        # Outside views and functions, it is not known where a statement ends.
        return any(symbol != NO_SYMBOL or 0 <= line - names.line_at(one) <= _LONGEST_STATEMENT for one in starts)
