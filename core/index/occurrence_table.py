"""The tables `file_occurrences` and `file_names`: the names in each file with what they do there."""

import json
import re
from collections.abc import Iterable, Sequence
from operator import attrgetter

from keyhole.core.index.database import LINES_WANTED, Database, json_ids
from keyhole.core.index.rows import DefinitionRow, ImportRow, NamedImport, NamesOfFile
from keyhole.core.syntax.occurrences import FORMAT, names_in
from keyhole.core.types.syntax import HOLDS_METHODS

# Modules have members in some languages, and namespaces make full names.
MAY_HOLD = frozenset(["module", "namespace"])
_COLUMNS = "file.id, file.path, language, role, file_occurrences.names"
_DEFINITION_CELLS = """symbol.id, file.path, language, name, kind, symbol.parent, signature, start_line, end_line,
    name_line, symbol.depth, modifiers"""
_DEFINITION = f"SELECT {_DEFINITION_CELLS} FROM symbol JOIN file ON file.id = file_id"  # noqa: S608

# A record that another version wrote can't be read: it is left out until its file is read again.
READABLE = bytes([FORMAT])
_IS_READABLE = f"substr(file_occurrences.names, 1, 1) = x'{FORMAT:02x}'"
# What the tokenizer of `file_names` takes for the end of a name; names such as a heading or `operator new` contain it.
BETWEEN_TOKENS = re.compile(r"[\x00-\x20\x7f\"']+")


class OccurrenceTable(Database):
    """The names of files, one record per file; `core/references` reads the records."""

    def files_with_name(self, name: str) -> list[NamesOfFile]:
        """Return the files that contain a name, in either case, sorted by path; of several words, all of them."""
        tokens = [token for token in BETWEEN_TOKENS.split(name) if token]
        if not tokens:
            return []
        found = self.rows(
            NamesOfFile,
            f"""SELECT {_COLUMNS} FROM file_names CROSS JOIN file_occurrences ON file_id = file_names.rowid
                JOIN file ON file.id = file_id WHERE file_names MATCH ?""",  # noqa: S608
            " ".join(f'"{token}"' for token in tokens),
        )
        # SQLite would copy all records to sort them, and read each twice to look at its format.
        return sorted((file for file in found if file.names[:1] == READABLE), key=attrgetter("path"))

    def names_of_files(self, paths: Iterable[str]) -> list[NamesOfFile]:
        """Return the names of these files, sorted by path."""
        return self.rows(
            NamesOfFile,
            f"""SELECT {_COLUMNS} FROM json_each(?) wanted JOIN file ON file.path = wanted.value
                JOIN file_occurrences ON file_id = file.id AND {_IS_READABLE} ORDER BY file.path""",  # noqa: S608
            json.dumps(list(paths)),
        )

    def definitions_named(self, name: str) -> list[DefinitionRow]:
        """Return the symbols with exactly this name, by path and line."""
        return self.definitions_of_names([name])

    def definitions_of_names(self, names: Iterable[str]) -> list[DefinitionRow]:
        """Return the symbols with exactly one of these names, by path and line."""
        # The SQL index on names ignores case. The first comparison uses it, the second keeps exact matches only.
        return self.rows(
            DefinitionRow,
            f"""SELECT {_DEFINITION_CELLS} FROM json_each(?) wanted
                CROSS JOIN symbol ON name = wanted.value COLLATE NOCASE AND name = wanted.value
                JOIN file ON file.id = file_id ORDER BY file.path, symbol.id""",  # noqa: S608
            json.dumps(list(dict.fromkeys(names))),
        )

    def definitions_in(self, paths: Iterable[str]) -> list[DefinitionRow]:
        """Return the symbols of these files, by path and line."""
        return self.rows(
            DefinitionRow,
            f"""{_DEFINITION} WHERE file.path IN (SELECT value FROM json_each(?))
                ORDER BY file.path, symbol.id""",  # noqa: S608
            json.dumps(list(paths)),
        )

    def definitions_around(self, lines: Sequence[tuple[str, int]]) -> dict[tuple[str, int], list[DefinitionRow]]:
        """Return the symbols around each of these lines of files, the outermost first."""
        found: dict[tuple[str, int], list[DefinitionRow]] = {line: [] for line in lines}
        for number, *cells in self.query(
            f"""{LINES_WANTED} SELECT wanted.key, {_DEFINITION_CELLS} FROM wanted
                CROSS JOIN file ON file.path = wanted.path CROSS JOIN symbol ON file_id = file.id
                WHERE start_line <= wanted.line AND end_line >= wanted.line
                ORDER BY wanted.key, symbol.id""",  # noqa: S608
            json.dumps(lines),
        ):
            found[lines[number]].append(DefinitionRow(*cells))
        return found

    def holders_in(self, paths: Iterable[str]) -> list[DefinitionRow]:
        """Return what may have members in these files: classes and the like, and methods that stand outside theirs."""
        return self.rows(
            DefinitionRow,
            f"""{_DEFINITION} WHERE file.path IN (SELECT value FROM json_each(?))
                AND (kind IN (SELECT value FROM json_each(?)) OR symbol.depth = 0 AND symbol.parent <> ''
                    OR kind = 'method' AND language = 'cpp'
                    AND symbol.depth <= length(parent) - length(replace(parent, '.', '')))
                ORDER BY file.path, symbol.id""",  # noqa: S608
            json.dumps(list(paths)),
            json.dumps(sorted(HOLDS_METHODS | MAY_HOLD)),
        )

    def imports_in(self, paths: Iterable[str]) -> list[ImportRow]:
        """Return the imports of these files, by path and line."""
        return self.rows(
            ImportRow,
            """SELECT file.path, line, target, part, ifnull(state, ''), link.path FROM json_each(?) wanted
                CROSS JOIN file ON file.path = wanted.value CROSS JOIN link ON file_id = file.id AND kind = 'import'
                ORDER BY wanted.key, line, link.id""",
            json.dumps(sorted(paths)),
        )

    def imports_of(self, names: Iterable[str], file_ids: Iterable[int]) -> list[tuple[int, NamedImport]]:
        """Return those imports of these files that bring one of these names, or a whole module."""
        wanted = list(names)
        # Single parameters instead of a list: few names are asked for, and all imports of the files are compared.
        found = self.query(
            f"""SELECT file_id, line, target, part, link.path FROM json_each(?) wanted
                CROSS JOIN link ON file_id = wanted.value AND kind = 'import'
                WHERE part IN ('', {", ".join("?" * len(wanted))})""",  # noqa: S608
            json_ids(file_ids),
            *wanted,
        )
        return [(file_id, NamedImport(line, target, part, path)) for file_id, line, target, part, path in found]

    def _insert_occurrences(self, file_id: int, occurrences: bytes) -> None:
        self._db.execute("INSERT INTO file_occurrences (file_id, names) VALUES (?, ?)", (file_id, occurrences))
        self._db.execute("INSERT INTO file_names (rowid, names) VALUES (?, ?)", (file_id, names_in(occurrences)))

    def _delete_occurrences(self, file_id: int) -> None:
        self._db.execute(
            "DELETE FROM file_names WHERE rowid IN (SELECT file_id FROM file_occurrences WHERE file_id = ?)", (file_id,)
        )
        self._db.execute("DELETE FROM file_occurrences WHERE file_id = ?", (file_id,))

    def _merge_names(self) -> None:
        self.query("INSERT INTO file_names (file_names) VALUES ('optimize')")
