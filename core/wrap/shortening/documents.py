"""An oversized answer as one sequence of records over all its content blocks, and the pages of it."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from keyhole.core.wrap.shortening.answer_blocks import (
    Block,
    compact_json,
    is_media,
    media_label,
    own_text,
    text_block,
    with_text,
)
from keyhole.core.wrap.shortening.layouts import Layout, RecordUnit, TextPiece
from keyhole.core.wrap.shortening.text_layouts import layout_of, single_record_layout

# One of several blocks is divided into records only if it is longer; otherwise the block is the record.
_LONG_BLOCK = 4_000


@dataclass(frozen=True, slots=True)
class Part:
    """A block of an answer, with its number there; an image has no layout and is one record that is never cut."""

    number: int
    block: Block
    layout: Layout | None

    @property
    def count(self) -> int:
        """The number of records."""
        return self.layout.count if self.layout else 1


@dataclass(frozen=True, slots=True)
class CutBlock:
    """Which part of a block's text a page shows, and how many characters the page adds before and after it."""

    block: int
    start: int
    end: int
    before: int
    after: int
    total: int

    def facts(self) -> dict[str, int]:
        """Return it for `_meta`, where programs find it that put pages together."""
        return {name: getattr(self, name) for name in ("block", "start", "end", "before", "after", "total")}


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """Blocks with the records from `first` to before `last`; `within` and `until` if it starts or ends inside a record.

    `until` counts characters of the record `last - 1`, of `length`; 0 if that record is whole.
    """

    blocks: Sequence[Block]
    first_block: int
    cuts: Sequence[CutBlock]
    first: int
    last: int
    within: int = 0
    until: int = 0
    length: int = 0

    @property
    def next(self) -> tuple[int, int]:
        """Where the next page starts: a record, and a character in it."""
        return (self.last - 1, self.until) if self.until else (self.last, 0)

    def meta(self) -> dict[str, Any]:
        """Return where the page belongs in the answer."""
        return {"first_block": self.first_block, "cut": [cut.facts() for cut in self.cuts]}


Fits = Callable[[AnswerPage], bool]


class AnswerDocument:
    """The parts of an answer, whose records are numbered from the first part to the last."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self._starts = [0, *accumulate(part.count for part in parts)]

    @classmethod
    def of(cls, blocks: Sequence[Block], numbers: Sequence[int]) -> "AnswerDocument":
        """Return a document of blocks; `numbers` are their places in the answer."""
        is_only = len(blocks) == 1
        return cls(
            [
                Part(number, block, _layout(block, is_only=is_only))
                for number, block in zip(numbers, blocks, strict=True)
            ]
        )

    @property
    def count(self) -> int:
        """The number of records."""
        return self._starts[-1]

    @cached_property
    def unit(self) -> RecordUnit:
        """What the records are called."""
        units = {part.layout.unit if part.layout else RecordUnit.RECORDS for part in self.parts}
        return units.pop() if len(units) == 1 else RecordUnit.RECORDS

    def page(self, first: int, within: int, fits: Fits) -> AnswerPage:
        """Return the page that starts at a record, or inside it: as many records as fit, or as much of one as fits."""
        if within or not fits(self._run(first, first + 1)):
            return self._inside(first, within, fits)
        good, bad, step = first + 1, first + 2, 1
        while bad <= self.count and fits(self._run(first, bad)):
            good, step = bad, step * 2
            bad = min(good + step, self.count) if good < self.count else self.count + 1
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if fits(self._run(first, middle)) else (good, middle)
        return self._run(first, self._good_end(first, good))

    def _good_end(self, first: int, last: int) -> int:
        """Return an earlier end of a page, at the end of a paragraph, if the page is still at least half as long."""
        if last >= self.count:
            return last
        place = self._place(last)
        layout = self.parts[place].layout
        ends = layout.good_ends if layout else frozenset()
        before = range(last, first + (last - first) // 2, -1)
        return next((end for end in before if end - self._starts[place] in ends), last)

    def _place(self, record: int) -> int:
        return bisect_right(self._starts, record) - 1

    def _run(self, first: int, last: int) -> AnswerPage:
        blocks, cuts = [], []
        places = range(self._place(first), self._place(last - 1) + 1)
        for place in places:
            part, offset = self.parts[place], self._starts[place]
            start, end = max(first - offset, 0), min(last - offset, part.count)
            if part.layout is None or (start == 0 and end == part.count):
                blocks.append(part.block)
                continue
            piece = part.layout.run(start, end)
            blocks.append(_cut_block(part.block, part.layout, piece))
            cuts.append(_cut_facts(part, part.layout, piece))
        return AnswerPage(blocks, self.parts[places[0]].number, cuts, first, last)

    def _inside(self, record: int, within: int, fits: Fits) -> AnswerPage:
        part, number = self.parts[self._place(record)], record - self._starts[self._place(record)]
        if part.layout is None:
            return AnswerPage([text_block(media_label(part.block))], part.number, (), record, record + 1)
        layout = part.layout
        begin, stop = layout.begin(number), layout.stop(number)

        def page(piece: TextPiece) -> AnswerPage:
            until = 0 if piece.end >= stop else piece.resume - begin
            blocks, cuts = [_cut_block(part.block, layout, piece)], [_cut_facts(part, layout, piece)]
            return AnswerPage(blocks, part.number, cuts, record, record + 1, within, until, stop - begin)

        return page(layout.part(number, within, lambda piece: fits(page(piece))))


def _layout(block: Block, *, is_only: bool) -> Layout | None:
    if is_media(block):
        return None
    text = own_text(block)
    if text is None:
        return single_record_layout(compact_json(block))
    return layout_of(text) if is_only or len(text) > _LONG_BLOCK else single_record_layout(text)


def _cut_block(block: Block, layout: Layout, piece: TextPiece) -> Block:
    shown = piece.shown(layout.text)
    return text_block(shown) if own_text(block) is None else with_text(block, shown)


def _cut_facts(part: Part, layout: Layout, piece: TextPiece) -> CutBlock:
    return CutBlock(part.number, piece.start, piece.end, len(piece.before), len(piece.after), len(layout.text))
