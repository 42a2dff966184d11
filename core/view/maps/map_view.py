"""The map of a file: what it imports and defines, and on which lines, at the first level that fits."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial

from keyhole.core.types.choices import MapLevel
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.syntax import Outline
from keyhole.core.types.view_requests import MapRequest
from keyhole.core.view.budget.limits import check_least, check_offset
from keyhole.core.view.budget.sizes import Budget, Filled, Size, answer_budget, fill, largest, measure
from keyhole.core.view.maps.map_items import LONGEST_NAME, count_shown, has_gap, longest_list, pick
from keyhole.core.view.maps.map_writer import NO_LIMIT, MapShown, MapWriter, ReachedLimit, Sketch
from keyhole.core.view.writing import WIDEST, View, finish

# Bytes of a whole map at each level; the budget of the view may allow less.
CAPS = {
    MapLevel.FULL: 10_000,
    MapLevel.COMPACT: 15_000,
    MapLevel.MINIMAL: 20_000,
    MapLevel.OUTLINE: 50_000,
    MapLevel.TRUNCATED: 100_000,
}
# A list that does not fit shows at least this many symbols at each end, with names clipped if necessary.
FEWEST_EACH = 10
_WIDTHS = (LONGEST_NAME, 60, 24)
# The shortest line of a symbol: two spaces, a letter and `: [1-1]`.
_SHORTEST_LINE = 11
_LISTS_IMPORTS = (MapLevel.FULL, MapLevel.COMPACT)


def parse_map_request(request: MapRequest) -> MapShown:
    """Check a request against the limits."""
    check_offset(request.offset)
    check_least("symbols_each", request.symbols_each, 1)
    budget, notes = answer_budget(request.max_tokens)
    return MapShown(request.level, request.symbols_each, request.offset, request.format, budget, tuple(notes))


def map_view(source: SourceFile, outline: Outline, shown: MapShown, symbol: str = "") -> View:
    """Write the map of a file, or of one symbol in it."""
    writer = MapWriter(source, outline, shown, symbol)
    sketch = _Chooser(writer, shown).choose()
    text, info = finish(writer.draft(sketch), partial(writer.truncation, sketch))
    return View(text, writer.banner(sketch), writer.completeness(sketch), info)


class _Chooser:
    """Finds the best way to draw a map that fits."""

    def __init__(self, writer: MapWriter, shown: MapShown) -> None:
        self._writer = writer
        self._shown = shown

    def choose(self) -> Sketch:
        """Return the map at the level asked for, or at the first level that fits."""
        level = self._shown.level
        if self._shown.offset or level not in (MapLevel.AUTO, MapLevel.TRUNCATED):
            return self._page(MapLevel.TRUNCATED if level == MapLevel.AUTO else level)
        if level == MapLevel.TRUNCATED:
            return self._ends(NO_LIMIT)
        reached = NO_LIMIT
        for sketch in self._levels():
            explained = replace(sketch, reached=reached)
            if self._fits(explained):
                return explained
            reached = self._reached_limit(sketch)
        return self._ends(reached)

    def _levels(self) -> Iterator[Sketch]:
        """Yield the levels from the highest down; a class with very many members shows only both ends if necessary."""
        for level in (MapLevel.FULL, MapLevel.COMPACT, MapLevel.MINIMAL):
            yield self._sketch(level)
        each = self._shown.symbols_each
        if len(self._writer.entries) <= 2 * each < self._longest_list:
            yield self._sketch(MapLevel.COMPACT, each)
            fitting = self._most_each(partial(self._sketch, MapLevel.MINIMAL))
            yield self._sketch(MapLevel.MINIMAL, max(fitting, self._fewest_each))
        yield self._sketch(MapLevel.OUTLINE)

    def _ends(self, reached: ReachedLimit) -> Sketch:
        """Show both ends of the list: as much as fits, with names clipped only when too little does."""
        for width in _WIDTHS:
            draw = partial(self._sketch, MapLevel.TRUNCATED, width=width, reached=reached)
            each = self._most_each(draw)
            if each >= self._fewest_each:
                break
        if reached is NO_LIMIT and has_gap((larger := draw(each + 1)).items):
            # Fewer symbols fit than were asked for, so the banner has to name the limit, which takes room too.
            return self._ends(self._reached_limit(larger)) if each < self._shown.symbols_each else draw(each)
        return draw(max(each, 1))

    def _most_each(self, draw: Callable[[int], Sketch]) -> int:
        """Return how many symbols at each end fit; 0 when none do."""
        return largest(0, self._largest_each, lambda each: self._fits(draw(each)))

    def _page(self, level: MapLevel) -> Sketch:
        """Show as much of the list as fits, at one level, from the offset on."""
        left = max(len(self._writer.entries) - self._shown.offset, 0)
        whole = self._stretch(level, left)
        filled = self._fill(whole)
        if filled.count == left and self._fits(whole):
            return whole
        reached, count = self._page_limit(level, filled.reason), filled.count
        # The banner of a page is a little longer than the banner of the empty page that was measured.
        while count and not self._fits(self._stretch(level, count, reached=reached)):
            count -= 1
        return self._stretch(level, count, reached=reached) if count else self._first_lowered(level, reached)

    def _fill(self, sketch: Sketch) -> Filled:
        """Count the symbols that fit, measuring only as many lines as needed: a page is short, a list may be long."""
        room = self._budget(sketch).less(self._measured(replace(sketch, items=())))

        def size_of(first: int, last: int) -> Size:
            return measure("".join(self._writer.item_text(item, sketch.style) for item in sketch.items[first:last]))

        return fill(room, len(sketch.items), size_of)

    def _first_lowered(self, level: MapLevel, reached: ReachedLimit) -> Sketch:
        """Show one symbol that is too large for its level with less inside it, or with nothing."""
        reached = replace(reached, reason="single_result_too_large")
        draws = [
            partial(self._stretch, level, 1, self._shown.symbols_each, reached=reached),
            *(partial(self._stretch, MapLevel.TRUNCATED, 1, width=width, reached=reached) for width in _WIDTHS),
        ]
        return next((draw() for draw in draws if self._fits(draw())), draws[-1]())

    def _sketch(
        self, level: MapLevel, each: int | None = None, *, width: int = LONGEST_NAME, reached: ReachedLimit = NO_LIMIT
    ) -> Sketch:
        items = pick(self._writer.entries, level, each, self._writer.owner)
        return Sketch(self._writer.style(level, width), items, 0, False, level in _LISTS_IMPORTS, reached)

    def _stretch(
        self,
        level: MapLevel,
        count: int,
        each: int | None = None,
        *,
        width: int = LONGEST_NAME,
        reached: ReachedLimit = NO_LIMIT,
    ) -> Sketch:
        first = self._shown.offset
        # Picked one by one, so that a symbol may lose members but is never left out itself.
        items = tuple(
            item for symbol in self._writer.entries[first : first + count] for item in pick((symbol,), level, each)
        )
        lists_imports = level in _LISTS_IMPORTS and not first and self._writer.imports_bytes <= CAPS[level] // 4
        return Sketch(self._writer.style(level, width), items, first, True, lists_imports, reached)

    def _fits(self, sketch: Sketch) -> bool:
        return not self._is_hopeless(sketch) and self._budget(sketch).admits(self._measured(sketch))

    def _is_hopeless(self, sketch: Sketch) -> bool:
        """Return whether a map is too long even if every line were as short as possible, without writing it."""
        return count_shown(sketch.items) * _SHORTEST_LINE > CAPS[sketch.style.level]

    def _reached_limit(self, sketch: Sketch) -> ReachedLimit:
        """Return which limit a sketch breaks: its level's own, mostly the smaller one, or else the budget's."""
        level, budget = sketch.style.level, self._shown.budget
        size = None if self._is_hopeless(sketch) else self._measured(sketch)
        if size is None or (size.bytes > CAPS[level] and CAPS[level] < budget.limit_chars):
            return ReachedLimit("character_limit", f"{level} is over {_cap_text(level)}")
        reason = budget.broken_by(size)
        limit = budget.size_text if reason == "character_limit" else f"{budget.tokens:,} tokens"
        return ReachedLimit(reason, f"{level} is over {limit}")

    def _page_limit(self, level: MapLevel, reason: str | None) -> ReachedLimit:
        """Return which limit ended a page."""
        budget = self._shown.budget
        if reason != "token_limit" and CAPS[level] < budget.limit_chars:
            return ReachedLimit("character_limit", f"Limit {_cap_text(level)} a page")
        return ReachedLimit(reason or "character_limit", budget.limit_text(reason or "character_limit"))

    def _budget(self, sketch: Sketch) -> Budget:
        budget = self._shown.budget
        return replace(budget, bytes=min(budget.bytes, CAPS[sketch.style.level]))

    def _measured(self, sketch: Sketch) -> Size:
        return measure(self._writer.draft(sketch).with_info(self._writer.truncation(sketch, WIDEST)))

    @property
    def _largest_each(self) -> int:
        """The most symbols at each end that were asked for and exist."""
        return min(self._shown.symbols_each, max(len(self._writer.entries), self._longest_list, 1))

    @property
    def _fewest_each(self) -> int:
        return min(FEWEST_EACH, self._largest_each)

    @cached_property
    def _longest_list(self) -> int:
        return longest_list(self._writer.entries)


def _cap_text(level: MapLevel) -> str:
    return f"{CAPS[level] // 1_000} KB"
