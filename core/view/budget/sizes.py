"""Sizes of texts, and budgets to compare them with. Nothing is guessed: sizes are measured on the rendered text."""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace

from keyhole.core.notes import Note, NoteKind
from keyhole.core.view.budget.limits import (
    DEFAULT_TOKENS,
    EFFECTIVE_BYTES,
    EFFECTIVE_CHARACTERS,
    LARGEST,
    clamp_tokens,
)
from keyhole.core.view.budget.room import current_room
from keyhole.core.view.budget.tokens import MILLI, most_weight, token_weight

# The most bytes that a character takes in UTF-8.
_MOST_BYTES = 4
# A character of four bytes in UTF-8 is a pair in UTF-16.
_FIRST_OF_FOUR = bytes(range(0xF0, 0xF8))


@dataclass(frozen=True, slots=True)
class Size:
    """What a text costs; sizes of whole lines add up exactly. Weight is in thousandths of a token."""

    chars: int
    weight: int
    bytes: int = 0
    line_ends: int = 0

    def __add__(self, other: "Size") -> "Size":
        return Size(
            self.chars + other.chars,
            self.weight + other.weight,
            self.bytes + other.bytes,
            self.line_ends + other.line_ends,
        )

    def __sub__(self, other: "Size") -> "Size":
        return Size(
            self.chars - other.chars,
            self.weight - other.weight,
            self.bytes - other.bytes,
            self.line_ends - other.line_ends,
        )

    @property
    def tokens(self) -> int:
        """Tokens, rounded up."""
        return -(-self.weight // MILLI)


def measure(text: str) -> Size:
    """Measure a text of whole lines; characters are UTF-16 units, because that is what clients count."""
    # A lone surrogate cannot be shown, but it can be measured.
    encoded = text.encode("utf-8", "surrogatepass")
    pairs = 0 if text.isascii() else len(encoded) - len(encoded.translate(None, _FIRST_OF_FOUR))
    return Size(len(text) + pairs, token_weight(text), len(encoded), text.count("\n"))


@dataclass(frozen=True, slots=True)
class Budget:
    """What an answer may cost; the first limit reached counts."""

    tokens: int = DEFAULT_TOKENS
    chars: int = EFFECTIVE_CHARACTERS
    bytes: int = EFFECTIVE_BYTES
    line_ends: int = LARGEST

    def admits(self, size: Size) -> bool:
        """Return whether a text of this size fits."""
        return (
            size.tokens <= self.tokens
            and size.chars <= self.chars
            and size.bytes <= self.bytes
            and size.line_ends <= self.line_ends
        )

    def surely_admits(self, text: str) -> bool:
        """Return whether a text is so short that it fits without measuring."""
        return self.admits(Size(2 * len(text), most_weight(text), len(text) * _MOST_BYTES, len(text)))

    def broken_by(self, size: Size) -> str:
        """Return the `reason` for a size that does not fit; bytes and lines count as characters."""
        return "token_limit" if size.tokens > self.tokens else "character_limit"

    def limit_text(self, reason: str | None) -> str:
        """Return the limit that a reason names, as banners write it."""
        if reason != "character_limit":
            return f"Budget {self.tokens:,} tokens"
        return f"Limit {self.size_text}"

    @property
    def limit_chars(self) -> int:
        """How many characters fit at most: each takes at least a byte."""
        return min(self.chars, self.bytes)

    @property
    def size_text(self) -> str:
        """The limits other than tokens, in the unit that is reached first."""
        size = f"{self.bytes:,} bytes" if self.bytes < self.chars else f"{self.chars:,} characters"
        return size if self.line_ends == LARGEST else f"{size} or {self.line_ends + 1:,} lines"

    def less(self, size: Size) -> "Budget":
        """Return what is left after a text of this size."""
        return Budget(
            self.tokens - size.tokens,
            self.chars - size.chars,
            self.bytes - size.bytes,
            self.line_ends - size.line_ends,
        )

    def part(self, parts: int) -> "Budget":
        """Return one of several equal parts."""
        return Budget(self.tokens // parts, self.chars // parts, self.bytes // parts, self.line_ends // parts)


def answer_budget(asked: int | None, most_bytes: int = EFFECTIVE_BYTES) -> tuple[Budget, list[Note]]:
    """Return the budget of an answer: the tokens asked for, and what its client delivers whole.

    A note says so if that is less than what was asked for.
    """
    tokens, notes = clamp_tokens(asked)
    room = current_room()
    if room is None:
        return Budget(tokens, bytes=most_bytes), notes
    lowered = room.lower(tokens)
    if asked is not None and lowered < tokens:
        limit = room.limit_texts[0]
        text = f"max_tokens={asked} is over what {room.client} delivers ({limit}); using max_tokens={lowered}"
        notes = [Note(NoteKind.BUDGET_LOWERED, text)]
    chars = room.chars if room.chars is not None else EFFECTIVE_CHARACTERS
    # A text that ends with a line end has one more line after it.
    line_ends = room.lines - 1 if room.lines else LARGEST
    return Budget(lowered, chars, min(most_bytes, room.bytes or most_bytes), line_ends), notes


@dataclass(frozen=True, slots=True)
class TruncationInfo:
    """What the budget did to an answer; `reason` is None when it did nothing. Sizes are of the final text."""

    reason: str | None
    original_count: int
    returned_count: int
    estimated_chars: int
    limit_chars: int
    estimated_tokens: int
    limit_tokens: int
    detail_requested: str
    detail_applied: str
    next: str


# Pieces are measured in large groups first, and one by one only near the end of the budget.
_STRIDES = (4_096, 512, 64, 8, 1)


@dataclass(frozen=True, slots=True)
class Filled:
    """How many pieces fit, their size together, and the limit that the next one breaks."""

    count: int
    size: Size
    reason: str | None = None


def fill(budget: Budget, count: int, size_of: Callable[[int, int], Size]) -> Filled:
    """Return how many of the first pieces fit together; `size_of` measures the pieces from a number up to another."""
    filled, too_many = Filled(0, Size(0, 0)), count + 1
    for stride in _STRIDES:
        while (end := min(filled.count + stride, count)) > filled.count and end < too_many:
            size = filled.size + size_of(filled.count, end)
            if not budget.admits(size):
                filled, too_many = replace(filled, reason=budget.broken_by(size)), end
                break
            filled = Filled(end, size, filled.reason)
    return filled


def largest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number that fits, if every smaller one does; `low` is assumed to fit."""
    return low + bisect_right(range(low + 1, high + 1), False, key=lambda number: not fits(number))
