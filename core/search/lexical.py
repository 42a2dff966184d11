"""Candidates by words: BM25 over path, definitions and content."""

from dataclasses import dataclass
from itertools import pairwise

from keyhole.core.index.store import Store
from keyhole.core.index.words import split_words, stem
from keyhole.core.search.filters import Filter
from keyhole.core.search.query import words_of

# What a word counts in the path, among the definitions, and in the text of a chunk.
COLUMN_WEIGHTS = (1.0, 2.0, 1.0)
_MAX_WORDS = 10
_MAX_VARIANTS = 4
_MAX_PHRASE = 10
# A word in more chunks than these says little and costs much: it is left out when rarer ones are there.
_COMMON_SHARE = 0.4
_COMMON_CHUNKS = 2_000
_FEWEST_WORDS = 3


@dataclass(frozen=True, slots=True)
class WordMatch:
    """A chunk that has some of the words.

    `coverage` is the share of them, rare ones counting more; `closeness` is 1 when they stand there as in
    the query, and less when only pairs of neighbours do.
    """

    chunk_id: int
    coverage: float
    closeness: float


@dataclass(frozen=True, slots=True)
class _Term:
    """A word of the query with the variants that count as it."""

    variants: tuple[str, ...]
    chunks: int


class WordSearch:
    """One query's words, matched against the index."""

    def __init__(self, store: Store, text: str, admitted: Filter, *, is_raw: bool = False) -> None:
        self._store = store
        self._filter = admitted
        words = words_of(text)
        self._phrases = [] if is_raw else _phrases(split_words(text).split()[:_MAX_PHRASE])
        self._terms = [_Term((word,), 1) for word in words] if is_raw else self._telling_terms(words)
        self._weights = "1.0, 1.0, 1.0" if is_raw else ", ".join(map(str, COLUMN_WEIGHTS))

    def pool(self, limit: int, offset: int = 0) -> list[WordMatch]:
        """Return the best matches, in order."""
        if not self._terms:
            return []
        source, values = self._source()
        rows = self._store.query(
            f"SELECT chunk_words.rowid, matched_phrases(chunk_words) FROM {source}"  # noqa: S608
            f" AND rank MATCH 'bm25({self._weights})' ORDER BY rank LIMIT ? OFFSET ?",
            *values,
            limit,
            offset,
        )
        return [self._match(chunk_id, mask) for chunk_id, mask in rows]

    def total(self) -> int:
        """Count every chunk that has one of the words."""
        if not self._terms:
            return 0
        source, values = self._source()
        return int(self._store.value(f"SELECT count(*) FROM {source}", *values))  # noqa: S608

    def _source(self) -> tuple[str, list[object]]:
        """Write the FROM and WHERE of both statements."""
        if self._filter.is_open:
            return "chunk_words WHERE chunk_words MATCH ?", [self._expression()]
        tables = "chunk_words JOIN chunk ON chunk.id = chunk_words.rowid WHERE chunk_words MATCH ?"
        conditions, values = self._filter.as_sql()
        return f"{tables} AND {conditions}", [self._expression(), *values]

    def _expression(self) -> str:
        variants = [variant for term in self._terms for variant in term.variants]
        return " OR ".join(f'"{phrase}"' for phrase in [*variants, *self._phrases])

    def _match(self, chunk_id: int, matched: str) -> WordMatch:
        position, found, total = 0, 0.0, 0.0
        for term in self._terms:
            worth = 1 / (1 + term.chunks) ** 0.25
            total += worth
            end = position + len(term.variants)
            found += worth if "1" in matched[position:end] else 0.0
            position = end
        phrases = matched[position:]
        closeness = 1.0 if phrases[:1] == "1" else phrases.count("1") / (2 * max(1, len(phrases) - 1))
        return WordMatch(chunk_id, found / total, closeness)

    def _telling_terms(self, words: list[str]) -> list[_Term]:
        terms = sorted((term for word in words if (term := self._term(word)).chunks), key=lambda term: term.chunks)
        everything = int(self._store.value("SELECT count(*) FROM chunk"))
        common = max(50, min(everything * _COMMON_SHARE, _COMMON_CHUNKS))
        telling = [term for number, term in enumerate(terms) if term.chunks <= common or number < _FEWEST_WORDS]
        return telling[:_MAX_WORDS]

    def _term(self, word: str) -> _Term:
        """Find the forms of a word that the index has."""
        base = stem(word)
        rows = self._store.query(
            "SELECT term, doc FROM vocabulary WHERE term >= ? AND term < ?", base, base + "\U0010ffff"
        )
        forms = [(term, doc) for term, doc in rows if term == word or (word.isalpha() and stem(term) == base)]
        forms.sort(key=lambda form: (form[0] != word, -form[1]))
        kept = forms[:_MAX_VARIANTS]
        return _Term(tuple(term for term, _ in kept), sum(doc for _, doc in kept))


def _phrases(words: list[str]) -> list[str]:
    """Return the whole query as one phrase, and each pair of neighbours."""
    if len(words) < 2:
        return []
    pairs = [f"{first} {second}" for first, second in pairwise(words)] if len(words) > 2 else []
    return [" ".join(words), *dict.fromkeys(pairs)]
