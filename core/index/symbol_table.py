"""The table `symbol`: the definitions in files, by name, chunk, file and depth."""

import json
from collections.abc import Iterable, Sequence
from itertools import takewhile

from keyhole.core.index.chunk_table import chunk_place, within
from keyhole.core.index.database import LINES_WANTED, Database, json_ids
from keyhole.core.index.file_table import inside
from keyhole.core.index.rows import (
    ChunkScope,
    DefiningChunk,
    Heading,
    NamedSymbol,
    Slice,
    SymbolEntry,
    SymbolLabel,
    SymbolPlace,
    SymbolRow,
)

_COLUMNS = ", ".join(SymbolRow._fields)
_ENTRY = "depth, name, kind, signature, symbol.start_line, symbol.end_line, symbol.parent"
_CHUNK_OF_NAME = "chunk.file_id = symbol.file_id AND name_line BETWEEN chunk.start_line AND chunk.end_line"
# SQLite treats a negative limit as no limit.
_ALL = Slice(-1, 0)
# Deeper than any symbol.
_ANY_DEPTH = 1_000_000


class SymbolTable(Database):
    """Symbols, in the order of their files."""

    def symbol_names(self) -> list[str]:
        """Return every defined name once, in order."""
        # Python sorts them faster than SQLite.
        return sorted(self.column("SELECT DISTINCT name FROM symbol"))

    def symbol_places(self) -> list[SymbolPlace]:
        """Return every symbol with its place, in the order of paths and lines."""
        # Joining and sorting in Python is faster, and each path is one string for all of its symbols.
        paths = dict(self.query("SELECT id, path FROM file"))
        rows = self.query("SELECT name, parent, kind, file_id, name_line FROM symbol ORDER BY id")
        found = [SymbolPlace(name, parent, kind, paths[file], line) for name, parent, kind, file, line in rows]
        return sorted(found, key=lambda symbol: symbol.path)

    def largest_symbols(self, languages: Sequence[str], limit: int) -> list[SymbolPlace]:
        """Return public definitions at the top level of files in these languages, longest first."""
        return self.rows(
            SymbolPlace,
            "SELECT name, parent, kind, path, name_line FROM symbol JOIN file ON file.id = file_id"
            " WHERE parent = '' AND exported AND language IN (SELECT value FROM json_each(?))"
            " ORDER BY end_line - start_line DESC, path, name_line LIMIT ?",
            json.dumps(languages),
            limit,
        )

    def kinds(self) -> list[str]:
        """Return every kind of symbol, in order."""
        return self.column("SELECT DISTINCT kind FROM symbol ORDER BY kind")

    def kinds_by_count(self) -> list[str]:
        """Return every kind of symbol, most frequent first."""
        return self.column("SELECT kind FROM symbol GROUP BY kind ORDER BY count(*) DESC, kind")

    def symbols_named(self, names: Iterable[str]) -> list[NamedSymbol]:
        """Return the symbols with exactly these names, once for each chunk that contains the line of the name."""
        # The SQL index on names ignores case. The first comparison uses it, the second keeps exact matches only.
        rows = self.query(
            f"""SELECT symbol.id, name, kind, symbol.parent, exported, name_line,
                    symbol.end_line - symbol.start_line + 1, chunk.id, chunk.file_id, file.path, language,
                    chunk.start_line, chunk.end_line, definitions, lines, role
                FROM json_each(?) wanted
                JOIN symbol ON name = wanted.value COLLATE NOCASE AND name = wanted.value
                JOIN chunk ON {_CHUNK_OF_NAME}
                JOIN file ON file.id = symbol.file_id ORDER BY file.path, symbol.id, chunk.id""",  # noqa: S608
            json.dumps(list(names)),
        )
        return [
            NamedSymbol(symbol_id, name, kind, parent, bool(exported), line, lines, chunk_place(*place))
            for symbol_id, name, kind, parent, exported, line, lines, *place in rows
        ]

    def defining_chunks(self, name: str, scope: ChunkScope, limit: int) -> list[DefiningChunk]:
        """Return the first chunks by path and line that define a name, ignoring case."""
        condition, values = within(scope)
        return self.rows(
            DefiningChunk,
            f"""SELECT chunk.id, parent, symbol.end_line - symbol.start_line + 1
                FROM symbol JOIN chunk ON {_CHUNK_OF_NAME} JOIN file ON file.id = symbol.file_id
                WHERE name = ? COLLATE NOCASE AND {condition} ORDER BY file.path, symbol.id, chunk.id LIMIT ?""",  # noqa: S608
            name,
            *values,
            limit,
        )

    def symbols_in_chunks(self, chunk_ids: Iterable[int]) -> list[SymbolLabel]:
        """Return the symbols with lines in these chunks, in order."""
        return self.rows(
            SymbolLabel,
            """SELECT chunk.id, symbol.id, name, kind, signature, doc, returns, name_line, symbol.start_line,
                    symbol.end_line, symbol.parent
                FROM json_each(?) wanted JOIN chunk ON chunk.id = wanted.value
                JOIN symbol ON symbol.file_id = chunk.file_id AND symbol.start_line <= chunk.end_line
                    AND symbol.end_line >= chunk.start_line ORDER BY symbol.id""",
            json_ids(chunk_ids),
        )

    def methods_of(self, file_id: int, owner: SymbolLabel, limit: int) -> list[str]:
        """Return the names of up to `limit` methods of a class, exported ones first."""
        return self.column(
            """SELECT DISTINCT name FROM symbol WHERE file_id = ? AND kind IN ('method', 'function', 'constructor')
                AND parent = ? AND start_line BETWEEN ? AND ? ORDER BY exported DESC, id LIMIT ?""",
            file_id,
            f"{owner.parent}.{owner.name}" if owner.parent else owner.name,
            owner.start_line,
            owner.end_line,
            limit,
        )

    def symbols_of_file(self, path: str, max_depth: int = _ANY_DEPTH, wanted: Slice = _ALL) -> list[SymbolEntry]:
        """Return the symbols of a file with a depth below `max_depth`, in order."""
        return self.rows(
            SymbolEntry,
            f"""SELECT {_ENTRY} FROM symbol JOIN file ON file.id = file_id
                WHERE path = ? AND depth < ? ORDER BY symbol.id LIMIT ? OFFSET ?""",  # noqa: S608
            path,
            max_depth,
            wanted.limit,
            wanted.offset,
        )

    def symbols_of_files(self, depths: Sequence[tuple[str, int]]) -> dict[str, list[SymbolEntry]]:
        """Return the symbols of several files, each given with its own depth limit."""
        rows = self.query(
            f"""SELECT file.path, {_ENTRY} FROM json_each(?) wanted
                JOIN file ON file.path = wanted.value ->> 0 JOIN symbol ON file_id = file.id
                WHERE depth < wanted.value ->> 1 ORDER BY wanted.key, symbol.id""",  # noqa: S608
            json.dumps(depths),
        )
        found: dict[str, list[SymbolEntry]] = {path: [] for path, _ in depths}
        for path, *entry in rows:
            found[path].append(SymbolEntry(*entry))
        return found

    def symbols_around(self, lines: Sequence[tuple[str, int]]) -> dict[tuple[str, int], SymbolEntry]:
        """Return the innermost symbol around each of these lines of files, for lines that have one.

        The first line of a symbol belongs to the symbol around that.
        """
        rows = self.query(
            f"""{LINES_WANTED} SELECT wanted.key, {_ENTRY} FROM wanted
                CROSS JOIN file ON file.path = wanted.path CROSS JOIN symbol ON file_id = file.id
                WHERE symbol.start_line < wanted.line AND symbol.end_line >= wanted.line
                ORDER BY wanted.key, symbol.id""",  # noqa: S608
            json.dumps(lines),
        )
        # The last one that starts is the innermost.
        return {lines[number]: SymbolEntry(*entry) for number, *entry in rows}

    def count_symbols_in(self, folder: str, max_depth: int) -> dict[str, int]:
        """Count the symbols of each file in a folder; `max_depth` counts folders and symbols from the root."""
        # CROSS JOIN fixes the order: SQLite reads paths and then depths from their SQL indexes, and no table rows.
        rows = self.query(
            """SELECT path, count(*) FROM file CROSS JOIN symbol ON file_id = file.id
                AND depth < ? - length(path) + length(replace(path, '/', ''))
                WHERE path > ? AND path < ? GROUP BY path""",
            max_depth,
            *inside(folder),
        )
        return dict(rows)

    def headings_of(self, notes: Sequence[str]) -> list[Heading]:
        """Return the headings of these notes, in order."""
        return self.rows(
            Heading,
            """SELECT file.path, name, start_line FROM json_each(?)
                JOIN file ON file.path = value AND language = 'markdown'
                JOIN symbol ON file_id = file.id ORDER BY symbol.id""",
            json.dumps(notes),
        )

    def _replace_symbols(self, file_id: int, symbols: Sequence[SymbolRow], *, is_new: bool) -> None:
        kept = 0 if is_new else self._keep_symbols(file_id, symbols)
        marks = ", ".join("?" * (1 + len(SymbolRow._fields)))
        self._db.executemany(
            f"INSERT INTO symbol (file_id, {_COLUMNS}) VALUES ({marks})",  # noqa: S608
            [(file_id, *symbol) for symbol in symbols[kept:]],
        )

    def _keep_symbols(self, file_id: int, new: Sequence[SymbolRow]) -> int:
        """Keep the symbols before the first that changed, delete the others, and return how many were kept.

        Writing fewer rows matters because each one changes a different page of the SQL index on names.
        """
        old = self.query(f"SELECT id, {_COLUMNS} FROM symbol WHERE file_id = ? ORDER BY id", file_id)  # noqa: S608
        same = sum(1 for _ in takewhile(lambda pair: pair[0][1:] == pair[1], zip(old, new, strict=False)))
        self._db.executemany("DELETE FROM symbol WHERE id = ?", [row[:1] for row in old[same:]])
        return same

    def _delete_symbols(self, file_id: int) -> None:
        self._db.execute("DELETE FROM symbol WHERE file_id = ?", (file_id,))
