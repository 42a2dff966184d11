"""Features: what is measured of each candidate, from 0 to about 1. Their weights are learnt (core/search/weights.py).

A feature of a file is the same for all its chunks. Shares compare a candidate with the best of its pool, so that a
weight means the same for every query.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from math import log2, sqrt
from pathlib import PurePosixPath
from typing import NamedTuple

from keyhole.core.index.words import split_words, stem
from keyhole.core.search.query import letters_of
from keyhole.core.search.wanted import Wanted
from keyhole.core.types.choices import Role

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
        weighted = zip(FEATURES, self.features, self.weights, strict=True) if self.features else ()
        shares = ((name, value * weight) for name, value, weight in weighted if value * weight)
        return [*((f"role: {name}" if name in ROLES else name, share, "") for name, share in shares), *self.signals]


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
OTHER_FEATURES = ("in the named owner", "the definition has a body", "starts the file")
FEATURES = (
    *MATCH_FEATURES,
    *FILE_FEATURES,
    *PATH_FEATURES,
    *DEFINITION_FEATURES,
    *OTHER_FEATURES,
    *ROLES,
)


# What a search by words alone knows nothing of.
MEANING_FEATURES = (
    "fits by meaning",
    "rank by meaning",
    "contains words of the same meaning",
    "its file's outline fits by meaning",
)


def measure(candidates: Sequence[ChunkCandidate], wanted: Wanted) -> list[list[float]]:
    """Return a row of features for each candidate."""
    # Many candidates share a path or define nothing.
    of_part = cache(lambda part: _likenesses(part, wanted))
    of_path = cache(lambda path: _path_features(path, wanted, of_part))
    of_definitions = cache(lambda definitions: _definition_features(definitions, wanted))
    best = _Best.of(candidates)
    in_files = _Files(candidates, wanted, best)
    return [
        [
            *_match_features(candidate, best),
            *in_files.features(candidate, best),
            *of_path(candidate.path),
            *of_definitions(candidate.definitions),
            float(candidate.in_owner),
            float(candidate.has_body),
            float(candidate.start_line == 1),
            *_role_features(candidate, wanted),
        ]
        for candidate in candidates
    ]


class _Best(NamedTuple):
    """The best values in a pool, by which others are divided; never 0."""

    bm25: float
    cosine: float
    max_sim: float
    file_fit: float
    file_cosine: float

    @classmethod
    def of(cls, candidates: Iterable[ChunkCandidate]) -> "_Best":
        values = [tuple(getattr(candidate, name) for name in cls._fields) for candidate in candidates]
        return cls(*(max(column) or 1.0 for column in zip(*values, strict=True))) if values else cls(1, 1, 1, 1, 1)


def _match_features(candidate: ChunkCandidate, best: _Best) -> list[float]:
    return [
        candidate.bm25 / best.bm25,
        _by_rank(candidate.lexical_rank),
        candidate.coverage,
        candidate.closeness,
        max(0.0, candidate.cosine) / best.cosine,
        _by_rank(candidate.vector_rank),
        max(0.0, candidate.max_sim) / best.max_sim,
        float(candidate.is_similar),
    ]


def _by_rank(rank: int | None) -> float:
    """Return 1 for the first, one half for the tenth, and 0 for what has no rank."""
    return 0.0 if rank is None else 10 / (9 + rank)


class _Files:
    """What the candidates of each file are together."""

    def __init__(self, candidates: Iterable[ChunkCandidate], wanted: Wanted, best: _Best) -> None:
        self._words: dict[int, int] = {}
        self._sums: dict[int, float] = {}
        for candidate in candidates:
            file_id = candidate.file_id
            self._words[file_id] = self._words.get(file_id, 0) | candidate.matched
            self._sums[file_id] = self._sums.get(file_id, 0.0) + _fit(candidate, best)
        self._worths = wanted.by_bit

    def features(self, candidate: ChunkCandidate, best: _Best) -> list[float]:
        """Return the features of a candidate's file."""
        file_id = candidate.file_id
        return [
            candidate.file_fit / best.file_fit,
            max(0.0, candidate.file_cosine) / best.file_cosine,
            sum(worth for bit, worth in enumerate(self._worths) if self._words[file_id] >> bit & 1),
            log2(1 + self._sums[file_id] - _fit(candidate, best)) / 3,
            log2(1 + candidate.file_lines) / 10,
        ]


