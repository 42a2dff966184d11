"""Ranking: signals are small pure functions, with their weights in one table.

A candidate starts with its fused rank, and each signal multiplies that. After the first chunk of a file, its other
chunks count less. The ranking does not depend on pages.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from math import sqrt
from operator import attrgetter
from typing import NamedTuple, TypeVar

from keyhole.core.index.words import split_words, stem
from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types import Role

# The number of candidates from words and from vectors; further down a list, fusion adds almost nothing.
POOL_SIZE = 120
HYBRID_VECTORS = 64
SEMANTIC_VECTORS = 200
# Reciprocal-rank fusion: a rank adds weight / (K + rank). With vectors the first ranks say the most; with words the
# signals below say more than the rank. Vectors count less if the query is a name, or if a chunk contains the query
# exactly as written.
FUSION_K, VECTOR_K = 60, 10
VECTOR_WEIGHT = 0.54
NAME_VECTOR_WEIGHT = 0.22
AS_WRITTEN = 0.3
# The share of its score that a chunk keeps if it contains no word of the query, however similar it is.
MOST_SIMILAR = 0.49

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
    "fixture": -0.6,
    "vendored": -0.5,
    "built": -0.5,
    "generated": -0.5,
    "data": -0.5,
    "example": -0.4,
    "docs": -0.4,
    "locale": -0.6,
    "prose": -0.3,
    "further chunk of file": 0.9,
}


# The input of a signal: the definitions of a chunk, its path, or the candidate itself.
Judged = TypeVar("Judged")
# Name, effect and detail; they become Signal objects only if the candidate is shown.
Effect = tuple[str, float, str]


@dataclass(slots=True)
class ChunkCandidate:
    """A chunk in the pool, with the input of the signals."""

    chunk_id: int
    file_id: int
    path: str
    language: str
    start_line: int
    end_line: int
    definitions: str
    role: str = Role.SOURCE
    lexical_rank: int | None = None
    vector_rank: int | None = None
    closeness: float = 0.0
    coverage: float = 0.0
    in_owner: bool = False
    # It defines what the query names by owner and name, such as `queryset filter`.
    is_named_member: bool = False
    # Found by meaning alone: it contains no word of the query.
    is_similar: bool = False
    symbol_id: int = 0
    # The symbol has the name in the query, ignoring case and underscores.
    has_the_name: bool = False
    score: float = 0.0
    # The score as a share of the best one's, as it is shown.
    relative_score: float = 0.0
    signals: list[Effect] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The query in the forms that signals compare."""

    words: frozenset[str]
    stems: frozenset[str]
    names: frozenset[str]
    # Parts of the query in quotes.
    texts: tuple[str, ...] = ()
    lexical_weight: float = 1.0
    vector_weight: float = 1.0


def rank(
    candidates: list[ChunkCandidate], wanted: Wanted, *, without: frozenset[str] = frozenset()
) -> list[ChunkCandidate]:
    """Order the pool; `without` disables signals, to measure the value of each."""
    # Later sorts are stable, so this order decides between equal scores.
    candidates = sorted(candidates, key=attrgetter("path", "start_line", "chunk_id"))
    # Many candidates share a path or define nothing, so the results are cached.
    of_definitions = cache(_applied(DEFINITION_SIGNALS, wanted, without))
    of_path = cache(_applied(PATH_SIGNALS, wanted, without))
    of_role = cache(_applied(ROLE_SIGNALS, wanted, without))
    of_match = _applied(MATCH_SIGNALS, wanted, without)
    is_as_written = any(candidate.closeness == candidate.coverage == 1 for candidate in candidates)
    vector_weight = wanted.vector_weight * (AS_WRITTEN if is_as_written else 1)
    for candidate in candidates:
        fused = _fusion(candidate, wanted.lexical_weight, vector_weight)
        by_definitions, defining = of_definitions(candidate.definitions)
        by_path, placed = of_path(candidate.path)
        by_role, role = of_role(candidate.role)
        by_match, matched = of_match(candidate)
        candidate.score = sum(effect for _, effect, _ in fused) * by_definitions * by_path * by_role * by_match
        candidate.signals = fused + defining + placed + role + matched
    if "good chunks in file" not in without:
        _reward_good_files(candidates)
    if "further chunk of file" not in without:
        _spread(_in_order(candidates))
    for candidate in candidates:
        if candidate.is_similar:
            candidate.score *= MOST_SIMILAR
            candidate.signals.append(("similar only", MOST_SIMILAR - 1, "contains no word of the query"))
    _put_members_first(candidates)
    return _in_order(candidates)


def _applied(
    signals: dict[str, Callable[[Judged, Wanted], float]], wanted: Wanted, without: frozenset[str]
) -> Callable[[Judged], tuple[float, list[Effect]]]:
    """Return a function that gives the factor for a score, and the signals behind it."""
    weighted = [(name, WEIGHTS[name], strength_of) for name, strength_of in signals.items() if name not in without]

    def judge(thing: Judged) -> tuple[float, list[Effect]]:
        factor, effects = 1.0, []
        for name, weight, strength_of in weighted:
            if strength := strength_of(thing, wanted):
                factor *= 1 + weight * strength
                effects.append((name, weight * strength, ""))
        return factor, effects

    return judge


