"""Search by name: exact, then by its start, then within it, then with a typo."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from keyhole.core.index.store import Store
from keyhole.core.search.filters import Filter, role_of

# How good each way of matching is.
_QUALITY = {"exact": 1.0, "same letters": 0.95, "starts with it": 0.75, "contains it": 0.55, "typo": 0.4}
_ROLE_FACTORS = {"test": 0.7, "vendored": 0.7, "example": 0.8}
_MAX_TYPOS = 2
_SHORTEST_TYPO = 4


@dataclass(frozen=True, slots=True)
class SymbolMatch:
    """A symbol whose name matches, and how well."""

    symbol_id: int
    path: str
    line: int
    score: float
    signals: tuple[tuple[str, float, str], ...]


def find_symbols(store: Store, text: str, admitted: Filter) -> list[SymbolMatch]:
    """Return every symbol whose name matches, best first."""
    *owners, name = [part for part in separate(text) if part] or [""]
    if not name:
        return []
    matches = [
        _judge(row, how, owners[-1].lower() if owners else "")
        for names, how in _matching_names(store, name)
        for row in _rows(store, names)
        if admitted.admits_file(row[1]) and admitted.kind in ("", row[2])
    ]
    return sorted(matches, key=lambda match: (-match.score, match.path, match.line, match.symbol_id))


def _judge(row: tuple[Any, ...], how: str, owner: str) -> SymbolMatch:
    symbol_id, _, _, parent, exported, path, line = row
    role = role_of(path)
    factors = {
        "in the named owner": 1.3 if owner and parent.split(".")[-1].lower() == owner else 1.0,
        "not exported": 1.0 if exported else 0.95,
        role: _ROLE_FACTORS.get(role, 1.0),
    }
    score, signals = _QUALITY[how], [(f"name: {how}", _QUALITY[how], "")]
    for reason, factor in factors.items():
        if factor != 1.0:
            score *= factor
            signals.append((reason, factor - 1, ""))
    return SymbolMatch(symbol_id, path, line, round(score, 9), tuple(signals))


def closest_names(store: Store, text: str, *, limit: int = 3) -> list[str]:
    """Return names that look like the text, for a suggestion."""
    from rapidfuzz import process
    from rapidfuzz.distance import JaroWinkler

    names = [row[0] for row in store.query("SELECT DISTINCT name FROM symbol")]
    found = process.extract(
        text, names, scorer=JaroWinkler.normalized_similarity, processor=str.lower, limit=limit, score_cutoff=0.8
    )
    return [name for name, _, _ in found]


def separate(text: str) -> list[str]:
    """Part `Owner.name`, in the notation of any language."""
    for separator in ("::", "->", "#", "/"):
        text = text.replace(separator, ".")
    return text.strip().removesuffix("()").split(".")


def _matching_names(store: Store, name: str) -> Iterator[tuple[list[str], str]]:
    """Yield names of the index with the way they match, each name once."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    lowered, bare = name.lower(), _bare(name)
    left = {row[0]: _bare(row[0]) for row in store.query("SELECT DISTINCT name FROM symbol")}
    tests: dict[str, Callable[[str, str], bool]] = {
        "exact": lambda other, _: other == name,
        "same letters": lambda _, letters: letters == bare,
        "starts with it": lambda _, letters: letters.startswith(bare),
        "contains it": lambda other, letters: bare in letters or lowered in other.lower(),
    }
    for how, test in tests.items():
        found = sorted(other for other, letters in left.items() if test(other, letters))
        for other in found:
            del left[other]
        if found:
            yield found, how
    if len(name) >= _SHORTEST_TYPO:
        cutoff = min(_MAX_TYPOS, len(name) // 3)
        close = process.extract(
            lowered, list(left), scorer=OSA.distance, processor=str.lower, limit=50, score_cutoff=cutoff
        )
        yield sorted(other for other, _, _ in close), "typo"


def _rows(store: Store, names: list[str]) -> Iterator[tuple[Any, ...]]:
    for name in names:
        yield from store.query(
            """SELECT symbol.id, file_id, kind, parent, exported, path, name_line
                FROM symbol JOIN file ON file.id = file_id WHERE name = ? COLLATE NOCASE AND name = ?""",
            name,
            name,
        )


def _bare(name: str) -> str:
    return name.replace("_", "").lower()
