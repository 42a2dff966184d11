"""Search by name: exact, then by its start, then within it, then with a typo."""

from collections.abc import Iterator
from enum import StrEnum

from keyhole.core.index.store import Store
from keyhole.core.search.filters import Filter, role_of
from keyhole.core.search.rank import Candidate, letters_of


class NameMatch(StrEnum):
    """How a name matches what was asked for; the value is what explanations say."""

    EXACT = "exact"
    SAME_LETTERS = "same letters"
    START = "starts with it"
    INSIDE = "contains it"
    TYPO = "typo"


# How good each way of matching is.
_QUALITY = {
    NameMatch.EXACT: 1.0,
    NameMatch.SAME_LETTERS: 0.95,
    NameMatch.START: 0.75,
    NameMatch.INSIDE: 0.55,
    NameMatch.TYPO: 0.4,
}
_ROLE_FACTORS = {"test": 0.7, "vendored": 0.7, "example": 0.8}
_MAX_TYPOS = 2
_SHORTEST_TYPO = 4


class Names:
    """Every name that the index defines, kept in memory until the index changes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._generation = -1
        self._letters: dict[str, str] = {}

    def letters(self) -> dict[str, str]:
        """Return each name with its letters."""
        generation = self._store.meta("generation", 0)
        if generation != self._generation:
            rows = self._store.query("SELECT DISTINCT name FROM symbol")
            self._letters = {name: letters_of(name) for (name,) in rows}
            self._generation = generation
        return self._letters

    def matching(self, name: str) -> Iterator[tuple[str, NameMatch]]:
        """Yield names with the way they match, each once."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        wanted, letters = letters_of(name), self.letters()
        containing = {other for other, its_letters in letters.items() if wanted in its_letters}
        for other in containing:
            yield other, _way(name, wanted, other, letters[other])
        if len(name) >= _SHORTEST_TYPO:
            cutoff = min(_MAX_TYPOS, len(name) // 3)
            close = process.extract(
                name.lower(), letters.keys(), scorer=OSA.distance, processor=str.lower, limit=50, score_cutoff=cutoff
            )
            yield from ((other, NameMatch.TYPO) for other, _, _ in close if other not in containing)

    def closest(self, text: str, *, limit: int = 3) -> list[str]:
        """Return names that look like the text, for a suggestion."""
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


def find_symbols(store: Store, names: Names, text: str, admitted: Filter) -> list[Candidate]:
    """Return the chunk of every symbol whose name matches, best first."""
    import json

    *owners, name = [part for part in separate(text) if part] or [""]
    if not name:
        return []
    ways = dict(names.matching(name))
    rows = store.query(
        """SELECT symbol.id, name, kind, symbol.parent, exported, name_line,
                chunk.id, chunk.file_id, file.path, language, chunk.start_line, chunk.end_line, definitions
            FROM json_each(?) wanted
            JOIN symbol ON name = wanted.value COLLATE NOCASE AND name = wanted.value
            JOIN chunk ON chunk.file_id = symbol.file_id AND name_line BETWEEN chunk.start_line AND chunk.end_line
            JOIN file ON file.id = symbol.file_id ORDER BY symbol.id, chunk.id""",
        json.dumps(list(ways)),
    )
    owner = owners[-1].lower() if owners else ""
    found: dict[int, tuple[Candidate, int]] = {}
    for symbol_id, its_name, kind, parent, exported, line, *place in rows:
        # A line cut into several chunks gives a row for each: the first stands for the symbol.
        if symbol_id not in found and admitted.admits_file(place[1]) and admitted.kind in ("", kind):
            candidate = Candidate(*place)
            candidate.symbol_id = symbol_id
            _judge(candidate, ways[its_name], is_owned=_is_inside(parent, owner), is_exported=bool(exported))
            found[symbol_id] = candidate, line
    ordered = sorted(found.values(), key=lambda pair: (-pair[0].score, pair[0].path, pair[1], pair[0].symbol_id))
    return [candidate for candidate, _ in ordered]


def separate(text: str) -> list[str]:
    """Part `Owner.name`, in the notation of any language."""
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


def _judge(candidate: Candidate, way: NameMatch, *, is_owned: bool, is_exported: bool) -> None:
    role = role_of(candidate.path)
    factors = {
        "in the named owner": 1.3 if is_owned else 1.0,
        "not exported": 1.0 if is_exported else 0.95,
        role: _ROLE_FACTORS.get(role, 1.0),
    }
    score = _QUALITY[way]
    candidate.has_the_name = way in (NameMatch.EXACT, NameMatch.SAME_LETTERS)
    candidate.signals = [(f"name: {way}", score, "")]
    for reason, factor in factors.items():
        if factor != 1.0:
            score *= factor
            candidate.signals.append((reason, factor - 1, ""))
    candidate.score = round(score, 9)
