"""How a text is divided into records, and what a page of them looks like.

A page is a piece of the text as the server wrote it, between two cuts, with what it needs to be valid by itself before
and after it: the brackets that are open there, or the header of a table. So the pieces of all pages, one after the
other, are the text again; only the comma at a cut in JSON belongs to neither piece.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate
from typing import Protocol

# Values inside a record are cut only if they are longer; smaller ones are tried in turn if nothing fits otherwise.
_SMALL_VALUES = (2_000, 100, 0)


FitsPiece = Callable[["TextPiece"], bool]


class RecordUnit(StrEnum):
    """What the records of an answer are called."""

    RECORDS = "records"
    KEYS = "keys"
    ROWS = "rows"
    LINES = "lines"


@dataclass(frozen=True, slots=True)
class Cut:
    """A place where a page may end and the next one begin.

    The page before it ends at `left`, followed by `closer`; the page after it begins with `opener`, and
    continues at `right`.
    """

    left: int
    right: int
    closer: str = ""
    opener: str = ""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A part of a text from `start` to `end`, and what is added before and after it; the text continues at `resume`."""

    before: str
    start: int
    end: int
    after: str
    resume: int

    def shown(self, text: str) -> str:
        """Return the page that this piece of a text becomes."""
        return f"{self.before}{text[self.start : self.end]}{self.after}"


class InsideCuts(Protocol):
    """Finds places to cut inside a record that is too large for any page."""

    def last_cut(self, start: int, end: int, at: int, small: int) -> Cut | None:
        """Return the last cut up to `at` in the record from `start` to `end`; values up to `small` stay whole."""
        ...

    def of(self, text: str) -> "InsideCuts":
        """Return the same for records of another text."""
        ...


@dataclass(frozen=True, slots=True)
class RepeatedHeader:
    """The header of a table within a text; a page that begins with one of its rows repeats it."""

    first_row: int
    end_row: int
    text: str


@dataclass(frozen=True, slots=True)
class Layout:
    """A text whose records lie between `start` and `end`, divided by `cuts`; all around them is on every page."""

    text: str
    unit: RecordUnit
    start: int
    end: int
    cuts: Sequence[Cut]
    inside: InsideCuts
    headers: Sequence[RepeatedHeader] = ()
    # Records after which a page should rather end, such as the last line of a paragraph.
    good_ends: frozenset[int] = frozenset()
    # How the fields of records are chosen (`record_fields.py`); None if they have none.
    fields: "FieldChooser | None" = None
    # What is between two records, and belongs to neither.
    joint: str = ""

    @property
    def count(self) -> int:
        """The number of records."""
        return len(self.cuts) + 1

    def begin(self, record: int) -> int:
        """Return where a record begins, after the comma before it."""
        return self.cuts[record - 1].right if record else self.start

    def stop(self, record: int) -> int:
        """Return where a record ends, before the comma after it."""
        return self.cuts[record].left if record < len(self.cuts) else self.end

    def record(self, number: int) -> str:
        """Return a record as it is written."""
        return self.text[self.begin(number) : self.stop(number)]

    def run(self, first: int, last: int) -> TextPiece:
        """Return the records from `first` to before `last`."""
        before, after = self.text[: self.start] + self._header(first), self.text[self.end :]
        end = self.stop(last - 1)
        return TextPiece(before, self.begin(first), end, after, self.begin(last) if last < self.count else end)

    def with_records(self, records: Sequence[str], before: str | None = None) -> "Layout":
        """Return a layout of other records with the same things around them, or with something else before them."""
        before = self.text[: self.start] if before is None else before
        text = f"{before}{self.joint.join(records)}"
        lengths = accumulate((len(record) + len(self.joint) for record in records[:-1]), initial=len(before))
        ends = [at - len(self.joint) for at in lengths][1:]
        whole = text + self.text[self.end :]
        return replace(
            self,
            text=whole,
            start=len(before),
            end=len(text),
            cuts=[Cut(end, end + len(self.joint)) for end in ends],
            inside=self.inside.of(whole),
            headers=(),
            good_ends=frozenset(),
        )

    def _header(self, record: int) -> str:
        return next((header.text for header in self.headers if header.first_row < record < header.end_row), "")

    def part(self, record: int, within: int, fits: FitsPiece) -> TextPiece:
        """Return as much of one record as fits, from its character `within` on; at least one character."""
        begin, stop = self.begin(record), self.stop(record)
        start = min(begin + within, stop)
        opening = self._opening(record, start)
        if opening:
            for small in _SMALL_VALUES:
                found = self._longest_part(opening, record, small, fits)
                if found:
                    return found

        def plain(at: int) -> TextPiece:
            return TextPiece("", start, at, "", at)

        # It can't be cut here so that both sides are valid, so the rest of the record is shown as plain characters.
        return _search(start, stop, plain, fits) or plain(min(start + 1, stop))

    def _opening(self, record: int, start: int) -> Cut | None:
        """Return how a page begins that starts inside a record, or None if the record can't be cut there."""
        begin = self.begin(record)
        if start == begin:
            return Cut(begin, begin)
        cut = self.inside.last_cut(begin, self.stop(record), start, 0)
        return cut if cut and cut.right == start else None

    def _longest_part(self, opening: Cut, record: int, small: int, fits: FitsPiece) -> TextPiece | None:
        begin, stop = self.begin(record), self.stop(record)
        before, after = self.text[: self.start] + opening.opener, self.text[self.end :]

        def piece(at: int) -> TextPiece | None:
            if at >= stop:
                return TextPiece(before, opening.right, stop, after, stop)
            cut = self.inside.last_cut(begin, stop, at, small)
            if cut is None or cut.left <= opening.right:
                return None
            return TextPiece(before, opening.right, cut.left, cut.closer + after, cut.right)

        return _search(opening.right, stop, piece, fits)


class FieldChooser(Protocol):
    """Shows only some fields of the records of a layout."""

    def names(self, layout: Layout) -> list[str]:
        """Return the fields that there are to choose from."""
        ...

    def choose(self, layout: Layout, records: Sequence[int], fields: Sequence[str]) -> Layout:
        """Return a layout with only these records, and only these fields of them."""
        ...


def _search(start: int, stop: int, piece: Callable[[int], TextPiece | None], fits: FitsPiece) -> TextPiece | None:
    """Return the longest piece that fits; only pieces up to twice as long are measured."""
    best: TextPiece | None = None

    def is_good(at: int) -> bool:
        nonlocal best
        tried = piece(at)
        if tried is None or (best and tried.end <= best.end):
            return True
        if fits(tried):
            best = tried
            return True
        return False

    good, bad, step = start, start + 1_000, 1_000
    while is_good(min(bad, stop)):
        if bad >= stop:
            return best
        good, step = bad, step * 2
        bad = good + step
    bad = min(bad, stop)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if is_good(middle) else (good, middle)
    return best
