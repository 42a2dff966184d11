"""The tables `file_occurrences` and `file_name`: the names in each file with what they do there."""

import re
from collections.abc import Iterable, Sequence
from operator import attrgetter

from keyhole.core.index.occurrence_table import BETWEEN_TOKENS, MAY_HOLD, READABLE
from keyhole.core.index.rows import DefinitionRow, ImportRow, NamedImport, NamesOfFile
from keyhole.core.postgres.repository_rows import RepositoryRows
from keyhole.core.postgres.repository_set import FILE_AT_PATH, LINES_OF_FILES, rows_with_ids
from keyhole.core.syntax.occurrences import names_in
from keyhole.core.types.syntax import HOLDS_METHODS

_NAMES = "file.id, path, language, role, names"
_NAMES_OF_FILE = "JOIN file_occurrences ON file_occurrences.repo = file.repo AND file_occurrences.file_id = file.id"
_DEFINITION_CELLS = """symbol.id, file.path, language, name, kind, symbol.parent, signature, start_line, end_line,
    name_line, symbol.depth, modifiers"""
_DEFINITION = f"""SELECT {_DEFINITION_CELLS} FROM {FILE_AT_PATH}
    JOIN symbol ON symbol.repo = file.repo AND symbol.file_id = file.id"""  # noqa: S608
_IMPORTS = f"""SELECT file.path, line, target, part, coalesce(state, ''), link.path
    FROM {FILE_AT_PATH} JOIN link ON link.repo = file.repo AND file_id = file.id AND kind = 'import'"""  # noqa: S608
# The index on names ignores case. The first comparison uses it, the second keeps exact matches only.
_SYMBOLS_NAMED = """SELECT id, file_id, name, kind, parent, signature, start_line, end_line, name_line, depth, modifiers
    FROM symbol WHERE repo = %(repo)s AND lower(name) = ANY(%(lowered)s::text[]) AND name = ANY(%(names)s::text[])"""
_FILES = f"SELECT id, path, language FROM {rows_with_ids('file')}"  # noqa: S608
_ASCII_UPPER = re.compile("[A-Z]+")


