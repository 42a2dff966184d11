"""Finds candidates by words: BM25 over path, definitions and content."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from keyhole.core.index.protocols import SearchStore
from keyhole.core.index.rows import ChunkScope, WordQuery
from keyhole.core.index.words import forms_of, split_words
from keyhole.core.search.bounded_cache import BoundedCache
from keyhole.core.search.query import words_of

# The weight of a word in the path, in the definitions, and in the text of a chunk.
COLUMN_WEIGHTS = (1.0, 2.0, 1.0)
_MAX_WORDS = 10
_MAX_VARIANTS = 4
_MAX_PHRASE = 10
# Scoring chunks takes most of the time, so only the rarest words select chunks, up to this number. More common words
# still count in the selected chunks.
_MOST_CHUNKS = 1_000
_MOST_CACHED = 100_000


class WordMatch(NamedTuple):
    """A chunk that contains some of the words.

    `words` has a bit for each word it contains, in the order of `WordSearch.worths`; `coverage` is their share of all
    words, weighted by rarity; `closeness` is 1 if it contains the query as a phrase, and less if it contains only
    pairs of neighbouring words.
    """

    chunk_id: int
    bm25: float
    words: int
    coverage: float
    closeness: float


@dataclass(frozen=True, slots=True)
class _Term:
    """A word of the query, with the variants that count as the same word."""

    word: str
    variants: tuple[str, ...]
    chunks: int

    @property
    def worth(self) -> float:
        """How much the word counts: a rare one says more, but with the plain inverse nothing else would count."""
        return float((1 + self.chunks) ** -0.25)


class Vocabulary:
    """Counts the chunks that contain a word; the counts are cached until the index changes."""

    def __init__(self, store: SearchStore, cached: BoundedCache[dict[str, int]]) -> None:
        self.store = store
        self._cached = cached

    def chunks_with(self, words: set[str]) -> dict[str, int]:
        """Return the number of chunks for each word, 0 if none contains it."""
        generation = self.store.facts().generation
        chunks = self._cached.get(generation)
        if chunks is None or len(chunks) > _MOST_CACHED:
            chunks = self._cached.put(generation, {})
        if new := {word for word in words if word not in chunks}:
            chunks |= dict.fromkeys(new, 0) | self.store.word_counts(new)
        return chunks


class WordSearch:
    """Matches the words of one query against the index; `in_order` enables other word forms and phrases."""

    def __init__(
        self, vocabulary: Vocabulary, text: str, scope: ChunkScope, *, is_raw: bool = False, in_order: bool = True
    ) -> None:
        self._vocabulary = vocabulary
        self._store = vocabulary.store
        self._scope = scope
        words = words_of(text)
        if is_raw:
            self._terms = [_Term(word, (word,), 1) for word in words]
            choosing = len(words)
        else:
            forms = {word: forms_of(word) if in_order else [word] for word in words}
            self._terms = sorted(self._terms_of(forms), key=lambda term: term.chunks)[:_MAX_WORDS]
            chunks = accumulate(term.chunks for term in self._terms)
            choosing = max(1, sum(1 for up_to_here in chunks if up_to_here <= _MOST_CHUNKS))
        self._worths = [term.worth for term in self._terms]
        phrases = _phrases(text, {term.word for term in self._terms}) if in_order and not is_raw else []
        self._query = WordQuery(
            rare=_variants(self._terms[:choosing]),
            common=_variants(self._terms[choosing:]),
            phrases=tuple(phrases),
            weights=(1.0, 1.0, 1.0) if is_raw else COLUMN_WEIGHTS,
        )

    def pool(self, limit: int, offset: int = 0) -> list[WordMatch]:
        """Return the best matches, in order."""
        return self._matches(self._scope, limit, offset)

    def matches_of(self, chunk_ids: Iterable[int]) -> list[WordMatch]:
        """Return how these chunks match; those that contain none of the words are left out."""
        ids = frozenset(chunk_ids)
        return self._matches(ChunkScope(chunk_ids=ids), len(ids)) if ids else []

    def _matches(self, scope: ChunkScope, limit: int, offset: int = 0) -> list[WordMatch]:
        if not self._terms:
            return []
        rows = self._store.word_matches(self._query, scope, limit, offset)
        # A few words give only a few patterns, so many rows share one.
        judge = cache(self._judge)
        return [WordMatch(chunk_id, bm25, *judge(matched)) for chunk_id, matched, bm25 in rows]

    def worths(self) -> dict[str, float]:
        """Return how much each word that the index contains counts."""
        return {term.word: worth for term, worth in zip(self._terms, self._worths, strict=True)}

    def counts(self) -> dict[int, int]:
        """Return the number of chunks in each file that contain at least one of the words, by the id of the file."""
        return self._store.count_word_matches(self._query, self._scope) if self._terms else {}

    def contained_in(self, chunk_ids: Collection[int]) -> set[int]:
        """Return which of these chunks contain at least one of the words."""
        if not self._terms or not chunk_ids:
            return set()
        occurrences = sum(term.chunks for term in self._terms)
        return self._store.chunks_with_words(_variants(self._terms), chunk_ids, occurrences)

    def _judge(self, matched: str) -> tuple[int, float, float]:
        """Turn the pattern of matched phrases of a row into its words, coverage and closeness."""
        position, words, found = 0, 0, 0.0
        for number, (term, worth) in enumerate(zip(self._terms, self._worths, strict=True)):
            end = position + len(term.variants)
            if "1" in matched[position:end]:
                words |= 1 << number
                found += worth
            position = end
        phrases = matched[position:]
        # The first phrase is the whole query; pairs of neighbouring words count at most half as much.
        closeness = 1.0 if phrases[:1] == "1" else phrases.count("1") / (2 * max(1, len(phrases) - 1))
        return words, found / sum(self._worths), closeness

    def _terms_of(self, forms: dict[str, list[str]]) -> Iterator[_Term]:
        """Yield each word with its forms that the index contains: the word itself first, then the most common."""
        chunks = self._vocabulary.chunks_with({form for several in forms.values() for form in several})
        for word, several in forms.items():
            known = sorted((form for form in several if chunks[form]), key=lambda f: (f != word, -chunks[f], f))
            if kept := known[:_MAX_VARIANTS]:
                yield _Term(word, tuple(kept), sum(chunks[form] for form in kept))


def _variants(terms: Iterable[_Term]) -> tuple[str, ...]:
    return tuple(variant for term in terms for variant in term.variants)


def _phrases(text: str, terms: set[str]) -> list[str]:
    """Return the whole query as one phrase, and each pair of neighbouring words that are both search terms."""
    words = split_words(text).split()[:_MAX_PHRASE]
    if len(words) < 2:
        return []
    pairs = [f"{first} {second}" for first, second in pairwise(words) if {first, second} <= terms]
    return list(dict.fromkeys([" ".join(words), *pairs]))
