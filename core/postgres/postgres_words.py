"""The table `block_word`: which chunks contain which words and phrases, best matches first.

The server only finds the rows of words; numpy unpacks and ranks them, which takes a fraction of the time.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from keyhole.core.index.rows import ChunkRow, ChunkScope, WordQuery, WordRow
from keyhole.core.postgres.postgres_chunks import within_scope
from keyhole.core.postgres.postgres_facts import CHUNKS, PostgresFacts
from keyhole.core.postgres.repository_set import RepositorySet, rows_with_ids
from keyhole.core.postgres.word_blocks import WordBlocks
from keyhole.core.postgres.word_postings import (
    NARROW,
    WIDE,
    BlockWord,
    Postings,
    block_of,
    has_files,
    postings_in,
    without_files,
)
from keyhole.core.postgres.word_ranking import Hits, QueryTexts, WordRanking, chunks_in, hits_of, worth_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]

_MOST_COUNTED = 20_000
# So many chunks wait at most, about 30 MB; the words of more chunks make fewer rows.
_MOST_WAITING = 8_192
# The tables with many rows that questions join.
_COUNTED = ("file", "chunk", "block_word", "symbol", "link", "file_name")
# The partition of a repository, if it is a fifth larger than when its rows were last counted.
_GROWN = """SELECT oid::regclass::text FROM pg_class
    WHERE oid = (SELECT tableoid FROM {table} WHERE repo = %(repo)s LIMIT 1)
        AND pg_relation_size(oid) > 1.2 * relpages * current_setting('block_size')::integer"""
_COUNT = f"""SELECT word,
        sum(octet_length(postings) / CASE WHEN is_wide THEN {WIDE.bytes} ELSE {NARROW.bytes} END)::bigint
    FROM block_word WHERE repo = %(repo)s AND word = ANY(%(words)s::text[]) GROUP BY word"""  # noqa: S608
_READ = """SELECT word, repo, block, is_wide, postings, {places} FROM block_word
    WHERE repo = %(repo)s AND word = ANY(%(words)s::text[])"""
_OF_BLOCK = """SELECT block, is_wide, word, postings, places FROM block_word
    WHERE repo = %(repo)s AND block = %(block)s"""
_DELETE = "DELETE FROM block_word WHERE repo = %(repo)s AND block = %(block)s AND word = ANY(%(words)s::text[])"


class PostgresWords(PostgresFacts):
    """The words of chunks."""

    def __init__(self, url: str, repositories: RepositorySet) -> None:
        super().__init__(url, repositories)
        # For the generation with this number: in how many chunks words and phrases are.
        self._counted: tuple[int, dict[tuple[str, ...], int]] = 0, {}
        # The generation and texts of the last search of all chunks, and what it found.
        self._last_hits: tuple[tuple[int, tuple[tuple[str, ...], ...]] | None, list[Hits]] = None, []
        # The words of new chunks, and the files whose rows are outdated.
        self._new_words = WordBlocks()
        self._outdated_files: set[int] = set()

    def prepare_search(self) -> None:
        """Prepare nothing: everything that searching needs is in the tables."""

    def word_counts(self, words: Iterable[str]) -> dict[str, int]:
        """Return how many chunks contain each word; words that occur nowhere are missing."""
        self._write_words()
        wanted = list(words)
        found = dict(self.query(_COUNT, words=wanted))
        self._frequencies().update({(word,): found.get(word, 0) for word in wanted})
        return found

    def words_in(self, path: str) -> set[str]:
        """Return every word in a file."""
        self._write_words()
        file_id = self.value("SELECT id FROM file WHERE repo = %(repo)s AND path = %(path)s", path=path)
        if file_id is None:
            return set()
        block, number = block_of(file_id)
        rows = self.rows(BlockWord, _OF_BLOCK, block=block, file_id=file_id)
        return {row.word for row in rows if has_files(row, {number})}

    def word_matches(self, query: WordQuery, scope: ChunkScope, limit: int, offset: int = 0) -> list[WordRow]:
        """Return the best chunks, ranked by BM25; equally good ones in the order of path and line."""
        best = self._best_matches(QueryTexts(query), scope, offset + limit)
        times = Counter(row.bm25 for row in best)
        places = self._place_numbers([row.chunk_id for row in best if times[row.bm25] > 1])
        best.sort(key=lambda row: (-row.bm25, places.get(row.chunk_id, 0)))
        return best[offset : offset + limit]

    def _best_matches(self, texts: QueryTexts, scope: ChunkScope, count: int) -> list[WordRow]:
        """Return the best chunks; all that are as good as the last one are included."""
        hits, frequencies = self._hits(texts, scope)
        chunk_ids, _ = self._within(scope, *chunks_in([hits[number] for number in texts.deciding]))
        chunks = int(self._all_facts().get(CHUNKS, 0))
        worths = [worth_of(chunks, frequency) for frequency in frequencies]
        return WordRanking(texts, chunk_ids, self._average_words()).best(hits, worths, count)

    def _hits(self, texts: QueryTexts, scope: ChunkScope) -> tuple[list[Hits], list[int]]:
        """Return the chunks with each text, at least those of a scope, and in how many chunks each text is at all."""
        counted = self._frequencies()
        is_counted = all(text in counted for text in texts.texts)
        hits = self._read_hits(texts, scope if is_counted else ChunkScope())
        if not is_counted:
            counted |= {text: len(found.chunk_ids) for text, found in zip(texts.texts, hits, strict=True)}
        return hits, [counted[text] for text in texts.texts]

    def _read_hits(self, texts: QueryTexts, scope: ChunkScope) -> list[Hits]:
        """Return the chunks with each text, at least those of a scope; counting after a search needs the same ones."""
        key = self._counted[0], tuple(texts.texts)
        if self._is_reading and self._last_hits[0] == key:
            return self._last_hits[1]
        known = self._postings(texts.words, scope, has_places=texts.has_phrases)
        hits = [hits_of(text, known) for text in texts.texts]
        if scope.file_ids is None and scope.chunk_ids is None:
            self._last_hits = key, hits
        return hits

    def _postings(self, words: Iterable[str], scope: ChunkScope, *, has_places: bool = False) -> dict[str, Postings]:
        """Return the chunks with each word; those outside of the blocks of a scope may be missing."""
        self._write_words()
        sql, values = _READ.format(places="places" if has_places else "''::bytea"), dict[str, object]()
        if scope.chunk_ids is not None:
            values["chunk_ids"] = scope.chunk_ids
        if scope.file_ids is not None:
            sql += " AND block = ANY(%(blocks)s::integer[])"
            values |= {"file_ids": scope.file_ids, "blocks": list({block_of(one)[0] for one in scope.file_ids})}
        rows = defaultdict[str, list[tuple[int, int, bool, bytes, bytes]]](list)
        for word, *row in self.query(sql, words=list(words), **values):
            rows[word].append(tuple(row))
        return {word: postings_in(found) for word, found in rows.items()}

    def _within(self, scope: ChunkScope, chunk_ids: "Numbers", file_ids: "Numbers") -> tuple["Numbers", "Numbers"]:
        """Return those of some chunks that are in a scope, and their files."""
        import numpy as np

        is_inside = np.ones(len(chunk_ids), np.bool_)
        if scope.file_ids is not None:
            is_inside &= np.isin(file_ids, list(scope.file_ids))
        if scope.chunk_ids is not None:
            is_inside &= np.isin(chunk_ids, list(scope.chunk_ids))
        if scope.kind:
            condition, values = within_scope(ChunkScope(kind=scope.kind))
            of_kind = f"SELECT id FROM chunk WHERE repo = %(repo)s AND id = ANY(%(ids)s::bigint[]) AND {condition}"  # noqa: S608
            is_inside &= np.isin(chunk_ids, self.column(of_kind, ids=chunk_ids[is_inside].tolist(), **values))
        return chunk_ids[is_inside], file_ids[is_inside]

    def _frequencies(self) -> dict[tuple[str, ...], int]:
        """Return in how many chunks each word or phrase is, as far as this generation was asked for it."""
        generation = self.facts().generation
        # Inside of a transaction that writes, the generation is still that of before.
        if self._counted[0] != generation or len(self._counted[1]) > _MOST_COUNTED or not self._is_reading:
            self._counted = generation, {}
        return self._counted[1]

    def _place_numbers(self, chunk_ids: list[int]) -> dict[int, int]:
        """Return the number of each chunk in the order of path and line."""
        ordered = self.column(
            f"""SELECT chunk.id FROM {rows_with_ids("chunk")} JOIN file ON file.repo = chunk.repo AND file.id = file_id
                ORDER BY path, start""",  # noqa: S608
            **self.repositories.with_ids(chunk_ids),
        )
        return {chunk_id: number for number, chunk_id in enumerate(ordered)}

    def count_word_matches(self, query: WordQuery, scope: ChunkScope) -> dict[int, int]:
        """Count the chunks of each file that `word_matches` could return, by the id of the file."""
        import numpy as np

        texts = QueryTexts(query)
        hits, _ = self._hits(texts, scope)
        _, file_ids = self._within(scope, *chunks_in([hits[number] for number in texts.deciding]))
        found, counts = np.unique(file_ids, return_counts=True)
        return dict(zip(found.tolist(), counts.tolist(), strict=True))

    def chunks_with_words(self, words: Collection[str], chunk_ids: Collection[int], occurrences: int) -> set[int]:  # noqa: ARG002
        """Return which of these chunks contain one of these words."""
        import numpy as np

        wanted = np.array(sorted(chunk_ids), np.int64)
        every = self._postings(words, ChunkScope(chunk_ids=frozenset(chunk_ids))).values()
        return {chunk_id for found in every for chunk_id in wanted[np.isin(wanted, found.chunk_ids)].tolist()}

    def merge_words(self) -> None:
        """Let the server count the new rows now; otherwise it plans badly until its own maintenance does so."""
        self._write_words()
        for table in _COUNTED:
            for (name,) in self.query(_GROWN.format(table=table)):
                self.direct(f"ANALYZE {name}")

    # Writing

    def _add_words(self, file_id: int, chunk_ids: Sequence[int], chunks: Sequence[ChunkRow]) -> list[int]:
        """Add the words of a file's chunks; return how many each chunk has."""
        if len(self._new_words) > _MOST_WAITING:
            self._write_words()
        found = zip(chunk_ids, chunks, strict=True)
        return [self._new_words.add(file_id, chunk_id, chunk.words) for chunk_id, chunk in found]

    def _delete_words(self, file_id: int) -> None:
        """Delete the words of a file, when words are written the next time."""
        if file_id in self._new_words.file_ids:
            self._write_words()
        self._outdated_files.add(file_id)

    def _write_words(self) -> None:
        """Write the words that wait, after the rows of outdated files are replaced."""
        outdated = defaultdict[int, set[int]](set)
        for block, number in map(block_of, self._outdated_files):
            outdated[block].add(number)
        for block, numbers in outdated.items():
            self._replace_rows(block, numbers)
        if len(self._new_words):
            self._add("block_word", self._new_words.rows())
        self._forget_words()

    def _forget_words(self) -> None:
        self._new_words, self._outdated_files = WordBlocks(), set()

    def _replace_rows(self, block: int, numbers: set[int]) -> None:
        """Replace the rows of a block by rows without the words of some files."""
        rows = self.rows(BlockWord, _OF_BLOCK, block=block)
        changed = {row.word for row in rows if has_files(row, numbers)}
        self.query(_DELETE, block=block, words=list(changed))
        kept = (without_files(row, numbers) for row in rows if row.word in changed)
        self._add("block_word", [row for row in kept if row])
