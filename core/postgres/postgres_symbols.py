"""The table `symbol`: the definitions in files, by name, chunk, file and depth."""

from collections.abc import Iterable, Sequence
from itertools import takewhile

from keyhole.core.index.chunk_table import chunk_place
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
from keyhole.core.postgres.postgres_chunks import within_scope
from keyhole.core.postgres.postgres_files import bounds
from keyhole.core.postgres.repository_rows import RepositoryRows
from keyhole.core.postgres.repository_set import FILE_AT_PATH, LINES_OF_FILES, rows_with_ids

_COLUMNS = ", ".join(SymbolRow._fields)
_ENTRY = "depth, name, kind, signature, symbol.start_line, symbol.end_line, symbol.parent"
_FILE_OF_SYMBOL = "JOIN file ON file.repo = symbol.repo AND file.id = symbol.file_id"
_CHUNK_OF_NAME = """JOIN chunk ON chunk.repo = symbol.repo AND chunk.file_id = symbol.file_id
    AND name_line BETWEEN chunk.start_line AND chunk.end_line"""
_ALL = Slice(-1, 0)
# Deeper than any symbol.
_ANY_DEPTH = 1_000_000


class PostgresSymbols(RepositoryRows):
    """Symbols, in the order of their files."""

    def symbol_names(self) -> list[str]:
        """Return every defined name once, in order."""
        return sorted(self.column("SELECT DISTINCT name FROM symbol WHERE repo = %(repo)s"))

    def symbol_places(self) -> list[SymbolPlace]:
        """Return every symbol with its place, in the order of paths and lines."""
        return self.rows(
            SymbolPlace,
            f"""SELECT name, parent, kind, path, name_line FROM symbol {_FILE_OF_SYMBOL}
                WHERE symbol.repo = %(repo)s ORDER BY path, symbol.id""",  # noqa: S608
        )

    def largest_symbols(self, languages: Sequence[str], limit: int) -> list[SymbolPlace]:
        """Return public definitions at the top level of files in these languages, longest first."""
        return self.rows(
            SymbolPlace,
            f"""SELECT name, parent, kind, path, name_line FROM symbol {_FILE_OF_SYMBOL}
                WHERE symbol.repo = %(repo)s AND parent = '' AND exported AND language = ANY(%(languages)s::text[])
                ORDER BY end_line - start_line DESC, path, name_line LIMIT %(limit)s""",  # noqa: S608
            languages=list(languages),
            limit=limit,
        )

    def kinds(self) -> list[str]:
        """Return every kind of symbol, in order."""
        return self.column("SELECT DISTINCT kind FROM symbol WHERE repo = %(repo)s ORDER BY kind")

    def kinds_by_count(self) -> list[str]:
        """Return every kind of symbol, most frequent first."""
        by_count = "SELECT kind FROM symbol WHERE repo = %(repo)s GROUP BY kind ORDER BY count(*) DESC, kind"
        return self.column(by_count)

    def symbols_named(self, names: Iterable[str]) -> list[NamedSymbol]:
        """Return the symbols with exactly these names, once for each chunk that contains the line of the name."""
        # The SQL index on names ignores case. The first comparison uses it, the second keeps exact matches only.
        rows = self.query(
            f"""SELECT symbol.id, name, kind, symbol.parent, exported, name_line,
                    symbol.end_line - symbol.start_line + 1, chunk.id, chunk.file_id, file.path, language,
                    chunk.start_line, chunk.end_line, definitions, lines, role
                FROM unnest(%(names)s::text[]) wanted(word)
                JOIN symbol ON symbol.repo = %(repo)s AND lower(name) = lower(wanted.word COLLATE "C")
                    AND name = wanted.word
                {_CHUNK_OF_NAME} {_FILE_OF_SYMBOL} ORDER BY file.path, symbol.id, chunk.id""",  # noqa: S608
            names=list(names),
        )
        return [NamedSymbol._make([*row[:7], chunk_place(*row[7:])]) for row in rows]

    def defining_chunks(self, name: str, scope: ChunkScope, limit: int) -> list[DefiningChunk]:
        """Return the first chunks by path and line that define a name, ignoring case."""
        condition, values = within_scope(scope)
        return self.rows(
            DefiningChunk,
            f"""SELECT chunk.id, parent, symbol.end_line - symbol.start_line + 1
                FROM symbol {_CHUNK_OF_NAME} {_FILE_OF_SYMBOL}
                WHERE symbol.repo = %(repo)s AND lower(name) = lower(%(name)s::text COLLATE "C") AND {condition}
                ORDER BY file.path, symbol.id, chunk.id LIMIT %(limit)s""",  # noqa: S608
            name=name,
            limit=limit,
            **values,
        )

    def symbols_in_chunks(self, chunk_ids: Iterable[int]) -> list[SymbolLabel]:
        """Return the symbols with lines in these chunks, in order."""
        return self.rows(
            SymbolLabel,
            f"""SELECT chunk.id, symbol.id, name, kind, signature, doc, returns, name_line, symbol.start_line,
                    symbol.end_line, symbol.parent
                FROM {rows_with_ids("chunk")} JOIN symbol ON symbol.repo = chunk.repo
                    AND symbol.file_id = chunk.file_id
                    AND symbol.start_line <= chunk.end_line AND symbol.end_line >= chunk.start_line
                ORDER BY symbol.id, chunk.id""",  # noqa: S608
            **self.repositories.with_ids(chunk_ids),
        )

    def methods_of(self, file_id: int, owner: SymbolLabel, limit: int) -> list[str]:
        """Return the names of up to `limit` methods of a class, exported ones first."""
        return self.column(
            """SELECT name FROM (
                    SELECT DISTINCT ON (name) name, exported, id FROM symbol
                    WHERE repo = %(repo)s AND file_id = %(file_id)s AND kind IN ('method', 'function', 'constructor')
                        AND parent = %(parent)s AND start_line BETWEEN %(first)s AND %(last)s ORDER BY name, depth, id
                ) once ORDER BY exported DESC, id LIMIT %(limit)s""",
            file_id=file_id,
            parent=f"{owner.parent}.{owner.name}" if owner.parent else owner.name,
            first=owner.start_line,
            last=owner.end_line,
            limit=limit,
        )

    def symbols_of_file(self, path: str, max_depth: int = _ANY_DEPTH, wanted: Slice = _ALL) -> list[SymbolEntry]:
        """Return the symbols of a file with a depth below `max_depth`, in order."""
        # Without the sum, the server would read all symbols in the order of their ids until it has enough of the file.
        return self.rows(
            SymbolEntry,
            f"""SELECT {_ENTRY} FROM symbol {_FILE_OF_SYMBOL}
                WHERE symbol.repo = %(repo)s AND path = %(path)s AND depth < %(depth)s
                ORDER BY symbol.id + 0 LIMIT %(limit)s OFFSET %(offset)s""",  # noqa: S608
            path=path,
            depth=max_depth,
            limit=wanted.limit if wanted.limit >= 0 else None,
            offset=wanted.offset,
        )

    def symbols_of_files(self, depths: Sequence[tuple[str, int]]) -> dict[str, list[SymbolEntry]]:
        """Return the symbols of several files, each given with its own depth limit."""
        rows = self.query(
            f"""SELECT file.path, {_ENTRY}
                FROM unnest(%(repos)s::integer[], %(paths)s::text[], %(depths)s::integer[])
                    WITH ORDINALITY wanted(repo, path, most, number)
                JOIN file ON file.repo = wanted.repo AND file.path = wanted.path
                JOIN symbol ON symbol.repo = file.repo AND symbol.file_id = file.id AND depth < wanted.most
                ORDER BY wanted.number, symbol.id""",  # noqa: S608
            repos=self.repositories.of_paths(path for path, _ in depths),
            paths=[path for path, _ in depths],
            depths=[depth for _, depth in depths],
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
            f"""SELECT wanted.number, {_ENTRY}
                FROM {LINES_OF_FILES}
                JOIN symbol ON symbol.repo = file.repo AND symbol.file_id = file.id
                    AND symbol.start_line < wanted.line AND symbol.end_line >= wanted.line
                ORDER BY wanted.number, symbol.id""",  # noqa: S608
            repos=self.repositories.of_paths(path for path, _ in lines),
            paths=[path for path, _ in lines],
            lines=[line for _, line in lines],
        )
        # The last one that starts is the innermost.
        return {lines[number - 1]: SymbolEntry(*entry) for number, *entry in rows}

    def count_symbols_in(self, folder: str, max_depth: int) -> dict[str, int]:
        """Count the symbols of each file in a folder; `max_depth` counts folders and symbols from the root."""
        return dict(
            self.query(
                """SELECT path, count(*) FROM file JOIN symbol ON symbol.repo = file.repo AND symbol.file_id = file.id
                    AND depth < %(depth)s - length(path) + length(replace(path, '/', ''))
                    WHERE file.repo = %(repo)s AND path > %(first)s AND path < %(last)s GROUP BY path""",
                depth=max_depth,
                **bounds(folder),
            )
        )

    def headings_of(self, notes: Sequence[str]) -> list[Heading]:
        """Return the headings of these notes, in order."""
        return self.rows(
            Heading,
            f"""SELECT path, name, start_line FROM {FILE_AT_PATH}
                JOIN symbol ON symbol.repo = file.repo AND symbol.file_id = file.id
                WHERE language = 'markdown' ORDER BY symbol.id""",  # noqa: S608
            **self.repositories.at_paths(notes),
        )

    def _replace_symbols(self, file_id: int, symbols: Sequence[SymbolRow], *, is_new: bool) -> None:
        kept = 0 if is_new else self._keep_symbols(file_id, symbols)
        new = symbols[kept:]
        ids = self._new_ids("symbol", len(new))
        self._add("symbol", [(id_, file_id, *symbol) for id_, symbol in zip(ids, new, strict=True)])

    def _keep_symbols(self, file_id: int, new: Sequence[SymbolRow]) -> int:
        """Keep the symbols before the first that changed, delete the others, and return how many were kept."""
        every = f"SELECT id, {_COLUMNS} FROM symbol WHERE repo = %(repo)s AND file_id = %(file_id)s ORDER BY id"  # noqa: S608
        old = self.direct(every, file_id=file_id)
        same = sum(1 for _ in takewhile(lambda pair: pair[0][1:] == pair[1], zip(old, new, strict=False)))
        outdated = "DELETE FROM symbol WHERE repo = %(repo)s AND id = ANY(%(ids)s::bigint[])"
        self.direct(outdated, ids=[row[0] for row in old[same:]])
        return same
