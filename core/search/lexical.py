"""Candidates by words: BM25 over path, definitions and content."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise

from keyhole.core.index.store import Store
from keyhole.core.index.words import forms_of, split_words
from keyhole.core.search.filters import Filter
from keyhole.core.search.query import words_of
from keyhole.core.search.remembered import Remembered

# What a word counts in the path, among the definitions, and in the text of a chunk.
COLUMN_WEIGHTS = (1.0, 2.0, 1.0)
_MAX_WORDS = 10
_MAX_VARIANTS = 4
_MAX_PHRASE = 10
# Scoring a chunk is what costs, so only the rarest words choose chunks, up to so many; commoner words
# still count in the chunks chosen.
_MOST_CHUNKS = 1_000
_MOST_REMEMBERED = 100_000


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

    word: str
    variants: tuple[str, ...]
    chunks: int


class Vocabulary:
    """In how many chunks a word stands, remembered until the index changes: queries grow word by word."""

    def __init__(self, store: Store, remembered: Remembered[dict[str, int]]) -> None:
        self.store = store
        self._remembered = remembered

    def chunks_with(self, words: set[str]) -> dict[str, int]:
        """Count the chunks of each word; 0 for one that is not there."""
        generation = self.store.meta("generation", 0)
        chunks = self._remembered.get(generation)
        if chunks is None or len(chunks) > _MOST_REMEMBERED:
            chunks = self._remembered.put(generation, {})
        if new := {word for word in words if word not in chunks}:
            rows = self.store.query(
                "SELECT term, doc FROM json_each(?) JOIN vocabulary ON term = value", json.dumps(sorted(new))
            )
            chunks |= dict.fromkeys(new, 0) | dict(rows)
        return chunks


class WordSearch:
    """One query's words, matched against the index; `in_order` tells whether other forms and phrases make sense."""

    def __init__(
        self, vocabulary: Vocabulary, text: str, admitted: Filter, *, is_raw: bool = False, in_order: bool = True
    ) -> None:
        self._vocabulary = vocabulary
        self._store = vocabulary.store
        self._filter = admitted
        words = words_of(text)
        if is_raw:
            self._terms = [_Term(word, (word,), 1) for word in words]
            self._choosing = len(words)
        else:
            forms = {word: forms_of(word) if in_order else [word] for word in words}
            self._terms = sorted(self._terms_of(forms), key=lambda term: term.chunks)[:_MAX_WORDS]
            chunks = accumulate(term.chunks for term in self._terms)
            self._choosing = max(1, sum(1 for up_to_here in chunks if up_to_here <= _MOST_CHUNKS))
        self._phrases = _phrases(text, {term.word for term in self._terms}) if in_order and not is_raw else []
        self._weights = "1.0, 1.0, 1.0" if is_raw else ", ".join(map(str, COLUMN_WEIGHTS))

    def pool(self, limit: int, offset: int = 0) -> list[WordMatch]:
        """Return the best matches, in order."""
        if not self._terms:
            return []
        source, values = self._source()
        rows = self._store.query(
            f"SELECT chunk_words.rowid, matched_phrases(chunk_words, ?) FROM {source}"  # noqa: S608
            f" AND rank MATCH 'bm25({self._weights})' ORDER BY rank LIMIT ? OFFSET ?",
            self._repeated,
            *values,
            limit,
            offset,
        )
        # Few words make few patterns, which many rows share.
        judge = cache(self._judge)
        return [WordMatch(chunk_id, *judge(matched)) for chunk_id, matched in rows]

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
        """Write the query for FTS5, which has no optional words: what is common is asked for beside what is rare."""
        rare, common = self._terms[: self._choosing], self._terms[self._choosing :]
        chosen = _any_of([variant for term in rare for variant in term.variants])
        counted = _any_of([variant for term in common for variant in term.variants])
        parts = [chosen, *([f"({chosen}) AND ({counted})"] if common else []), _any_of(self._phrases)]
        return " OR ".join(f"({part})" for part in parts if part)

    @property
    def _repeated(self) -> int:
        """How many words stand twice in the expression: those that are asked for beside common ones."""
        if self._choosing == len(self._terms):
            return 0
        return sum(len(term.variants) for term in self._terms[: self._choosing])

    def _judge(self, matched: str) -> tuple[float, float]:
        """Turn the pattern of phrases that a row has into its coverage and closeness."""
        position, found, total = 0, 0.0, 0.0
        for term in self._terms:
            worth = 1 / (1 + term.chunks) ** 0.25
            total += worth
            end = position + len(term.variants)
            found += worth if "1" in matched[position:end] else 0.0
            position = end
        phrases = matched[position:]
        closeness = 1.0 if phrases[:1] == "1" else phrases.count("1") / (2 * max(1, len(phrases) - 1))
        return found / total, closeness

    def _terms_of(self, forms: dict[str, list[str]]) -> Iterator[_Term]:
        """Find the forms of each word that the index has, the word itself first and then the commonest."""
        chunks = self._vocabulary.chunks_with({form for several in forms.values() for form in several})
        for word, several in forms.items():
            known = sorted((form for form in several if chunks[form]), key=lambda f: (f != word, -chunks[f], f))
            if kept := known[:_MAX_VARIANTS]:
                yield _Term(word, tuple(kept), sum(chunks[form] for form in kept))


def _any_of(texts: list[str]) -> str:
    return " OR ".join(f'"{text}"' for text in texts)


def _phrases(text: str, telling: set[str]) -> list[str]:
    """Return the whole query as one phrase, and each pair of neighbours that are both worth looking for."""
    words = split_words(text).split()[:_MAX_PHRASE]
    if len(words) < 2:
        return []
    pairs = [f"{first} {second}" for first, second in pairwise(words) if {first, second} <= telling]
    return list(dict.fromkeys([" ".join(words), *pairs]))
