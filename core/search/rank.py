"""Ranking: signals as small pure functions, with their weights in one table.

A candidate starts with its fused rank; each signal multiplies that. Along the ranking, further chunks
of one file count less, and nothing here knows about pages.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from keyhole.core.index.words import split_words, stem
from keyhole.core.search.filters import role_of
from keyhole.core.types import Signal

# How many candidates each way of searching brings in, and the constant of reciprocal-rank fusion.
POOL_SIZE = 200
FUSION_K = 60

WEIGHTS = {
    "defines the name": 2.5,
    "defines a similar name": 0.6,
    "words in definitions": 0.8,
    "words in file name": 0.9,
    "words in folder": 0.25,
    "all words": 0.5,
    "phrase": 0.5,
    "good chunks in file": 0.25,
    "test": -0.45,
    "vendored": -0.5,
    "example": -0.4,
    "locale": -0.6,
    "prose": -0.3,
    "further chunk of file": 0.5,
}


@dataclass(slots=True)
class Candidate:
    """A chunk in the pool, with what the signals look at."""

    chunk_id: int
    file_id: int
    path: str
    language: str
    start_line: int
    end_line: int
    definitions: str
    is_code: bool = True
    lexical_rank: int | None = None
    vector_rank: int | None = None
    has_phrase: bool = False
    coverage: float = 0.0
    symbol_id: int = 0
    score: float = 0.0
    signals: list[Signal] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the query asks for, in the forms that signals compare."""

    words: frozenset[str]
    names: frozenset[str]
    is_identifier: bool
    lexical_weight: float = 1.0
    vector_weight: float = 1.0


Scorer = Callable[[Candidate, Wanted], float]


def rank(candidates: list[Candidate], wanted: Wanted, *, without: frozenset[str] = frozenset()) -> list[Candidate]:
    """Order the pool; `without` leaves signals out, to measure what each is worth."""
    for candidate in candidates:
        candidate.signals = [*_fusion(candidate, wanted)]
        base = sum(signal.effect for signal in candidate.signals)
        boost = 1.0
        for name, scorer in SCORERS.items():
            strength = scorer(candidate, wanted) if name not in without else 0.0
            if strength:
                effect = WEIGHTS[name] * strength
                boost *= 1 + effect
                candidate.signals.append(Signal(name, effect))
        candidate.score = base * boost
    if "good chunks in file" not in without:
        _reward_good_files(candidates)
    return _spread(_in_order(candidates), without)


def _fusion(candidate: Candidate, wanted: Wanted) -> list[Signal]:
    signals = []
    if candidate.lexical_rank is not None:
        effect = wanted.lexical_weight / (FUSION_K + candidate.lexical_rank)
        signals.append(Signal("words", effect, f"rank {candidate.lexical_rank}"))
    if candidate.vector_rank is not None:
        effect = wanted.vector_weight / (FUSION_K + candidate.vector_rank)
        signals.append(Signal("meaning", effect, f"rank {candidate.vector_rank}"))
    return signals


def _defines_name(candidate: Candidate, wanted: Wanted) -> float:
    return float(any(_bare(name) in wanted.names for name in _names(candidate)))


def _defines_similar_name(candidate: Candidate, wanted: Wanted) -> float:
    if not wanted.names or _defines_name(candidate, wanted):
        return 0.0
    names = [_bare(name) for name in _names(candidate)]
    return float(any(asked in name or name in asked for asked in wanted.names for name in names if len(name) > 3))


def _words_in_definitions(candidate: Candidate, wanted: Wanted) -> float:
    """Compare the query's words with the best definition's: how many of either are in both."""
    best = 0.0
    for name in _names(candidate):
        parts = set(split_words(name).split())
        shared = len(parts & wanted.words)
        if shared:
            best = max(best, shared / len(wanted.words) * (shared / len(parts)) ** 0.5)
    return best


def _words_in_file_name(candidate: Candidate, wanted: Wanted) -> float:
    return _shared(PurePosixPath(candidate.path).stem, wanted)


def _words_in_folder(candidate: Candidate, wanted: Wanted) -> float:
    return _shared(PurePosixPath(candidate.path).parent.name, wanted)


def _shared(name: str, wanted: Wanted) -> float:
    parts = set(split_words(name).split())
    hits = sum(1 for part in parts if part in wanted.words or stem(part) in {stem(word) for word in wanted.words})
    return min(1.0, hits / max(1, min(len(wanted.words), len(parts))))


def _all_words(candidate: Candidate, _: Wanted) -> float:
    return candidate.coverage


def _phrase(candidate: Candidate, _: Wanted) -> float:
    return float(candidate.has_phrase)


def _has_role(role: str) -> Scorer:
    return lambda candidate, _: float(role_of(candidate.path) == role)


def _is_prose(candidate: Candidate, _: Wanted) -> float:
    return float(not candidate.is_code)


SCORERS: dict[str, Scorer] = {
    "defines the name": _defines_name,
    "defines a similar name": _defines_similar_name,
    "words in definitions": _words_in_definitions,
    "words in file name": _words_in_file_name,
    "words in folder": _words_in_folder,
    "all words": _all_words,
    "phrase": _phrase,
    "test": _has_role("test"),
    "vendored": _has_role("vendored"),
    "example": _has_role("example"),
    "locale": _has_role("locale"),
    "prose": _is_prose,
}


def _reward_good_files(candidates: list[Candidate]) -> None:
    """Raise the chunks of a file that has several good ones, by what the others add."""
    top = max((candidate.score for candidate in candidates), default=0.0)
    by_file: dict[int, list[float]] = {}
    for candidate in candidates:
        by_file.setdefault(candidate.file_id, []).append(candidate.score)
    sums = {file_id: sum(sorted(scores, reverse=True)[:4]) for file_id, scores in by_file.items()}
    for candidate in candidates:
        others = min(1.0, (sums[candidate.file_id] - candidate.score) / top) if top else 0.0
        if others > 0:
            effect = WEIGHTS["good chunks in file"] * others
            candidate.score *= 1 + effect
            candidate.signals.append(Signal("good chunks in file", effect))


def _spread(ordered: list[Candidate], without: frozenset[str]) -> list[Candidate]:
    """Let further chunks of a file count less, so that the first page shows several files."""
    if "further chunk of file" in without:
        return ordered
    seen: dict[int, int] = {}
    for candidate in ordered:
        count = seen[candidate.file_id] = seen.get(candidate.file_id, -1) + 1
        if count:
            factor = WEIGHTS["further chunk of file"] ** min(count, 3)
            candidate.score *= factor
            candidate.signals.append(Signal("further chunk of file", factor - 1, f"number {count + 1}"))
    return _in_order(ordered)


def _in_order(candidates: list[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: (-round(c.score, 12), c.path, c.start_line, c.chunk_id))


def _names(candidate: Candidate) -> list[str]:
    return [part.split(" ", 1)[-1] for part in candidate.definitions.split(", ")] if candidate.definitions else []


def _bare(name: str) -> str:
    return name.replace("_", "").lower()
