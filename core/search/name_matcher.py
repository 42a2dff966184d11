"""Fuzzy matching of many names at once: 100,000 in some milliseconds for each typed letter.

All names are one long text. For each letter of a typed word, numpy computes the score of the best match that ends at
each place of the letter from those of the letter before (`fuzzy_scores.py` says what a match is worth). These scores
are kept, so one more typed letter is one more step, and every match gets its exact score.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from keyhole.core.index.single_threaded import single_threaded
from keyhole.core.search.fuzzy_scores import (
    AT_WORD,
    FIRST_LETTER,
    GAP_MORE,
    GAP_START,
    IN_TAIL,
    LONGEST_NAME,
    MATCH,
    NEXT_TO,
    Kind,
    Word,
    folded,
    kind_of,
    letter_bonus,
    words_of,
)

with single_threaded():
    import numpy as np
    import numpy.typing as npt

Places = npt.NDArray[np.int32]
_KINDS = tuple(Kind)
# The kind of each character of ASCII, and of any other one.
_KIND_OF = bytes(_KINDS.index(kind_of(chr(code))) for code in range(129)).ljust(256, b"\0")
# By the kind of the letter before times the number of kinds, plus the kind of the letter.
_BONUS = bytes(letter_bonus(before, here) for before in _KINDS for here in _KINDS).ljust(256, b"\0")
# Scores of one name differ by less than this.
_APART = 1 << 20
# With more places than this, the scores that were used least recently are forgotten; each place takes 13 bytes.
_MOST_PLACES = 2_000_000


@dataclass(frozen=True, slots=True)
class Matches:
    """How many names match, and the numbers and scores of the best of them, best first."""

    count: int
    best: tuple[int, ...]
    scores: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """Where matches of the first letters of a word end, in order: place, name, score and first bonus in a row."""

    places: Places
    names: Places
    scores: Places
    row_bonuses: npt.NDArray[np.uint8]


class NameMatcher:
    """Finds names, and keeps what it has computed for the next letter; safe to use from any thread."""

    def __init__(self, names: Sequence[str], tails: Sequence[int]) -> None:
        """Take names in their order for ties, each with the place where its last part starts."""
        names = [name[:LONGEST_NAME] for name in names]
        self._lengths = np.fromiter(map(len, names), np.int32, len(names))
        self._stops = np.cumsum(self._lengths, dtype=np.int32)
        self._starts = self._stops - self._lengths
        text = "".join(names)
        self._exact, self._folded = _codes(text), _codes(folded(text))
        self._worth = self._bonuses(np.asarray(tails, np.int32))
        self._name_at: Places = np.repeat(np.arange(len(names), dtype=np.int32), self._lengths)
        self._letters: dict[tuple[str, bool], Places] = {}
        self._lock = Lock()
        self._kept_places = 0
        self._kept: OrderedDict[tuple[Word, bool], _Ends] = OrderedDict()

    def __len__(self) -> int:
        return len(self._lengths)

    def forget(self) -> None:
        """Free what was computed for earlier letters; it is computed again if it is needed."""
        with self._lock:
            self._letters.clear()
            self._kept.clear()
            self._kept_places = 0

    def _bonuses(self, tails: Places) -> npt.NDArray[np.uint8]:
        kinds = _translated(np.minimum(self._exact, 128).astype(np.uint8), _KIND_OF)
        before = np.empty_like(kinds)
        before[1:] = kinds[:-1]
        before[self._starts[self._lengths > 0]] = _KINDS.index(Kind.SLASH)
        worth = _translated(before * len(_KINDS) + kinds, _BONUS)
        # One mark where each tail starts and one where it ends; between them the sum is one.
        marks = np.zeros(len(worth) + 1, np.int8)
        np.add.at(marks, self._starts + np.minimum(tails, self._lengths), 1)
        np.add.at(marks, self._stops, -1)
        return worth + IN_TAIL * np.cumsum(marks[:-1], dtype=np.int8).astype(np.uint8)

    def find(self, typed: str, limit: int) -> Matches:
        """Return the names that match all typed words; the best first, then the shortest, then by their order."""
        scores = np.zeros(len(self), np.int32)
        is_found = np.ones(len(self), np.bool_)
        words = words_of(typed)
        for word in words:
            with self._lock:
                names, word_scores = self._names_with(word)
            has_word = np.zeros(len(self), np.bool_)
            has_word[names] = True
            if word.is_unwanted:
                is_found &= ~has_word
            else:
                is_found &= has_word
                scores[names] += word_scores
        found = np.flatnonzero(is_found)
        best = self._best(found, scores[found], limit) if words else found[:limit]
        return Matches(len(found), tuple(best.tolist()), tuple(scores[best].tolist()))

    def _best(self, found: npt.NDArray[np.intp], scores: Places, limit: int) -> npt.NDArray[np.intp]:
        """Return the best of the names found: by score, then by length, then by their order."""
        rank = (_APART - scores.astype(np.int64)) << 42 | self._lengths[found].astype(np.int64) << 32 | found
        if len(rank) > limit:
            rank = np.partition(rank, limit)[:limit]
        rank.sort()
        return (rank & 0xFFFF_FFFF).astype(np.intp)

    def _names_with(self, word: Word) -> tuple[Places, Places]:
        """Return the names that match a word, and their scores."""
        ends = self._ends(word, len(word.text))
        places, names, scores = ends.places, ends.names, ends.scores
        if word.is_end:
            is_end = places == self._stops[names] - 1
            names, scores = names[is_end], scores[is_end]
        if not len(names):
            return names, scores
        first_of_name = np.flatnonzero(np.diff(names, prepend=-1))
        return names[first_of_name], np.maximum.reduceat(scores, first_of_name)

    def _ends(self, word: Word, count: int) -> _Ends:
        """Return the matches of the first letters of a word, from those of one letter less."""
        # Signs at the end of a word don't change how its first letters match.
        key = Word(word.text[:count], word.is_exact, word.is_start), word.minds_case
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        places = self._places_of(word.text[count - 1], minds_case=word.minds_case)
        if count == 1:
            ends = self._first(places, is_start=word.is_start)
        else:
            ends = self._next(self._ends(word, count - 1), places, only_next=word.is_exact)
        self._kept[key] = ends
        self._kept_places += len(ends.places)
        while self._kept_places > _MOST_PLACES and len(self._kept) > 1:
            self._kept_places -= len(self._kept.popitem(last=False)[1].places)
        return ends

    def _places_of(self, letter: str, *, minds_case: bool) -> Places:
        """Return where a letter is in the text of all names."""
        key = letter, minds_case
        if key not in self._letters:
            text = self._exact if minds_case else self._folded
            self._letters[key] = np.flatnonzero(text == ord(letter)).astype(np.int32)
        return self._letters[key]

    def _first(self, places: Places, *, is_start: bool) -> _Ends:
        names = self._name_at[places]
        if is_start:
            at_start = places == self._starts[names]
            places, names = places[at_start], names[at_start]
        worth = self._worth[places]
        return _Ends(places, names, MATCH + FIRST_LETTER * worth.astype(np.int32), worth)

    def _next(self, ends: _Ends, places: Places, *, only_next: bool) -> _Ends:
        """Return the best matches with one more letter, at the places of that letter."""
        if not len(ends.places):
            return ends
        # The last end before each place; it has to be in the same name.
        before = np.searchsorted(ends.places, places).astype(np.int32) - 1
        names = self._name_at[places]
        is_after = (before >= 0) & (ends.names[before] == names)
        places, names, before = places[is_after], names[is_after], before[is_after]
        worth = self._worth[places]
        beside, row_bonuses = self._beside(ends, before, worth)
        is_beside = ends.places[before] == places - 1
        if only_next:
            keep = is_beside
            return _Ends(places[keep], names[keep], beside[keep], row_bonuses[keep])
        after_gap = self._after_gap(ends, places, names, before) + worth
        is_better = is_beside & (beside >= after_gap)
        scores = np.where(is_better, beside, after_gap)
        return _Ends(places, names, scores, np.where(is_better, row_bonuses, worth))

    def _beside(
        self, ends: _Ends, before: Places, worth: npt.NDArray[np.uint8]
    ) -> tuple[Places, npt.NDArray[np.uint8]]:
        """Return the scores if the letter before is right before this one, and the first bonus in the row."""
        known = ends.row_bonuses[before]
        row_bonuses = np.where((worth >= AT_WORD) & (worth > known), worth, known)
        bonus = np.maximum(np.maximum(worth, row_bonuses), NEXT_TO)
        return ends.scores[before] + MATCH + bonus.astype(np.int32), row_bonuses

    def _after_gap(self, ends: _Ends, places: Places, names: Places, before: Places) -> Places:
        """Return the best scores over all earlier letters in the same name, each less the cost of the gap."""
        # Adding the place makes the scores comparable for any later place; adding more for each name makes the largest
        # so far one of the same name.
        comparable = ends.scores + GAP_MORE * ends.places + ends.names.astype(np.int64) * _APART
        largest = np.maximum.accumulate(comparable)[before] - names.astype(np.int64) * _APART
        scores: Places = (largest - GAP_MORE * places - GAP_START + 2 * GAP_MORE + MATCH).astype(np.int32)
        return scores


def _translated(codes: npt.NDArray[np.uint8], table: bytes) -> npt.NDArray[np.uint8]:
    """Look up each code in a table; with an array as the table, numpy would need eight bytes for each code."""
    return np.frombuffer(codes.tobytes().translate(table), np.uint8)


def _codes(text: str) -> npt.NDArray[np.uint8] | npt.NDArray[np.uint32]:
    """Return the code of each character; one byte each, if that is enough."""
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
