"""Ranking: signals as small pure functions, with their weights in one table.

A candidate starts with its fused rank; each signal multiplies that. Along the ranking, further chunks
of one file count less, and nothing here knows about pages.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from keyhole.core.index.words import split_words, stem
from keyhole.core.search.filters import role_of

# How many candidates each way of searching brings in, and the constant of reciprocal-rank fusion.
POOL_SIZE = 200
FUSION_K = 60

WEIGHTS = {
    "defines the name": 2.5,
    "defines it in the named owner": 1.5,
    "defines a similar name": 0.3,
    "words in definitions": 0.3,
    "words in file name": 0.9,
    "words in folder": 0.25,
    "all words": 2.0,
    "phrase": 2.0,
    "good chunks in file": 0.2,
    "test": -0.6,
    "vendored": -0.5,
    "example": -0.4,
    "locale": -0.6,
    "prose": -0.3,
    "further chunk of file": 0.9,
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
    closeness: float = 0.0
    coverage: float = 0.0
    in_owner: bool = False
    symbol_id: int = 0
    score: float = 0.0
    # Name, effect and detail; they become signals only when the candidate is shown.
    signals: list[tuple[str, float, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the query asks for, in the forms that signals compare."""

    words: frozenset[str]
    stems: frozenset[str]
    names: frozenset[str]
    lexical_weight: float = 1.0
    vector_weight: float = 1.0


Scorer = Callable[[Candidate, Wanted], float]


def rank(candidates: list[Candidate], wanted: Wanted, *, without: frozenset[str] = frozenset()) -> list[Candidate]:
    """Order the pool; `without` leaves signals out, to measure what each is worth."""
    scorers = [(name, WEIGHTS[name], scorer) for name, scorer in SCORERS.items() if name not in without]
    for candidate in candidates:
        candidate.signals = _fusion(candidate, wanted)
        score = sum(effect for _, effect, _ in candidate.signals)
        for name, weight, scorer in scorers:
            if strength := scorer(candidate, wanted):
                score *= 1 + weight * strength
                candidate.signals.append((name, weight * strength, ""))
        role = role_of(candidate.path)
        if role in WEIGHTS and role not in without:
            score *= 1 + WEIGHTS[role]
            candidate.signals.append((role, WEIGHTS[role], ""))
        candidate.score = score
    if "good chunks in file" not in without:
        _reward_good_files(candidates)
    return _spread(_in_order(candidates), without)


def _fusion(candidate: Candidate, wanted: Wanted) -> list[tuple[str, float, str]]:
    signals = []
    if candidate.lexical_rank is not None:
        effect = wanted.lexical_weight / (FUSION_K + candidate.lexical_rank)
        signals.append(("words", effect, f"rank {candidate.lexical_rank}"))
    if candidate.vector_rank is not None:
        effect = wanted.vector_weight / (FUSION_K + candidate.vector_rank)
        signals.append(("meaning", effect, f"rank {candidate.vector_rank}"))
    return signals


def _defines_name(candidate: Candidate, wanted: Wanted) -> float:
    return float(any(name in wanted.names for name, _ in _definitions(candidate.definitions)))


def _defines_similar_name(candidate: Candidate, wanted: Wanted) -> float:
    names = [name for name, _ in _definitions(candidate.definitions) if len(name) > 3]
    if not wanted.names or not wanted.names.isdisjoint(names):
        return 0.0
    return float(any(asked in name or name in asked for asked in wanted.names for name in names))


def _words_in_definitions(candidate: Candidate, wanted: Wanted) -> float:
    """Compare the query's words with the best definition's: how many of either are in both."""
    best = 0.0
    for _, parts in _definitions(candidate.definitions):
        if shared := len(parts & wanted.words):
            best = max(best, shared / len(wanted.words) * (shared / len(parts)) ** 0.5)
    return best


def _words_in_file_name(candidate: Candidate, wanted: Wanted) -> float:
    return _shared(_path_stems(candidate.path)[0], wanted)


def _words_in_folder(candidate: Candidate, wanted: Wanted) -> float:
    return _shared(_path_stems(candidate.path)[1], wanted)


def _shared(stems: frozenset[str], wanted: Wanted) -> float:
    shared = len(stems & wanted.stems)
    return min(1.0, shared / max(1, min(len(wanted.words), len(stems)))) if shared else 0.0


def _all_words(candidate: Candidate, _: Wanted) -> float:
    return candidate.coverage


def _phrase(candidate: Candidate, _: Wanted) -> float:
    return candidate.closeness


def _is_prose(candidate: Candidate, _: Wanted) -> float:
    return float(not candidate.is_code)


SCORERS: dict[str, Scorer] = {
    "defines the name": _defines_name,
    "defines it in the named owner": lambda candidate, _: float(candidate.in_owner),
    "defines a similar name": _defines_similar_name,
    "words in definitions": _words_in_definitions,
    "words in file name": _words_in_file_name,
    "words in folder": _words_in_folder,
    "all words": _all_words,
    "phrase": _phrase,
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
            candidate.signals.append(("good chunks in file", effect, ""))


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
            candidate.signals.append(("further chunk of file", factor - 1, f"number {count + 1}"))
    return _in_order(ordered)


def _in_order(candidates: list[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: (-round(c.score, 12), c.path, c.start_line, c.chunk_id))


@lru_cache(maxsize=50_000)
def _definitions(definitions: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return each defined name, as letters only and as words."""
    names = [part.split(" ", 1)[-1] for part in definitions.split(", ")] if definitions else []
    return tuple((letters_of(name), frozenset(split_words(name).split())) for name in names)


@lru_cache(maxsize=50_000)
def _path_stems(path: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems of the words in a file's name and in its folder's."""
    folder, _, name = path.rpartition("/")
    stem_words = split_words(name.rpartition(".")[0] or name).split()
    return frozenset(map(stem, stem_words)), frozenset(map(stem, split_words(folder.rpartition("/")[2]).split()))


def letters_of(name: str) -> str:
    """Write a name as its letters only, so that all spellings of it are one."""
    return name.replace("_", "").lower()