def _fusion(candidate: ChunkCandidate, lexical_weight: float, vector_weight: float) -> list[Effect]:
    signals = []
    if candidate.lexical_rank is not None:
        effect = lexical_weight / (FUSION_K + candidate.lexical_rank)
        signals.append(("words", effect, f"rank {candidate.lexical_rank}"))
    if candidate.vector_rank is not None:
        effect = vector_weight / (VECTOR_K + candidate.vector_rank)
        signals.append(("meaning", effect, f"rank {candidate.vector_rank}"))
    return signals


def _defines_name(definitions: str, wanted: Wanted) -> float:
    return float(not wanted.names.isdisjoint(_definitions(definitions).names))


def _defines_similar_name(definitions: str, wanted: Wanted) -> float:
    if not wanted.names:
        return 0.0
    names = [name for name in _definitions(definitions).names if len(name) > 3]
    if not wanted.names.isdisjoint(names):
        return 0.0
    return float(any(asked in name or name in asked for asked in wanted.names for name in names))


def _words_in_definitions(definitions: str, wanted: Wanted) -> float:
    """Return how well the words of the best definition match the words of the query."""
    defined = _definitions(definitions)
    if wanted.words.isdisjoint(defined.words):
        return 0.0
    shares = ((len(words & wanted.words), len(words)) for words in defined.words_of_each)
    return max(shared / len(wanted.words) * sqrt(shared / count) for shared, count in shares if shared)


def _words_in_file_name(path: str, wanted: Wanted) -> float:
    return _shared(_path_stems(path)[0], wanted)


def _words_in_folder(path: str, wanted: Wanted) -> float:
    return _shared(_path_stems(path)[1], wanted)


def _shared(stems: frozenset[str], wanted: Wanted) -> float:
    shared = len(stems & wanted.stems)
    return min(1.0, shared / max(1, min(len(wanted.words), len(stems)))) if shared else 0.0


def _has_role(role: str) -> Callable[[str, Wanted], float]:
    return lambda found, _: float(found == role)


# The signals by their input: the definitions in a chunk, its path, the role of its file, or how the query matched it.
DEFINITION_SIGNALS: dict[str, Callable[[str, Wanted], float]] = {
    "defines the name": _defines_name,
    "defines a similar name": _defines_similar_name,
    "words in definitions": _words_in_definitions,
}
PATH_SIGNALS: dict[str, Callable[[str, Wanted], float]] = {
    "words in file name": _words_in_file_name,
    "words in folder": _words_in_folder,
}
ROLE_SIGNALS: dict[str, Callable[[str, Wanted], float]] = {
    role.value: _has_role(role.value) for role in Role if role.value in WEIGHTS
}
MATCH_SIGNALS: dict[str, Callable[[ChunkCandidate, Wanted], float]] = {
    "defines it in the named owner": lambda candidate, _: float(candidate.in_owner),
    "all words": lambda candidate, _: candidate.coverage,
    "phrase": lambda candidate, _: candidate.closeness,
    "prose": lambda candidate, _: float(not BY_ID[candidate.language].is_code),
}


def _put_members_first(candidates: list[ChunkCandidate]) -> None:
    """Raise what the query names by owner and name above everything else."""
    top = max((candidate.score for candidate in candidates), default=0.0)
    for candidate in candidates:
        if candidate.is_named_member:
            candidate.score += top
            candidate.signals.append(("is the member asked for", top, ""))


def _reward_good_files(candidates: list[ChunkCandidate]) -> None:
    """Raise the scores of the chunks of a file that has several good ones."""
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


def _spread(ordered: list[ChunkCandidate]) -> None:
    """Lower the scores of further chunks of a file, so that the first page shows several files."""
    seen: dict[int, int] = {}
    for candidate in ordered:
        count = seen[candidate.file_id] = seen.get(candidate.file_id, -1) + 1
        if count:
            factor = WEIGHTS["further chunk of file"] ** min(count, 3)
            candidate.score *= factor
            candidate.signals.append(("further chunk of file", factor - 1, f"number {count + 1}"))


def _in_order(candidates: list[ChunkCandidate]) -> list[ChunkCandidate]:
    return sorted(candidates, key=lambda candidate: -round(candidate.score, 12))


class _Definitions(NamedTuple):
    """The names that a chunk defines, as letters only, and their words: of all names together and of each."""

    names: frozenset[str]
    words: frozenset[str]
    words_of_each: tuple[frozenset[str], ...]


@lru_cache(maxsize=50_000)
def _definitions(definitions: str) -> _Definitions:
    names = [part.split(" ", 1)[-1] for part in definitions.split(", ")] if definitions else []
    words = tuple(frozenset(split_words(name).split()) for name in names)
    return _Definitions(frozenset(map(letters_of, names)), frozenset().union(*words), words)


@lru_cache(maxsize=50_000)
def _path_stems(path: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems of the words in the names of a file and of its folder."""
    folder, _, name = path.rpartition("/")
    stem_words = split_words(name.rpartition(".")[0] or name).split()
    return frozenset(map(stem, stem_words)), frozenset(map(stem, split_words(folder.rpartition("/")[2]).split()))


def letters_of(name: str) -> str:
    """Return a name in lower case without underscores, so that all its spellings are equal."""
    return name.replace("_", "").lower()
