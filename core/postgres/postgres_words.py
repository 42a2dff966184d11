"""The table `chunk_word`: which chunks contain which words and phrases, best matches first.

Ranks are computed as SQLite's full-text search computes BM25, number by number, so both engines give the same answers.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import log

from keyhole.core.index.rows import ChunkRow, ChunkScope, WordQuery, WordRow
from keyhole.core.postgres.postgres_chunks import within_scope
from keyhole.core.postgres.postgres_facts import CHUNKS, PostgresFacts
from keyhole.core.postgres.repository_set import RepositorySet
from keyhole.core.postgres.word_places import tokens_of, word_places

# How soon further occurrences of a word count less, and how much the length of a chunk matters.
_SATURATION, _LENGTH_SHARE = 1.2, 0.75
# A word in more than half of all chunks would count against a chunk.
_LEAST_WORTH = 1e-6
_MOST_COUNTED = 20_000
# The tables with many rows that questions join.
_COUNTED = ("file", "chunk", "chunk_word", "symbol", "link", "file_name")
_CHUNK_OF_WORD = "JOIN chunk ON chunk.repo = %(repo)s AND chunk.repo = hit.repo AND chunk.id = chunk_id"


class PostgresWords(PostgresFacts):
    """The words of chunks."""

    def __init__(self, url: str, repositories: RepositorySet) -> None:
        super().__init__(url, repositories)
        # For the generation with this number: in how many chunks words and phrases are.
        self._counted: tuple[int, dict[tuple[str, ...], int]] = 0, {}

    def prepare_search(self) -> None:
        """Prepare nothing: everything that searching needs is in the tables."""

    def word_counts(self, words: Iterable[str]) -> dict[str, int]:
        """Return how many chunks contain each word; words that occur nowhere are missing."""
        wanted = list(words)
        counted = """SELECT word, count(*) FROM chunk_word WHERE repo = %(repo)s AND word = ANY(%(words)s::text[])
            GROUP BY word"""
        found = dict(self.query(counted, words=wanted))
        self._frequencies().update({(word,): found.get(word, 0) for word in wanted})
        return found

    def words_in(self, path: str) -> set[str]:
        """Return every word in a file."""
        return set(
            self.column(
                """SELECT DISTINCT word FROM chunk_word JOIN file ON file.repo = chunk_word.repo AND file.id = file_id
                    WHERE chunk_word.repo = %(repo)s AND path = %(path)s""",
                path=path,
            )
        )

    def word_matches(self, query: WordQuery, scope: ChunkScope, limit: int, offset: int = 0) -> list[WordRow]:
        """Return the best chunks, ranked by BM25; equally good ones in the order of path and line."""
        best = self._best_matches(_Parts(query), scope, offset + limit)
        times = Counter(row.bm25 for row in best)
        places = self._place_numbers([row.chunk_id for row in best if times[row.bm25] > 1])
        best.sort(key=lambda row: (-row.bm25, places.get(row.chunk_id, 0)))
        return best[offset : offset + limit]

    def _best_matches(self, parts: "_Parts", scope: ChunkScope, count: int) -> list[WordRow]:
        """Return the best chunks; all that are as good as the last one are included."""
        condition, values = within_scope(scope)
        hits, words = parts.hits(range(len(parts.texts)), scope)
        # A common word counts only in chunks with a rare one, and there SQLite counts the rare ones twice: the only way
        # to write optional words for it is `rare OR (rare AND common)`.
        sql = f"""{hits},
            known AS MATERIALIZED (
                SELECT hit.*, bool_or(number < %(rare)s) OVER of_chunk AS has_rare,
                    bool_or(number BETWEEN %(rare)s AND %(last_common)s) OVER of_chunk AS has_common
                FROM hit WINDOW of_chunk AS (PARTITION BY chunk_id)),
            counted AS (
                SELECT repo, chunk_id, number, frequency, 0 AS again FROM known
                WHERE number < %(rare)s OR number > %(last_common)s
                UNION ALL SELECT repo, chunk_id, number, frequency, 1 FROM known
                WHERE number <= %(last_common)s AND has_rare AND has_common)
            SELECT chunk_id, array_agg(number + 1000 * again), sum(
                    (%(worths)s::float8[])[number + 1] * (frequency * (%(k)s::float8 + 1.0::float8)
                    / (frequency + %(k)s::float8 * (1.0::float8 - %(b)s::float8
                    + %(b)s::float8 * words::float8 / %(average)s::float8)))
                    ORDER BY number > %(last_common)s, again, number) AS bm25
            FROM counted AS hit {_CHUNK_OF_WORD} AND {condition} GROUP BY chunk_id
            ORDER BY bm25 DESC FETCH FIRST %(count)s ROWS WITH TIES"""  # noqa: S608
        found = self.query(
            sql,
            rare=parts.rare,
            last_common=parts.rare + parts.common - 1,
            worths=self._worths(parts),
            weights=list(parts.weights),
            k=_SATURATION,
            b=_LENGTH_SHARE,
            average=self._average_words(),
            count=count,
            **words,
            **values,
        )
        return [WordRow(chunk_id, parts.pattern(numbers), bm25) for chunk_id, numbers, bm25 in found]

    def _worths(self, parts: "_Parts") -> list[float]:
        """Return how much each word or phrase counts: the fewer chunks contain it, the more."""
        known = self._frequencies()
        unknown = [number for number, text in enumerate(parts.texts) if text not in known]
        if unknown:
            hits, words = parts.hits(unknown)
            counted = f"{hits} SELECT number, count(*) FROM hit GROUP BY number"  # noqa: S608
            with_it = dict(self.query(counted, weights=list(parts.weights), **words))
            known.update({parts.texts[number]: with_it.get(number, 0) for number in unknown})
        chunks = int(self._all_facts().get(CHUNKS, 0))
        return [_worth(chunks, known[text]) for text in parts.texts]

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
            """SELECT chunk.id FROM chunk JOIN file ON file.repo = chunk.repo AND file.id = file_id
                WHERE chunk.repo = %(repo)s AND chunk.id = ANY(%(ids)s::bigint[]) ORDER BY path, start""",
            ids=chunk_ids,
        )
        return {chunk_id: number for number, chunk_id in enumerate(ordered)}

    def count_word_matches(self, query: WordQuery, scope: ChunkScope) -> dict[int, int]:
        """Count the chunks of each file that `word_matches` could return, by the id of the file."""
        parts = _Parts(query)
        hits, words = parts.hits([number for number in range(len(parts.texts)) if not parts.is_common(number)], scope)
        condition, values = within_scope(scope)
        counted = f"""{hits} SELECT chunk.file_id, count(DISTINCT chunk.id) FROM hit {_CHUNK_OF_WORD} AND {condition}
            GROUP BY chunk.file_id"""  # noqa: S608
        return dict(self.query(counted, weights=list(parts.weights), **words, **values))

    def chunks_with_words(self, words: Collection[str], chunk_ids: Collection[int], occurrences: int) -> set[int]:  # noqa: ARG002
        """Return which of these chunks contain one of these words."""
        return set(
            self.column(
                """SELECT DISTINCT chunk_id FROM chunk_word WHERE repo = %(repo)s AND word = ANY(%(words)s::text[])
                    AND chunk_id = ANY(%(ids)s::bigint[])""",
                words=list(words),
                ids=list(chunk_ids),
            )
        )

    def merge_words(self) -> None:
        """Let the server count the new rows now; otherwise it plans badly until its own maintenance does so."""
        for table in _COUNTED:
            part = f"SELECT tableoid::regclass::text FROM {table} WHERE repo = %(repo)s LIMIT 1"  # noqa: S608
            for (name,) in self.query(part):
                self.direct(f"ANALYZE {name}")

    def _add_words(self, file_id: int, chunk_ids: Sequence[int], chunks: Sequence[ChunkRow]) -> None:
        for chunk_id, chunk in zip(chunk_ids, chunks, strict=True):
            rows = [(word, chunk_id, file_id, *places) for word, *places in word_places(chunk.words)]
            self._add("chunk_word", rows)


def _worth(chunks: int, with_it: int) -> float:
    worth = log((chunks - with_it + 0.5) / (with_it + 0.5))
    return worth if worth > 0 else _LEAST_WORTH


class _Parts:
    """The words and phrases of a query, numbered: rare words, common words, phrases."""

    def __init__(self, query: WordQuery) -> None:
        self.rare, self.common = len(query.rare), len(query.common)
        self.weights = query.weights
        self.texts = [tokens_of(text) for text in (*query.rare, *query.common, *query.phrases)]

    def is_common(self, number: int) -> bool:
        """Return whether a text is a common word."""
        return self.rare <= number < self.rare + self.common

    def hits(self, numbers: Iterable[int], scope: ChunkScope | None = None) -> tuple[str, dict[str, object]]:
        """Return the start of a statement that makes the table `hit`, and its values.

        It has the chunks with these texts, each with its weighted frequency. The files and chunks of a scope narrow it
        down early; the caller adds their values. Each word is looked up once, also for the phrases that contain it.
        """
        wanted = [number for number in numbers if self.texts[number]]
        words = [number for number in wanted if len(self.texts[number]) == 1]
        phrases = [number for number in wanted if len(self.texts[number]) > 1]
        values: dict[str, object] = {
            "words": [self.texts[number][0] for number in words],
            "numbers": words,
            "every": list({word for number in wanted for word in self.texts[number]}),
        }
        narrow = "" if scope is None or scope.file_ids is None else " AND file_id = ANY(%(file_ids)s::bigint[])"
        narrow += "" if scope is None or scope.chunk_ids is None else " AND chunk_id = ANY(%(chunk_ids)s::bigint[])"
        parts = [(number, word, place) for number in phrases for place, word in enumerate(self.texts[number])]
        if phrases:
            values |= {
                "phrases": [number for number, _, _ in parts],
                "lengths": [len(self.texts[number]) for number, _, _ in parts],
                "parts": [word for _, word, _ in parts],
                "shifts": [place for _, _, place in parts],
            }
        posting = _POSTING.format(narrow=narrow, places=", places" if phrases else "")
        return f"WITH {posting}, hit AS MATERIALIZED ({_WORD_HITS}{_PHRASE_HITS if phrases else ''})", values

    def pattern(self, numbers: Iterable[int]) -> str:
        """Return 1 or 0 for each text: whether a chunk contains it.

        With common words, SQLite reports a rare word only in chunks that contain a common word too.
        """
        found = set(numbers)
        last_common = self.rare + self.common
        reported = found if not self.common else {n - 1000 for n in found} | {n for n in found if n >= last_common}
        return "".join("1" if number in reported else "0" for number in range(len(self.texts)))


_POSTING = """posting AS MATERIALIZED (
    SELECT repo, chunk_id, word, in_path, in_definitions, in_text{places} FROM chunk_word
    WHERE repo = %(repo)s AND word = ANY(%(every)s::text[]){narrow})"""
_WORD_HITS = """SELECT wanted.number, repo, chunk_id, in_path * (%(weights)s::float8[])[1]
        + in_definitions * (%(weights)s::float8[])[2] + in_text * (%(weights)s::float8[])[3] AS frequency
    FROM unnest(%(words)s::text[], %(numbers)s::integer[]) wanted(word, number) JOIN posting USING (word)"""
# The bits of all places, shifted to that of the first word, are left where the words follow one another. Chunks are
# looked up only for phrases that were found.
_PHRASE_HITS = """ UNION ALL SELECT number, hit.repo, hit.chunk_id,
        bit_count(substring(places FROM 1 FOR path_words)) * (%(weights)s::float8[])[1]
        + bit_count(substring(places FROM path_words + 2 FOR definition_words)) * (%(weights)s::float8[])[2]
        + bit_count(substring(places FROM path_words + definition_words + 3)) * (%(weights)s::float8[])[3]
    FROM (
        SELECT number, repo, chunk_id, bit_and(places << shift) AS places
        FROM unnest(%(phrases)s::integer[], %(lengths)s::integer[], %(parts)s::text[], %(shifts)s::integer[])
            part(number, length, word, shift) JOIN posting USING (word)
        GROUP BY number, length, repo, chunk_id HAVING count(*) = length AND bit_count(bit_and(places << shift)) > 0
    ) hit JOIN chunk ON chunk.repo = %(repo)s AND chunk.repo = hit.repo AND chunk.id = hit.chunk_id"""
