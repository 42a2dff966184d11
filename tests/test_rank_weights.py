"""Every ranking weight matters: each has a made-up pool whose order depends only on it."""

from dataclasses import dataclass
from zlib import crc32

import pytest

from keyhole.core.index.words import stem
from keyhole.core.search.rank import WEIGHTS, ChunkCandidate, Wanted, rank
from keyhole.core.types import Role

NEUTRAL = {"further chunk of file": 1.0}


def chunk(
    path: str, place: int, *, definitions: str = "", language: str = "python", start_line: int = 1
) -> ChunkCandidate:
    """Return a chunk with a rank by words only; chunks with the same path are in the same file."""
    file_id, role = crc32(path.encode()), Role.SOURCE
    return ChunkCandidate(
        place, file_id, path, language, start_line, start_line + 9, definitions, role, lexical_rank=place
    )


def of_role(role: Role, path: str, place: int) -> ChunkCandidate:
    """Return a chunk of a file with a role."""
    candidate = chunk(path, place)
    candidate.role = role
    return candidate


def matched(path: str, place: int, *, coverage: float = 0.0, closeness: float = 0.0) -> ChunkCandidate:
    """Return a chunk that contains some of the words, or the phrase."""
    candidate = chunk(path, place)
    candidate.coverage, candidate.closeness = coverage, closeness
    return candidate


def owned(path: str, place: int) -> ChunkCandidate:
    """Return a chunk that defines a name inside the owner in the query."""
    candidate = chunk(path, place)
    candidate.in_owner = True
    return candidate


def asking(*words: str, name: str = "") -> Wanted:
    """Return a query for words or for a name; signals that the query does not use can't match."""
    return Wanted(frozenset(words), frozenset(map(stem, words)), frozenset([name] if name else []))


NOTHING = asking()


@dataclass(frozen=True, slots=True)
class Case:
    """A pool in the order of words only, and the order after ranking."""

    pool: tuple[ChunkCandidate, ...]
    ranked: tuple[int, ...]
    wanted: Wanted = NOTHING
    without: frozenset[str] = frozenset()


CASES = {
    "defines the name": Case(
        (chunk("a.py", 1), chunk("b.py", 2, definitions="function retry")), (2, 1), asking(name="retry")
    ),
    "defines it in the named owner": Case((chunk("a.py", 1), owned("b.py", 2)), (2, 1)),
    "defines a similar name": Case(
        (chunk("a.py", 1), chunk("b.py", 2, definitions="function retry_later")), (2, 1), asking(name="retry")
    ),
    "words in definitions": Case(
        (chunk("a.py", 1), chunk("b.py", 2, definitions="function retry_later")), (2, 1), asking("retry")
    ),
    "words in file name": Case((chunk("a.py", 1), chunk("retry.py", 2)), (2, 1), asking("retry")),
    "words in folder": Case((chunk("other/a.py", 1), chunk("retry/a.py", 2)), (2, 1), asking("retry")),
    "all words": Case((chunk("a.py", 1), matched("b.py", 2, coverage=0.5)), (2, 1)),
    "phrase": Case((chunk("a.py", 1), matched("b.py", 2, closeness=0.5)), (2, 1)),
    "good chunks in file": Case(
        (chunk("a.py", 1), chunk("b.py", 2), chunk("b.py", 3, start_line=11)),
        (2, 3, 1),
        without=frozenset(["further chunk of file"]),
    ),
    **{role.value: Case((of_role(role, "a.py", 1), chunk("b.py", 2)), (2, 1)) for role in Role if role in WEIGHTS},
    "prose": Case((chunk("a.md", 1, language="markdown"), chunk("b.py", 2)), (2, 1)),
    # The second chunk of a file ranks below the next file, but above one that is much worse.
    "further chunk of file": Case(
        (chunk("a.py", 1), chunk("a.py", 2, start_line=11), chunk("b.py", 3), chunk("c.py", 20)),
        (1, 3, 2, 20),
        without=frozenset(["good chunks in file"]),
    ),
}


def ranked(case: Case) -> tuple[int, ...]:
    return tuple(candidate.chunk_id for candidate in rank(list(case.pool), case.wanted, without=case.without))


def test_every_weight_has_a_case() -> None:
    assert CASES.keys() == WEIGHTS.keys()


@pytest.mark.parametrize("name", WEIGHTS)
def test_the_weight_decides_the_order(name: str) -> None:
    assert ranked(CASES[name]) == CASES[name].ranked


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("weight", [0.0, None], ids=["zero", "neutral"])
def test_without_the_weight_the_order_is_another(
    name: str, weight: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(WEIGHTS, name, NEUTRAL.get(name, 0.0) if weight is None else weight)
    assert ranked(CASES[name]) != CASES[name].ranked


def test_source_and_settings_are_not_ranked_behind_others() -> None:
    assert set(Role) - WEIGHTS.keys() == {Role.SOURCE, Role.CONFIG}
