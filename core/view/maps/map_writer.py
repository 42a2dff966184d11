"""One map written out: banner, header, symbols and footer, as text or as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter

from keyhole.core.notes import Note
from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types.choices import Format, MapLevel
from keyhole.core.types.completeness import Completeness
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.syntax import Outline, Symbol
from keyhole.core.untrusted_text import middle_cut
from keyhole.core.view.budget.sizes import Budget, Size, TruncationInfo
from keyhole.core.view.maps.map_items import (
    LONGEST_NAME,
    Gap,
    Item,
    Items,
    Style,
    count_inside,
    count_shown,
    first_gap,
    gap_facts,
    has_gap,
    item_facts,
    item_lines,
    items_lines,
)
from keyhole.core.view.maps.symbol_names import Named, SymbolNames
from keyhole.core.view.masked import MaskedPlace, masked_facts, masked_sentence, masks_in_text
from keyhole.core.view.text import count_lines, count_of, human_size, json_line, name_text
from keyhole.core.view.writing import Draft, Page, count_facts, head_text, json_answer, note_texts

FOOTER = "Use read_file(path, start_line=LINE, max_lines=N) for targeted reads."
_LONGEST_PATH_WHEN_NARROW = 100
_LONGEST_NAME_IN_BANNER = 24
_PLACES_IN_BANNER = 4
_NAMED_IN_BANNER = (MapLevel.COMPACT, MapLevel.MINIMAL, MapLevel.OUTLINE)


@dataclass(frozen=True, slots=True)
class MapShown:
    """How to show a map; `notes` say what was changed about the request."""

    level: MapLevel = MapLevel.AUTO
    symbols_each: int = 50
    offset: int = 0
    format: Format = Format.TEXT
    budget: Budget = field(default_factory=Budget)
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class ReachedLimit:
    """Which limit prevented a better map: its JSON reason, and its text."""

    reason: str | None = None
    why: str = ""


NO_LIMIT = ReachedLimit()


@dataclass(frozen=True, slots=True)
class Sketch:
    """One way to draw a map: its symbols from `first` on, how to write them, and which limit prevented a better map."""

    style: Style
    items: Items
    first: int = 0
    is_page: bool = False
    lists_imports: bool = False
    reached: ReachedLimit = NO_LIMIT


def _texts_of(symbol: Symbol) -> tuple[str, ...]:
    # The name is part of the signature.
    return symbol.signature or symbol.name, symbol.doc, symbol.returns


def _joined_ranges(symbols: Sequence[Symbol], text: str) -> list[tuple[int, int]]:
    """Return the ranges of some symbols in a text; those with only blank lines in between are one range."""
    lines = text.split("\n")
    ranges: list[tuple[int, int]] = []
    for symbol in symbols:
        if ranges and not any(map(str.strip, lines[ranges[-1][1] : symbol.start_line - 1])):
            ranges[-1] = ranges[-1][0], max(ranges[-1][1], symbol.end_line)
        else:
            ranges.append((symbol.start_line, symbol.end_line))
    return ranges


class MapWriter:
    """Writes the map of a file, or of one symbol in it, from a sketch."""

    def __init__(self, source: SourceFile, outline: Outline, shown: MapShown, symbol: str) -> None:
        self._source = source
        self._outline = outline
        self._shown = shown
        named = self._names.find(symbol, source.path) if symbol else Named(())
        self._notes = note_texts(*shown.notes, *named.notes)
        # The whole of a type that stands in several places is a list of its parts, without an owner around it.
        self._type = symbol if named.is_spread else ""
        self.owner = named.parts[0] if named.parts and not named.is_spread else None
        self.entries = self.owner.children if self.owner else named.parts or outline.symbols
        self.total = count_inside(self.entries)

    @cached_property
    def _names(self) -> SymbolNames:
        return SymbolNames(self._outline)

    def style(self, level: MapLevel, width: int) -> Style:
        """Return how to write symbols of this file."""
        return Style(self._outline.language, level, width)

    def draft(self, sketch: Sketch) -> Draft:
        """Return the whole view, as text or JSON."""
        return self._json(sketch) if self._shown.format == Format.JSON else Draft(self._text(sketch))

    def item_text(self, item: Item | Gap, style: Style) -> str:
        """Return one symbol of the list as the view writes it."""
        if self._shown.format == Format.TEXT:
            return "\n".join(items_lines((item,), style, "  ", self._gap_lines)) + "\n"
        return f"{json_line(item_facts(item, style))},\n" if isinstance(item, Item) else ""

    def _text(self, sketch: Sketch) -> str:
        # Who asks for one symbol knows how to go on.
        footer = () if self._type or self.owner else ("", FOOTER)
        body = "\n".join([*self._head(sketch), *self._body(sketch), *footer])
        return f"{head_text(self.banner(sketch), self._notes)}{body}\n"

    def _head(self, sketch: Sketch) -> Iterator[str]:
        source, language = self._source, BY_ID[self._outline.language]
        yield f"File Map: {self._path(sketch)}"
        yield f"{count_of(self._lines, 'line')} │ {human_size(source.size)} │ {language.label}"
        if has_gap(sketch.items):
            yield f"[Truncated: showing {count_shown(sketch.items):,} of {count_of(self.total, 'symbol')}]"
        if self._outline.has_errors:
            yield "Syntax errors: showing what could be parsed."
        if self._outline.missed:
            yield f"No symbols: {self._outline.missed}."

    def _body(self, sketch: Sketch) -> Iterator[str]:
        if self.owner:
            own = self.style(MapLevel.FULL, sketch.style.width)
            yield from ("", *item_lines(Item(self.owner), own, "", self._gap_lines))
        elif not self._type:
            yield from self._imports(sketch)
        if self.total:
            title = f"Parts of {self._short(self._type)}" if self._type else "Inside" if self.owner else "Symbols"
            yield from ("", title, *items_lines(sketch.items, sketch.style, "  ", self._gap_lines))
        elif not self.owner and not self._outline.missed:
            yield from ("", "No symbols found.")

    def _imports(self, sketch: Sketch) -> Iterator[str]:
        if sketch.lists_imports and self._import_texts:
            yield from ("", "Imports", *(f"  {text}" for text in self._import_texts))
        elif self._outline.imports:
            lines = [imported.line for imported in self._outline.imports]
            yield from ("", f"{count_of(len(lines), 'import')}: [{min(lines)}-{max(lines)}]")

    def _gap_lines(self, gap: Gap) -> tuple[str, str]:
        is_own = gap.owner is self.owner
        reference = "" if is_own or gap.owner is None else self._names.exact_reference(gap.owner)
        way = f"symbol={reference} offset={gap.first}" if reference else f"offset={gap.first}"
        noun = "symbol" if gap.count == 1 else "symbols"
        step = f", next page: {way}" if is_own or reference else ""
        return f"─ ─ ─ {gap.count:,} more {noun} ─ ─ ─", f"lines {gap.start_line}-{gap.end_line}{step}"

    def _json(self, sketch: Sketch) -> Draft:
        shown = count_shown(sketch.items)
        entries = [item for item in sketch.items if isinstance(item, Item)]
        gap = self._gap(sketch)
        page = Page(sketch.first, max(len(entries), 1), len(self.entries))
        facts: dict[str, object] = {
            "notes": self._notes,
            "file_path": self._path(sketch),
            "language": self._outline.language,
            "lines": self._lines,
            "bytes": self._source.size,
            "has_errors": self._outline.has_errors,
            "level": sketch.style.level,
            "symbol": self._owner_facts(sketch),
            "imports": self._import_texts if sketch.lists_imports else [],
            "total_imports": len(self._outline.imports),
            "total_symbols": self.total,
            "shown_symbols": shown,
            "omitted_symbols": self.total - shown,
            "omitted": gap_facts(gap) if gap else None,
            **masked_facts(self._masked(sketch), self._shown.budget),
        }
        results = [json_line(item_facts(item, sketch.style)) for item in entries]
        return json_answer(
            self.banner(sketch), results, lambda info: {**count_facts(page, len(entries), info), **facts}
        )

    def _owner_facts(self, sketch: Sketch) -> dict[str, object] | None:
        if self._type:
            return {"name": middle_cut(self._type, sketch.style.width), "parts": len(self.entries)}
        return item_facts(Item(self.owner), self.style(MapLevel.FULL, sketch.style.width)) if self.owner else None

    def completeness(self, sketch: Sketch) -> Completeness:
        """Return what the map lacks; a lower level that `auto` chose lacks nothing that was asked for."""
        if self._left_out(sketch):
            return Completeness.LEFT_OUT
        return Completeness.SHORTENED if self._reason(sketch) else Completeness.COMPLETE

    def _left_out(self, sketch: Sketch) -> int:
        """Return how many symbols the budget took: those after the page, or those missing from the map."""
        if sketch.is_page:
            return len(self.entries) - sketch.first - len(sketch.items) if sketch.reached.reason and sketch.items else 0
        return self.total - count_shown(sketch.items)

    def banner(self, sketch: Sketch) -> str:
        """Return the line at the top."""
        return self._symbols_banner(sketch) + masked_sentence(self._masked(sketch), is_one_file=True)

    def _masked(self, sketch: Sketch) -> list[MaskedPlace]:
        """Return what is masked in the names, signatures, docs and imports that are shown."""
        if not self._source.masked:
            return []
        shown = [
            (" ".join(_texts_of(symbol)), symbol.start_line, symbol.end_line) for symbol in self._shown_symbols(sketch)
        ]
        if sketch.lists_imports and not self.owner and not self._type:
            shown += [(found.text, found.line, found.line + found.text.count("\n")) for found in self._outline.imports]
        masks = [mask for text, first, last in shown for mask in masks_in_text(text, self._source.masked, first, last)]
        return [
            MaskedPlace(self._source.path, mask) for mask in sorted(dict.fromkeys(masks), key=attrgetter("start_line"))
        ]

    def _shown_symbols(self, sketch: Sketch) -> Iterator[Symbol]:
        if self.owner:
            yield self.owner
        pending = list(sketch.items)
        while pending:
            item = pending.pop()
            if isinstance(item, Item):
                yield item.symbol
                pending += item.items

    def _symbols_banner(self, sketch: Sketch) -> str:
        if not self.entries:
            return self._nothing_to_show()
        inside = f" inside {self._short(self.owner.name)}" if self.owner else self._of_type
        if not sketch.items:
            there_are = f"there are {len(self.entries):,}" if len(self.entries) > 1 else "there is 1"
            return f"No symbols at offset={sketch.first}{inside}: {there_are}. First page: offset=0."
        level = f" at {sketch.style.level}" if sketch.style.level in _NAMED_IN_BANNER else ""
        what = f"{self._what(sketch)}{inside}{level}"
        return " ".join([f"{what}{self._missing(sketch)}.", *self._steps(sketch)])

    def _what(self, sketch: Sketch) -> str:
        shown, count, total = count_shown(sketch.items), len(sketch.items), len(self.entries)
        if sketch.is_page and count < total:
            first, last = sketch.first + 1, sketch.first + count
            # Pages count the symbols of this list; everywhere else those inside them count too.
            of = f"of {total:,}" + (f" ({self.total:,} with those inside)" if self.total > total else "")
            return f"Symbol {first:,} {of}" if count == 1 else f"Symbols {first:,}-{last:,} {of}"
        if shown == self.total:
            return f"All {shown:,} symbols" if shown > 1 else "The only symbol"
        return f"{shown:,} of {count_of(self.total, 'symbol')}"

    def _missing(self, sketch: Sketch) -> str:
        """Return what is shortened or left out, and which limit did it."""
        why, left_out = sketch.reached.why, self._left_out(sketch)
        if sketch.is_page:
            parts = list(self._missing_from_page(sketch, left_out))
            return f". {why}: {', '.join(parts)}" if parts else ""
        if not left_out:
            return f": {why}" if why else ""
        gap = first_gap(sketch.items)
        # The ends of a list stop at symbols_each, even where more would fit.
        is_full = gap is not None and gap.first == self._shown.symbols_each
        limits = [f"symbols_each={self._shown.symbols_each}"] if is_full else []
        return f": {left_out:,} left out ({', '.join([*limits, *filter(None, [why])])})"

    def _missing_from_page(self, sketch: Sketch, left_out: int) -> Iterator[str]:
        if sketch.reached.reason == "single_result_too_large":
            level = sketch.style.level
            name = "its name" if level == MapLevel.TRUNCATED else level
            yield f"{sketch.first + 1:,} shortened" + (f" to {name}" if level != self._shown.level else "")
        if left_out:
            last = len(self.entries)
            yield f"{last:,} left out" if left_out == 1 else f"{last - left_out + 1:,}-{last:,} left out"

    def _nothing_to_show(self) -> str:
        if self.owner is None:
            return "No symbols. Read the file: read_file start_line=1."
        start, lines = self.owner.start_line, self.owner.end_line - self.owner.start_line + 1
        return f"Symbol {self._short(self.owner.name)}. Read it: read_file start_line={start} max_lines={lines}."

    def _steps(self, sketch: Sketch) -> Iterator[str]:
        if following := self._next(sketch):
            yield f"Next page: {following}."
        is_lowered = sketch.style.level != MapLevel.FULL
        if is_lowered and not sketch.is_page and not has_gap(sketch.items):
            yield "Everything: level=full."
        if (is_lowered or has_gap(sketch.items)) and (reference := self._example(sketch)):
            yield f"Expand one: symbol={reference}."

    def _example(self, sketch: Sketch) -> str:
        """Return the reference of a symbol that has more to show: preferably one with members."""
        items = [item for item in sketch.items if isinstance(item, Item)]
        best = next((item for item in items if item.symbol.children), items[0])
        # The name of a type would show this same map again.
        return self._names.exact_reference(best.symbol) if self._type else self._names.reference(best.symbol)

    def truncation(self, sketch: Sketch, size: Size) -> TruncationInfo:
        """Return what the budget did."""
        return TruncationInfo(
            reason=self._reason(sketch),
            original_count=self.total,
            returned_count=count_shown(sketch.items),
            estimated_chars=size.chars,
            limit_chars=self._shown.budget.limit_chars,
            estimated_tokens=size.tokens,
            limit_tokens=self._shown.budget.tokens,
            detail_requested=self._shown.level,
            detail_applied=sketch.style.level,
            next=self._next(sketch),
        )

    def _reason(self, sketch: Sketch) -> str | None:
        """Return the limit that left symbols out or shortened them; all symbols at the level `auto` chose need none."""
        if has_gap(sketch.items):
            return sketch.reached.reason or "character_limit"
        is_all = count_shown(sketch.items) == self.total
        return None if is_all and not sketch.is_page else sketch.reached.reason

    def _next(self, sketch: Sketch) -> str:
        """Return the parameters of the next page, or an empty text."""
        if gap := self._gap(sketch):
            return f"offset={gap.first}"
        after = sketch.first + len(sketch.items)
        return f"offset={after}" if sketch.is_page and after < len(self.entries) else ""

    def _gap(self, sketch: Sketch) -> Gap | None:
        return next((item for item in sketch.items if isinstance(item, Gap)), None)

    def _path(self, sketch: Sketch) -> str:
        is_narrow = sketch.style.width < LONGEST_NAME
        return name_text(self._source.path, _LONGEST_PATH_WHEN_NARROW if is_narrow else LONGEST_NAME)

    def _short(self, name: str) -> str:
        return name_text(name, _LONGEST_NAME_IN_BANNER)

    @cached_property
    def _of_type(self) -> str:
        """Which type the map shows, and where its parts are."""
        if not self._type:
            return ""
        places = _joined_ranges(self.entries, self._source.text)
        listed = ", ".join(f"{start}-{end}" for start, end in places[:_PLACES_IN_BANNER])
        more = len(places) - _PLACES_IN_BANNER
        return f" of {self._short(self._type)} (lines {listed}{f' and {more:,} more' if more > 0 else ''})"

    @cached_property
    def _lines(self) -> int:
        return count_lines(self._source.text)

    @cached_property
    def _import_texts(self) -> list[str]:
        return list(dict.fromkeys(name_text(imported.text) for imported in self._outline.imports))

    @cached_property
    def imports_bytes(self) -> int:
        """The size of the list of imports."""
        return sum(len(text.encode()) + 3 for text in self._import_texts)
