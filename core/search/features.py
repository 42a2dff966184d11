"""Features: what is measured of each candidate, from 0 to about 1. Their weights are learnt (core/search/weights.py).

A feature of a file is the same for all its chunks. Shares compare a candidate with the best of its pool, so that a
weight means the same for every query.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from heapq import nlargest
from math import log2, sqrt
from operator import mul
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from keyhole.core.index.single_threaded import load_numpy
from keyhole.core.index.words import split_words, stem
from keyhole.core.search.query import letters_of
from keyhole.core.search.wanted import Wanted
from keyhole.core.types.choices import Role

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    # One feature of all candidates.
    Feature = NDArray[np.float64] | list[float]

# Files that stand for their folder.
FOLDER_FILES = frozenset(["__init__", "index", "mod", "lib", "main", "package-info", "init"])
TYPES = frozenset(
    [
        "class",
        "struct",
        "trait",
        "interface",
        "type",
        "enum",
        "module",
        "namespace",
        "protocol",
        "record",
        "object",
        "union",
        "concept",
        "delegate",
    ]
)
FUNCTIONS = frozenset(["function", "macro"])
# Names and words shorter than this are too common to match by their start.
_SHORTEST_START = 4
_BY_START = 0.6
# So many places in a file show what it is about.
_BEST_PLACES = 3
# The roles that rank behind code of equal fit, unless the query asks for them.
ROLES = tuple(role.value for role in Role if role != Role.SOURCE)


# Name, effect and detail; they become Signal objects only if the candidate is shown.
Effect = tuple[str, float, str]


@dataclass(slots=True)
class ChunkCandidate:
    """A chunk in the pool, with the input of the features."""

    chunk_id: int
    file_id: int
    path: str
    language: str
    start_line: int
    end_line: int
    definitions: str
    file_lines: int = 0
    role: Role = Role.SOURCE
    # How well it matches by words: BM25, its rank, and the words it contains as bits.
    bm25: float = 0.0
    lexical_rank: int | None = None
    matched: int = 0
    coverage: float = 0.0
    closeness: float = 0.0
    # How similar it is in meaning: as a whole, word by word, and its file.
    vector_rank: int | None = None
    cosine: float = 0.0
    max_sim: float = 0.0
    file_cosine: float = 0.0
    file_fit: float = 0.0
    in_owner: bool = False
    # It has the lines of what it defines, not a declaration only.
    has_body: bool = False
    # It defines what the query names by owner and name, such as `queryset filter`.
    is_named_member: bool = False
    # Found by meaning alone: it contains no word of the query.
    is_similar: bool = False
    symbol_id: int = 0
    # The symbol has the name in the query, ignoring case and underscores.
    has_the_name: bool = False
    features: Sequence[float] = ()
    weights: Sequence[float] = ()
    score: float = 0.0
    # The score as a share of the best one's, as it is shown.
    relative_score: float = 0.0
    # What else raised or lowered the score: name, effect and detail.
    signals: list[Effect] = field(default_factory=list)

    def shares(self) -> list[Effect]:
        """Return everything that the score is made of."""
        shares = zip(_SHOWN, map(mul, self.features, self.weights), strict=False)
        return [*((name, share, "") for name, share in shares if share), *self.signals]


# All features in the order of a row, by the words that `explain` shows.
MATCH_FEATURES = (
    "fits by words",
    "rank by words",
    "contains the words",
    "contains the query as a phrase",
    "fits by meaning",
    "rank by meaning",
    "contains words of the same meaning",
    "contains no word of the query",
)
FILE_FEATURES = (
    "its file's outline fits by words",
    "its file's outline fits by meaning",
    "its file contains the words",
    "other good places in its file",
    "the best places in its file fit by meaning",
    "long file",
)
PATH_FEATURES = ("file name is in the query", "words are in the path", "file has the name asked for", "deep folder")
DEFINITION_FEATURES = (
    "defines a type of that name",
    "defines a function of that name",
    "defines a member of that name",
    "defines the name in another spelling",
    "defines a similar name",
    "words are in the name of a definition",
)
OTHER_FEATURES = ("in the named owner", "the definition has a body", "starts the file", "covers many lines")
FEATURES = (
    *MATCH_FEATURES,
    *FILE_FEATURES,
    *PATH_FEATURES,
    *DEFINITION_FEATURES,
    *OTHER_FEATURES,
    *ROLES,
)
# The same as `explain` shows them.
_SHOWN = (*FEATURES[: -len(ROLES)], *(f"role: {role}" for role in ROLES))


# What a search by words alone knows nothing of.
MEANING_FEATURES = (
    "fits by meaning",
    "rank by meaning",
    "contains words of the same meaning",
    "its file's outline fits by meaning",
    "the best places in its file fit by meaning",
)


def measure(candidates: Sequence[ChunkCandidate], wanted: Wanted) -> "NDArray[np.float64]":
    """Return a row of features for each candidate."""
    load_numpy()
    import numpy as np

    if not candidates:
        return np.zeros((0, len(FEATURES)))
    names = _NameFeatures(wanted)
    # Measured feature by feature: numpy adds up one feature of all candidates at once.
    return np.column_stack(
        [
            *_match_features(candidates),
            *_file_features(candidates, wanted),
            # Many candidates share a path or define nothing.
            _rows_of([candidate.path for candidate in candidates], names.of_path),
            _rows_of([candidate.definitions for candidate in candidates], names.of_definitions),
            [candidate.in_owner for candidate in candidates],
            [candidate.has_body for candidate in candidates],
            [candidate.start_line == 1 for candidate in candidates],
            [log2(2 + candidate.end_line - candidate.start_line) / 10 for candidate in candidates],
            _rows_of([candidate.role for candidate in candidates], lambda role: _role_features(role, wanted)),
        ]
    )


def _rows_of(values: Sequence[str], measured: Callable[[str], Sequence[float]]) -> "NDArray[np.float64]":
    """Return a row of features for each value; equal values are measured once."""
    import numpy as np

    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return np.array([measured(value) for value in numbers])[[numbers[value] for value in values]]


def _match_features(candidates: Sequence[ChunkCandidate]) -> "list[Feature]":
    return [
        _shares([candidate.bm25 for candidate in candidates]),
        _by_rank(candidate.lexical_rank for candidate in candidates),
        [candidate.coverage for candidate in candidates],
        [candidate.closeness for candidate in candidates],
        _shares([candidate.cosine for candidate in candidates]),
        _by_rank(candidate.vector_rank for candidate in candidates),
        _shares([candidate.max_sim for candidate in candidates]),
        [candidate.is_similar for candidate in candidates],
    ]


def _shares(values: Sequence[float]) -> "Feature":
    """Return each value as a share of the best one; values below 0 count as 0."""
    import numpy as np

    shares: NDArray[np.float64] = np.maximum(values, 0) / (max(values) or 1.0)
    return shares


def _by_rank(ranks: Iterable[int | None]) -> list[float]:
    """Return 1 for the first, one half for the tenth, and 0 for what has no rank."""
    return [0.0 if rank is None else 10 / (9 + rank) for rank in ranks]


def _file_features(candidates: Sequence[ChunkCandidate], wanted: Wanted) -> "list[Feature]":
    """Return what the candidates of each file are together."""
    best = max(candidate.bm25 for candidate in candidates) or 1.0
    fits = [candidate.bm25 / best for candidate in candidates]
    words: dict[int, int] = {}
    sums: dict[int, float] = {}
    similarities: dict[int, list[float]] = {}
    similar = _shares([candidate.cosine for candidate in candidates])
    for candidate, fit, similarity in zip(candidates, fits, similar, strict=True):
        file_id = candidate.file_id
        words[file_id] = words.get(file_id, 0) | candidate.matched
        sums[file_id] = sums.get(file_id, 0.0) + fit
        similarities.setdefault(file_id, []).append(float(similarity))
    best_places = {
        file_id: sum(nlargest(_BEST_PLACES, found)) / _BEST_PLACES for file_id, found in similarities.items()
    }
    worth = cache(lambda matched: sum(worth for bit, worth in enumerate(wanted.by_bit) if matched >> bit & 1))
    return [
        _shares([candidate.file_fit for candidate in candidates]),
        _shares([candidate.file_cosine for candidate in candidates]),
        [worth(words[candidate.file_id]) for candidate in candidates],
        [log2(1 + sums[candidate.file_id] - fit) / 3 for candidate, fit in zip(candidates, fits, strict=True)],
        [best_places[candidate.file_id] for candidate in candidates],
        [log2(1 + candidate.file_lines) / 10 for candidate in candidates],
    ]


def _role_features(role: str, wanted: Wanted) -> list[float]:
    return [float(role == name and name not in wanted.roles) for name in ROLES]


_NOTHING_DEFINED = (0.0,) * len(DEFINITION_FEATURES)


class _NameFeatures:
    """Compares the names in paths and definitions with a query.

    Most names have nothing in common with it, which is found out first.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        # Those that the index contains first, as in `worths`.
        self._words = (*wanted.worths, *wanted.stems.difference(wanted.worths))
        self._starts = {word[:_SHORTEST_START] for word in self._words}
        self._asked = (wanted.names | {wanted.spelled}) - {""}
        # A definition without any of these, and without a similar name, is not asked for.
        self._marks = {*wanted.written, *self._asked, *wanted.worths}
        self._share = cache(self._share_of_words)
        self._of_part = cache(lambda part: tuple(_likeness(part, word) for word in self._words))

    def of_path(self, path: str) -> tuple[float, ...]:
        """Return the features of a path."""
        letters, name, folders, starts = _path_words(path)
        is_the_name = letters in self._wanted.names or (letters == self._wanted.spelled != "")
        in_name = in_path = 0.0
        if not starts.isdisjoint(self._starts):
            in_name = sum(max(self._of_part(part), default=0.0) for part in name) / max(1, len(name))
            best = map(max, zip(*map(self._of_part, (*name, *folders)), strict=True))
            in_path = sum(worth * likeness for worth, likeness in zip(self._wanted.worths.values(), best, strict=False))
        return in_name, in_path, float(is_the_name), path.count("/") / 10

    def of_definitions(self, definitions: str) -> tuple[float, ...]:
        """Return the features of what a chunk defines."""
        found, wanted = _definitions(definitions), self._wanted
        is_similar = any(found.has_similar(name) for name in wanted.names)
        if not is_similar and found.marks.isdisjoint(self._marks):
            return _NOTHING_DEFINED
        as_written = {_group(one.kind) for one in found.each if one.name in wanted.written}
        is_spelled = not as_written and any(one.letters in self._asked for one in found.each)
        return (
            float("type" in as_written),
            float("function" in as_written and "type" not in as_written),
            float(as_written == {"member"}),
            float(is_spelled),
            float(is_similar and not as_written and not is_spelled),
            max(map(self._share, {one.words for one in found.each}), default=0.0),
        )

    def _share_of_words(self, words: frozenset[str]) -> float:
        """Return how well the words of a definition match those of the query, rare ones first."""
        if words.isdisjoint(self._wanted.worths):
            return 0.0
        shared = [worth for word, worth in self._wanted.worths.items() if word in words]
        return sum(shared) * sqrt(len(shared) / len(words))


