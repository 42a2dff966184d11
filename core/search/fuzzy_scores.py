"""How well the letters of a typed word fit a name, as in fzf: what a match is worth, and where it is.

A word matches a name that has its letters in order, with any letters between them. Letters at the start of a part of
the name, and letters next to each other, are worth more; gaps cost. `name_matcher.py` computes the same for many names
at once; this module defines it, and tells which letters to mark in the few names that are shown.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

MATCH = 16
GAP_START, GAP_MORE = 3, 1
# After a slash or at the start, after another sign, at a capital or digit inside a word, next to the letter before.
AT_PART, AT_WORD, AT_CAPITAL, NEXT_TO = 9, 8, 7, 4
# The last part of a name, such as the name of the file itself, is what people remember.
IN_TAIL = 1
# The first letter that people type is the one they are most sure of.
FIRST_LETTER = 2
# Longer names and words are clipped; nobody types more.
LONGEST_NAME, LONGEST_WORD = 1_000, 100


class Kind(StrEnum):
    """What a letter is, as far as the start of a word depends on it."""

    LOWER = "lower"
    UPPER = "upper"
    DIGIT = "digit"
    SLASH = "slash"
    SIGN = "sign"


@dataclass(frozen=True, slots=True)
class Word:
    """One typed word: with fzf's signs it is looked for as it is, at the start, at the end, or must be missing."""

    text: str
    is_exact: bool = False
    is_start: bool = False
    is_end: bool = False
    is_unwanted: bool = False

    @property
    def minds_case(self) -> bool:
        """Whether the case of letters matters: only if a capital is typed."""
        return self.text != folded(self.text)


def words_of(typed: str) -> tuple[Word, ...]:
    """Return the words of a query; a name has to match all of them."""
    return tuple(word for part in typed.split() if (word := _word(part[:LONGEST_WORD])).text)


def _word(part: str) -> Word:
    is_unwanted = part.startswith("!")
    part = part.removeprefix("!")
    is_exact = part.startswith("'")
    part = part.removeprefix("'")
    is_start = part.startswith("^")
    is_end = part.endswith("$") and len(part) > 1
    text = part.removeprefix("^").removesuffix("$") if is_end else part.removeprefix("^")
    if text == text.lower():
        text = folded(text)
    return Word(text, is_exact or is_start or is_end or is_unwanted, is_start, is_end, is_unwanted)


def folded(text: str) -> str:
    """Return a text in lower case with the same length, so that places in both are the same."""
    # The lower case of the Turkish capital I is longer, and that of Sigma depends on the letters around it.
    return text.replace("\u0130", "i").lower().replace("\u03c2", "\u03c3")


def kind_of(letter: str) -> Kind:
    """Return what a letter is."""
    if letter == "/":
        return Kind.SLASH
    if "A" <= letter <= "Z":
        return Kind.UPPER
    if "0" <= letter <= "9":
        return Kind.DIGIT
    return Kind.LOWER if letter >= "\x80" or "a" <= letter <= "z" else Kind.SIGN


def letter_bonus(before: Kind, here: Kind) -> int:
    """Return what a letter is worth by its place, from what it is and what the letter before it is."""
    if here in (Kind.SLASH, Kind.SIGN):
        return AT_WORD
    if before == Kind.SLASH:
        return AT_PART
    if before == Kind.SIGN:
        return AT_WORD
    is_capital = before == Kind.LOWER and here == Kind.UPPER
    return AT_CAPITAL if is_capital or (here == Kind.DIGIT and before != Kind.DIGIT) else 0


# The rows on the screen stay mostly the same from letter to letter.
@lru_cache(maxsize=1_000)
def bonuses(name: str, tail: int) -> tuple[int, ...]:
    """Return what each letter of a name is worth by its place; the tail is where its last part starts."""
    kinds = [Kind.SLASH, *map(kind_of, name)]
    return tuple(
        letter_bonus(kinds[place], kinds[place + 1]) + (IN_TAIL if place >= tail else 0) for place in range(len(name))
    )


@dataclass(slots=True)
class _End:
    """The best match of the first letters that ends at a place: its score, its first bonus in a row, its places."""

    score: int
    row_bonus: int
    places: tuple[int, ...]


def best_match(name: str, tail: int, word: Word) -> tuple[int, tuple[int, ...]] | None:
    """Return the score and the places of the letters of a word in a name; None if it does not match."""
    name = name[:LONGEST_NAME]
    text = name if word.minds_case else folded(name)
    worth = bonuses(name, tail)
    ends: dict[int, _End] = {}
    for number, letter in enumerate(word.text):
        found = [place for place, known in enumerate(text) if known == letter]
        if number:
            ends = _continued(ends, found, worth, only_next=word.is_exact)
        else:
            starts = found if not word.is_start else [place for place in found if place == 0]
            ends = {place: _End(MATCH + FIRST_LETTER * worth[place], worth[place], (place,)) for place in starts}
    if word.is_end:
        ends = {place: end for place, end in ends.items() if place == len(name) - 1}
    if not ends:
        return None
    best = max(ends.values(), key=lambda end: end.score)
    return best.score, best.places


def _continued(ends: dict[int, _End], found: list[int], worth: tuple[int, ...], *, only_next: bool) -> dict[int, _End]:
    """Return the best matches with one more letter, at the places where it was found; all are in order."""
    longer: dict[int, _End] = {}
    earlier = iter(ends.items())
    waiting = next(earlier, None)
    best: tuple[int, _End] | None = None
    for place in found:
        while waiting and waiting[0] < place:
            at, end = waiting
            # Adding the place makes scores comparable: each letter of the gap costs the same.
            comparable = end.score + GAP_MORE * at
            if best is None or comparable >= best[0]:
                best = comparable, end
            waiting = next(earlier, None)
        if best is None:
            continue
        gap = _after_gap(best, place, worth[place])
        beside = _beside(ends.get(place - 1), place, worth[place])
        if beside and (only_next or beside.score >= gap.score):
            longer[place] = beside
        elif not only_next:
            longer[place] = gap
    return longer


def _after_gap(best: tuple[int, _End], place: int, bonus: int) -> _End:
    comparable, end = best
    cost = GAP_MORE * (place - 1) + GAP_START - GAP_MORE
    return _End(comparable - cost + MATCH + bonus, bonus, (*end.places, place))


def _beside(end: _End | None, place: int, bonus: int) -> _End | None:
    """Return the match with a letter right after the one before, in a row that keeps its first bonus."""
    if end is None:
        return None
    row_bonus = bonus if bonus >= AT_WORD and bonus > end.row_bonus else end.row_bonus
    return _End(end.score + MATCH + max(bonus, NEXT_TO, row_bonus), row_bonus, (*end.places, place))