class PostgresNames(RepositoryRows):
    """The names of files, one record per file; `core/references` reads the records."""

    def files_with_name(self, name: str) -> list[NamesOfFile]:
        """Return the files that contain a name, in either case, sorted by path; of several words, all of them."""
        tokens = _tokens(name)
        if not tokens:
            return []
        found = self.rows(
            NamesOfFile,
            f"""WITH found AS MATERIALIZED (
                SELECT repo, file_id FROM file_name WHERE repo = %(repo)s AND name = ANY(%(tokens)s::text[])
                GROUP BY repo, file_id HAVING count(*) = %(count)s)
            SELECT {_NAMES} FROM found JOIN file ON file.repo = found.repo AND file.id = found.file_id
            {_NAMES_OF_FILE}""",  # noqa: S608
            tokens=sorted(tokens),
            count=len(tokens),
        )
        return _readable(found)

    def names_of_files(self, paths: Iterable[str]) -> list[NamesOfFile]:
        """Return the names of these files, sorted by path."""
        of_paths = f"SELECT {_NAMES} FROM {FILE_AT_PATH} {_NAMES_OF_FILE}"  # noqa: S608
        return _readable(self.rows(NamesOfFile, of_paths, **self.repositories.at_paths(paths)))

    def definitions_named(self, name: str) -> list[DefinitionRow]:
        """Return the symbols with exactly this name, by path and line."""
        return self.definitions_of_names([name])

    def definitions_of_names(self, names: Iterable[str]) -> list[DefinitionRow]:
        """Return the symbols with exactly one of these names, by path and line."""
        wanted = list(dict.fromkeys(names))
        if not wanted:
            return []
        # Many definitions are in the same file, and most names have none.
        found = self.query(_SYMBOLS_NAMED, names=wanted, lowered=list(dict.fromkeys(map(_lowered, wanted))))
        ids = self.repositories.with_ids(row[1] for row in found)
        files = {file_id: (path, language) for file_id, path, language in self.query(_FILES, **ids)} if found else {}
        rows = [DefinitionRow(row[0], *files[row[1]], *row[2:]) for row in found]
        return sorted(rows, key=attrgetter("path", "id"))

    def definitions_in(self, paths: Iterable[str]) -> list[DefinitionRow]:
        """Return the symbols of these files, by path and line."""
        of_paths = f"{_DEFINITION} ORDER BY file.path, symbol.id"
        return self.rows(DefinitionRow, of_paths, **self.repositories.at_paths(paths))

    def definitions_around(self, lines: Sequence[tuple[str, int]]) -> dict[tuple[str, int], list[DefinitionRow]]:
        """Return the symbols around each of these lines of files, the outermost first."""
        found: dict[tuple[str, int], list[DefinitionRow]] = {line: [] for line in lines}
        for number, *cells in self.query(
            f"""SELECT wanted.number, {_DEFINITION_CELLS}
                FROM {LINES_OF_FILES}
                JOIN symbol ON symbol.repo = file.repo AND symbol.file_id = file.id
                    AND start_line <= wanted.line AND end_line >= wanted.line
                ORDER BY wanted.number, symbol.id""",  # noqa: S608
            repos=self.repositories.of_paths(path for path, _ in lines),
            paths=[path for path, _ in lines],
            lines=[line for _, line in lines],
        ):
            found[lines[number - 1]].append(DefinitionRow(*cells))
        return found

    def holders_in(self, paths: Iterable[str]) -> list[DefinitionRow]:
        """Return what may have members in these files: classes and the like, and methods that stand outside theirs."""
        return self.rows(
            DefinitionRow,
            f"""{_DEFINITION} AND (kind = ANY(%(holders)s::text[]) OR symbol.depth = 0 AND symbol.parent <> ''
                    OR kind = 'method' AND language = 'cpp'
                    AND symbol.depth <= length(parent) - length(replace(parent, '.', '')))
                ORDER BY file.path, symbol.id""",
            **self.repositories.at_paths(paths),
            holders=sorted(HOLDS_METHODS | MAY_HOLD),
        )

    def imports_in(self, paths: Iterable[str]) -> list[ImportRow]:
        """Return the imports of these files, by path and line."""
        by_line = f"{_IMPORTS} ORDER BY file.path, line, link.id"
        return self.rows(ImportRow, by_line, **self.repositories.at_paths(paths))

    def imports_of(self, names: Iterable[str], file_ids: Iterable[int]) -> list[tuple[int, NamedImport]]:
        """Return those imports of these files that bring one of these names, or a whole module."""
        found = self.query(
            f"""SELECT file_id, line, target, part, path FROM {rows_with_ids("link", "file_id")}
                AND kind = 'import' AND (part = '' OR part = ANY(%(names)s::text[])) ORDER BY file_id, id""",  # noqa: S608
            names=list(names),
            **self.repositories.with_ids(file_ids),
        )
        return [(file_id, NamedImport(*cells)) for file_id, *cells in found]

    def _add_occurrences(self, file_id: int, occurrences: bytes) -> None:
        self._add("file_occurrences", [(file_id, occurrences)])
        self._add("file_name", [(name, file_id) for name in _tokens(names_in(occurrences))])


def _tokens(names: str) -> set[str]:
    """Return names without what separates them, in lower case."""
    return {token for token in BETWEEN_TOKENS.split(_lowered(names)) if token}


def _lowered(text: str) -> str:
    """Return a text as `lower` on the server does: letters of other alphabets than ASCII stay as they are."""
    return _ASCII_UPPER.sub(lambda upper: upper[0].lower(), text)


def _readable(found: list[NamesOfFile]) -> list[NamesOfFile]:
    """Leave out the records that another version wrote, and sort the others."""
    return sorted((file for file in found if file.names[:1] == READABLE), key=attrgetter("path"))
