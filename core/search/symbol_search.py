"""Search by name: exact matches first, then the start of a name, then parts of it, then typos."""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from keyhole.core.index.protocols import IndexStore, SearchStore
from keyhole.core.index.rows import ChunkScope
from keyhole.core.search.bounded_cache import BoundedCache
from keyhole.core.search.features import ChunkCandidate
from keyhole.core.search.filters import TEST_ROLES
from keyhole.core.search.query import letters_of
from keyhole.core.search.rank import MOST_SIMILAR
from keyhole.core.types.choices import Role


class NameMatch(StrEnum):
    """How a name matches the query; explanations show the value."""

    EXACT = "exact"
    SAME_LETTERS = "same letters"
    START = "starts with it"
    INSIDE = "contains it"
    TYPO = "typo"


# The score of each way of matching.
_QUALITY = {
    NameMatch.EXACT: 1.0,
    NameMatch.SAME_LETTERS: 0.95,
    NameMatch.START: 0.75,
    NameMatch.INSIDE: 0.55,
    NameMatch.TYPO: 0.4,
}
# Milder than in other searches, because a search by name may well mean a name in a test.
_ROLE_FACTORS: dict[str, float] = {
    **dict.fromkeys(TEST_ROLES, 0.7),
    **dict.fromkeys([Role.VENDORED, Role.BUILT, Role.GENERATED, Role.DATA], 0.7),
    **dict.fromkeys([Role.EXAMPLE, Role.DOCS], 0.8),
}
_MAX_TYPOS = 2
_SHORTEST_TYPO = 4
_MOST_SIMILAR = 3


class NameLetters(NamedTuple):
    """The letters of each name, and the names with the same letters."""

    letters: dict[str, str]
    names: dict[str, list[str]]

    @classmethod
    def of(cls, names: Iterable[str]) -> "NameLetters":
        """Spell out some names."""
        letters, spellings = {name: letters_of(name) for name in names}, dict[str, list[str]]()
        for name, its_letters in letters.items():
            spellings.setdefault(its_letters, []).append(name)
        return cls(letters, spellings)


class Names:
    """Every name that the index defines, kept in memory until the index changes."""

    def __init__(self, store: SearchStore, cached: BoundedCache[NameLetters]) -> None:
        self._store = store
        self._cached = cached

    def letters(self) -> dict[str, str]:
        """Return each name with its letters."""
        return self._known().letters

    def spelled(self, letters: str) -> list[str]:
        """Return the names with these letters."""
        return self._known().names.get(letters, [])

    def _known(self) -> NameLetters:
        generation = self._store.facts().generation
        return self._cached.get(generation) or self._cached.put(generation, NameLetters.of(self._store.symbol_names()))

    def matching(self, name: str) -> Iterator[tuple[str, NameMatch]]:
        """Yield the matching names, each once, with how they match."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        wanted, letters = letters_of(name), self.letters()
        containing = {other for other, its_letters in letters.items() if wanted in its_letters}
        for other in containing:
            yield other, _way(name, wanted, other, letters[other])
        if len(name) >= _SHORTEST_TYPO:
            # A short name with two typos would be a different name.
            cutoff = min(_MAX_TYPOS, len(name) // 3)
            close = process.extract(
                name.lower(), letters.keys(), scorer=OSA.distance, processor=str.lower, limit=50, score_cutoff=cutoff
            )
            yield from ((other, NameMatch.TYPO) for other, _, _ in close if other not in containing)

    def closest(self, text: str, *, limit: int = 3) -> list[str]:
        """Return the names most similar to a text, for a suggestion."""
        from rapidfuzz import process
        from rapidfuzz.distance import JaroWinkler

        found = process.extract(
            text,
            self.letters().keys(),
            scorer=JaroWinkler.normalized_similarity,
            processor=str.lower,
            limit=limit,
            score_cutoff=0.8,
        )
        return [name for name, _, _ in found]


def similar_symbols(store: IndexStore, names: Names, symbol: str) -> list[str]:
    """Return the definitions with the names most similar to that of a symbol; those with its owner first."""
    *owners, name = [part for part in separate(symbol) if part] or [""]
    rows = [row for similar in names.closest(name) for row in store.definitions_named(similar)]
    rows.sort(key=lambda row: row.parent.split(".")[-1:] != owners[-1:])
    return list(dict.fromkeys(row.qualified_name for row in rows))[:_MOST_SIMILAR]


def find_symbols(store: SearchStore, names: Names, text: str, scope: ChunkScope) -> list[ChunkCandidate]:
    """Return the chunk of every symbol whose name matches, best first."""
    *owners, name = [part for part in separate(text) if part] or [""]
    if not name:
        return []
    ways = dict(names.matching(name))
    owner = owners[-1].lower() if owners else ""
    found: dict[int, tuple[ChunkCandidate, int]] = {}
    for symbol in store.symbols_named(ways):
        # A line that is split into several chunks gives a row for each, and only the first counts.
        is_first = symbol.symbol_id not in found
        if is_first and scope.admits_chunk(symbol.chunk) and scope.kind in ("", symbol.kind):
            candidate = ChunkCandidate(*symbol.chunk, symbol_id=symbol.symbol_id)
            is_owned = _is_inside(symbol.parent, owner)
            _judge(candidate, ways[symbol.name], is_owned=is_owned, is_exported=symbol.exported)
            found[symbol.symbol_id] = candidate, symbol.name_line
    ordered = sorted(found.values(), key=lambda pair: (*_rank(pair[0]), pair[0].path, pair[1], pair[0].symbol_id))
    candidates = [candidate for candidate, _ in ordered]
    _give_shares(candidates)
    return candidates


def _rank(candidate: ChunkCandidate) -> tuple[bool, float]:
    return candidate.is_similar, -candidate.score


def _give_shares(ordered: Sequence[ChunkCandidate]) -> None:
    """Give each candidate the share of the best that is shown; what is only similar stays below one half."""
    most = MOST_SIMILAR if ordered and ordered[0].is_similar else 1.0
    for candidate in ordered:
        share = most * candidate.score / ordered[0].score
        candidate.relative_score = min(share, MOST_SIMILAR) if candidate.is_similar else share


def separate(text: str) -> list[str]:
    """Split `Owner.name` into its parts, in the notation of any language."""
    for separator in ("::", "->", "#", "/"):
        text = text.replace(separator, ".")
    return text.strip().removesuffix("()").split(".")


def _is_inside(parent: str, owner: str) -> bool:
    return bool(owner) and parent.rsplit(".", maxsplit=1)[-1].lower() == owner


def _way(name: str, wanted: str, other: str, letters: str) -> NameMatch:
    if other == name:
        return NameMatch.EXACT
    if letters == wanted:
        return NameMatch.SAME_LETTERS
    return NameMatch.START if letters.startswith(wanted) else NameMatch.INSIDE


def _judge(candidate: ChunkCandidate, way: NameMatch, *, is_owned: bool, is_exported: bool) -> None:
    role = candidate.role
    factors = {
        "in the named owner": 1.3 if is_owned else 1.0,
        "not exported": 1.0 if is_exported else 0.95,
        role: _ROLE_FACTORS.get(role, 1.0),
    }
    score = _QUALITY[way]
    candidate.has_the_name = way in (NameMatch.EXACT, NameMatch.SAME_LETTERS)
    candidate.is_similar = way == NameMatch.TYPO
    candidate.signals = [(f"name: {way}", score, "")]
    for reason, factor in factors.items():
        if factor != 1.0:
            candidate.signals.append((reason, score * (factor - 1), ""))
            score *= factor
    candidate.score = round(score, 9)
