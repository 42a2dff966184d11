"""The full-text table `chunk_words` and its vocabulary: which chunks contain which words, best matches first."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from itertools import islice, takewhile
from typing import cast

import apsw

from keyhole.core.index.chunk_table import within
from keyhole.core.index.connection import explained
from keyhole.core.index.database import Database, json_ids
from keyhole.core.index.rows import ChunkRow, ChunkScope, WordColumns, WordQuery, WordRow

_COLUMNS = ", ".join(WordColumns._fields)
# Looking up one word in one chunk takes as long as going through so many chunks with the word (7 us).
_OCCURRENCES_PER_LOOKUP = 100


class WordTable(Database):
    """The words of chunks."""

    def prepare_search(self) -> None:
        """Create the temporary vocabulary tables and the SQL function that searching needs."""
        with explained(self.path):
            self._db.register_fts5_function("matched_phrases", _matched_phrases)
            self._db.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, chunk_words, row)")
            self._db.execute("CREATE VIRTUAL TABLE temp.instances USING fts5vocab(main, chunk_words, instance)")

    def word_counts(self, words: Iterable[str]) -> dict[str, int]:
        """Return how many chunks contain each word; words that occur nowhere are missing."""
        rows = self.query(
            "SELECT term, doc FROM json_each(?) JOIN vocabulary ON term = value", json.dumps(sorted(words))
        )
        return dict(rows)

    def words_in(self, path: str) -> set[str]:
        """Return every word in a file."""
        return set(
            self.column(
                """SELECT DISTINCT term FROM instances WHERE doc IN
                    (SELECT chunk.id FROM chunk JOIN file ON file.id = file_id WHERE file.path = ?)""",
                path,
            )
        )

    def word_matches(self, query: WordQuery, scope: ChunkScope, limit: int, offset: int = 0) -> list[WordRow]:
        """Return the best chunks, ranked by BM25; equally good ones in the order of path and line."""
        best = self._best_matches(query, scope, offset + limit)
        ranks = Counter([rank for rank, _, _ in best])
        if len(ranks) < len(best):
            places = self._place_numbers(chunk_id for rank, chunk_id, _ in best if ranks[rank] > 1)
            best.sort(key=lambda match: (match[0], places.get(match[1], 0)))
        return [WordRow(chunk_id, matched, -rank) for rank, chunk_id, matched in best[offset : offset + limit]]

    def _best_matches(self, query: WordQuery, scope: ChunkScope, count: int) -> list[tuple[float, int, str]]:
        """Return rank, id and matches of the best chunks; all that are as good as the last one are included."""
        source, values = _source(query, scope)
        weights = ", ".join(map(str, query.weights))
        # With common words, the expression contains each rare word twice; only the second one is reported.
        repeated = len(query.rare) if query.common else 0
        sql = (
            f"SELECT rank, chunk_words.rowid, matched_phrases(chunk_words, ?) FROM {source}"  # noqa: S608
            f" AND rank MATCH 'bm25({weights})' ORDER BY rank"
        )
        with self.stepped(sql, repeated, *values) as rows:
            # FTS5 sorts all matches before it returns the first, so a limit in SQL would save nothing.
            best = list(islice(rows, count))
            best += takewhile(lambda row: row[0] == best[-1][0], rows)
        return best

    def _place_numbers(self, chunk_ids: Iterable[int]) -> dict[int, int]:
        """Return the number of each chunk in the order of path and line."""
        ordered = self.query(
            """SELECT chunk.id FROM json_each(?) tied JOIN chunk ON chunk.id = tied.value
                JOIN file ON file.id = file_id ORDER BY file.path, start""",
            json_ids(chunk_ids),
        )
        return {chunk_id: number for number, (chunk_id,) in enumerate(ordered)}

    def count_word_matches(self, query: WordQuery, scope: ChunkScope) -> dict[int, int]:
        """Count the chunks of each file that `word_matches` could return, by the id of the file."""
        condition, values = within(scope)
        rows = self.query(
            f"""SELECT file_id, count(*) FROM chunk_words JOIN chunk ON chunk.id = chunk_words.rowid
                WHERE chunk_words MATCH ? AND {condition} GROUP BY file_id""",  # noqa: S608
            _expression(query),
            *values,
        )
        return dict(rows)

    def chunks_with_words(self, words: Collection[str], chunk_ids: Collection[int], occurrences: int) -> set[int]:
        """Return which of these chunks contain one of these words; `occurrences` is the sum of the chunks of each.

        FTS5 looks up each chunk, or goes through all chunks with the words: whichever takes less. The answer is the
        same, and the sign keeps SQLite from looking up.
        """
        is_scan = occurrences < _OCCURRENCES_PER_LOOKUP * len(words) * len(chunk_ids)
        rows = self.query(
            f"""SELECT rowid FROM chunk_words WHERE chunk_words MATCH ?
                AND {"+" if is_scan else ""}rowid IN (SELECT value FROM json_each(?))""",  # noqa: S608
            _any_of(words),
            json_ids(chunk_ids),
        )
        return {chunk_id for (chunk_id,) in rows}

    def merge_words(self) -> None:
        """Merge the segments of the full-text index, which makes queries a third faster."""
        with explained(self.path), suppress(apsw.FullError):  # on a full disk nothing is lost
            self._db.execute("INSERT INTO chunk_words (chunk_words) VALUES ('optimize')")

    def _delete_words(self, file_id: int) -> None:
        self._db.execute("DELETE FROM chunk_words WHERE rowid IN (SELECT id FROM chunk WHERE file_id = ?)", (file_id,))

    def _insert_words(self, first: int, chunks: Sequence[ChunkRow]) -> None:
        self._db.executemany(
            f"INSERT INTO chunk_words (rowid, {_COLUMNS}) VALUES (?, ?, ?, ?)",  # noqa: S608
            [(id_, *chunk.words) for id_, chunk in enumerate(chunks, first)],
        )


def _source(query: WordQuery, scope: ChunkScope) -> tuple[str, list[object]]:
    """Return the FROM and WHERE clauses that finding and counting share, with their values."""
    if scope.is_open:
        return "chunk_words WHERE chunk_words MATCH ?", [_expression(query)]
    tables = "chunk_words JOIN chunk ON chunk.id = chunk_words.rowid WHERE chunk_words MATCH ?"
    condition, values = within(scope)
    return f"{tables} AND {condition}", [_expression(query), *values]


def _expression(query: WordQuery) -> str:
    """Return the query for FTS5, written as `rare OR (rare AND common)` because FTS5 has no optional words."""
    chosen, counted = _any_of(query.rare), _any_of(query.common)
    parts = [chosen, f"({chosen}) AND ({counted})" if counted else "", _any_of(query.phrases)]
    return " OR ".join(f"({part})" for part in parts if part)


def _any_of(texts: Iterable[str]) -> str:
    return " OR ".join(f'"{text}"' for text in texts)


def _matched_phrases(row: apsw.FTS5ExtensionApi, *arguments: "apsw.SQLiteValue") -> str:
    """Return 1 or 0 for each phrase of the query from a given one on: whether the row contains it."""
    first = cast("int", arguments[0])
    is_matched = map(bool, map(row.phrase_columns, range(first, row.phrase_count)))
    return "".join(map("01".__getitem__, is_matched))