def _likeness(part: str, word: str) -> float:
    """Return how well a part of a path matches a word of the query; `lock` is the start of `lockfile`."""
    if part == word:
        return 1.0
    shorter, longer = sorted((part, word), key=len)
    return _BY_START if len(shorter) >= _SHORTEST_START and longer.startswith(shorter) else 0.0


def _group(kind: str) -> str:
    return "type" if kind in TYPES else "function" if kind in FUNCTIONS else "member"


class _Definition(NamedTuple):
    kind: str
    name: str
    letters: str
    words: frozenset[str]


class _Definitions(NamedTuple):
    """What a chunk defines: each definition, the letters of the longer names, and the names, letters and words of all.

    The letters are a list and, separated by spaces, a text, because `in` is fast.
    """

    each: tuple[_Definition, ...]
    letters: list[str]
    text: str
    marks: frozenset[str]

    def has_similar(self, letters: str) -> bool:
        """Return whether a longer name contains these letters, or is a part of them."""
        return letters != "" and (letters in self.text or any(map(letters.__contains__, self.letters)))


@lru_cache(maxsize=50_000)
def _definitions(definitions: str) -> _Definitions:
    parts = (part.partition(" ") for part in definitions.split(", ")) if definitions else ()
    each = tuple(
        _Definition(kind, name, letters_of(name), frozenset(map(stem, _parts_of(name)))) for kind, _, name in parts
    )
    letters = [one.letters for one in each if len(one.letters) >= _SHORTEST_START]
    marks = frozenset(mark for one in each for mark in (one.name, one.letters, *one.words))
    return _Definitions(each, letters, " ".join(letters), marks)


@lru_cache(maxsize=50_000)
def _path_words(path: str) -> tuple[str, tuple[str, ...], tuple[str, ...], frozenset[str]]:
    """Return the name of a file as letters, and the stems of the words in it and in its folders, with their starts.

    Some files stand for their folder.
    """
    place = PurePosixPath(path)
    folders = [folder.name for folder in reversed(place.parents) if folder.name]
    name = place.name.split(".")[0] or place.name
    if name.lower() in FOLDER_FILES and folders:
        name = folders.pop()
    parts = _parts_of(name)
    in_folders = tuple(stem(word) for folder in folders for word in _parts_of(folder))
    in_name = tuple(map(stem, parts))
    return "".join(parts), in_name, in_folders, frozenset(word[:_SHORTEST_START] for word in (*in_name, *in_folders))


def _parts_of(name: str) -> list[str]:
    """Return the words of a name, without the joined whole that is indexed too."""
    words = split_words(name).split()
    return words[:-1] if len(words) > 2 and words[-1] == "".join(words[:-1]) else words