def _fit(candidate: ChunkCandidate, best: _Best) -> float:
    return candidate.bm25 / best.bm25


def _role_features(candidate: ChunkCandidate, wanted: Wanted) -> list[float]:
    return [float(candidate.role == name and name not in wanted.roles) for name in ROLES]


def _path_features(path: str, wanted: Wanted, of_part: Callable[[str], Sequence[float]]) -> list[float]:
    letters, name, folders = _path_words(path)
    in_name = sum(max(of_part(part), default=0.0) for part in name)
    best = map(max, zip(*map(of_part, (*name, *folders)), strict=True))
    in_path = sum(worth * likeness for worth, likeness in zip(wanted.worths.values(), best, strict=False))
    is_the_name = letters in wanted.names or (letters == wanted.spelled != "")
    return [in_name / len(name) if name else 0.0, in_path, float(is_the_name), path.count("/") / 10]


def _likenesses(part: str, wanted: Wanted) -> tuple[float, ...]:
    """Return how well a part of a path matches each word: those that the index contains first, as in `worths`."""
    unknown = wanted.stems.difference(wanted.worths)
    return tuple(_likeness(part, word) for word in (*wanted.worths, *unknown))


def _likeness(part: str, word: str) -> float:
    """Return how well a part of a path matches a word of the query; `lock` is the start of `lockfile`."""
    if part == word:
        return 1.0
    shorter, longer = sorted((part, word), key=len)
    return _BY_START if len(shorter) >= _SHORTEST_START and longer.startswith(shorter) else 0.0


def _definition_features(definitions: str, wanted: Wanted) -> list[float]:
    defined = _definitions(definitions)
    if not defined:
        return [0.0] * len(DEFINITION_FEATURES)
    as_written = {_group(one.kind) for one in defined if one.name in wanted.written}
    asked = (wanted.names | {wanted.spelled}) - {""}
    is_spelled = not as_written and any(one.letters in asked for one in defined)
    return [
        float("type" in as_written),
        float("function" in as_written and "type" not in as_written),
        float(as_written == {"member"}),
        float(is_spelled),
        float(not as_written and not is_spelled and _has_similar(defined, wanted.names)),
        max((_share_of_words(one.words, wanted) for one in defined), default=0.0),
    ]


def _group(kind: str) -> str:
    return "type" if kind in TYPES else "function" if kind in FUNCTIONS else "member"


def _has_similar(defined: Sequence["_Definition"], names: frozenset[str]) -> bool:
    letters = [one.letters for one in defined if len(one.letters) >= _SHORTEST_START]
    return any(asked in name or name in asked for asked in names if asked for name in letters)


def _share_of_words(words: frozenset[str], wanted: Wanted) -> float:
    """Return how well the words of a definition match those of the query, rare ones first."""
    shared = [worth for word, worth in wanted.worths.items() if word in words]
    return sum(shared) * sqrt(len(shared) / len(words)) if shared else 0.0


class _Definition(NamedTuple):
    kind: str
    name: str
    letters: str
    words: frozenset[str]


@lru_cache(maxsize=50_000)
def _definitions(definitions: str) -> tuple[_Definition, ...]:
    parts = (part.partition(" ") for part in definitions.split(", ")) if definitions else ()
    return tuple(
        _Definition(kind, name, letters_of(name), frozenset(map(stem, _parts_of(name)))) for kind, _, name in parts
    )


@lru_cache(maxsize=50_000)
def _path_words(path: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the name of a file as letters, and the stems of the words in the names of it and of its folders.

    Some files stand for their folder.
    """
    place = PurePosixPath(path)
    folders = [folder.name for folder in reversed(place.parents) if folder.name]
    name = place.name.split(".")[0] or place.name
    if name.lower() in FOLDER_FILES and folders:
        name = folders.pop()
    parts = _parts_of(name)
    in_folders = tuple(stem(word) for folder in folders for word in _parts_of(folder))
    return "".join(parts), tuple(map(stem, parts)), in_folders


def _parts_of(name: str) -> list[str]:
    """Return the words of a name, without the joined whole that is indexed too."""
    words = split_words(name).split()
    return words[:-1] if len(words) > 2 and words[-1] == "".join(words[:-1]) else words
