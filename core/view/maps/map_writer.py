"""One map written out: banner, header, symbols and footer, as text or as JSON."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from keyhole.core.notes import Note
from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types import Format, MapLevel, Outline, SourceFile, Symbol
from keyhole.core.view.budget.sizes import Budget, Size, TruncationInfo
from keyhole.core.view.maps.map_items import (
    LONGEST_NAME,
    Gap,
    Item,
    Items,
    Style,
    count_inside,
    count_shown,
    gap_facts,
    has_gap,
    item_facts,
    item_lines,
    items_lines,
)
from keyhole.core.view.maps.symbol_names import SymbolNames
from keyhole.core.view.text import count_lines, count_of, human_size, json_line, name_text
from keyhole.core.view.writing import Page, Writing, count_facts, head_text, json_answer, note_texts

FOOTER = "Use read_file(path, start_line=LINE, max_lines=N) for targeted reads."
_LONGEST_PATH_WHEN_NARROW = 100
_LONGEST_NAME_IN_BANNER = 24
_NAMED_IN_BANNER = (MapLevel.COMPACT, MapLevel.MINIMAL, MapLevel.OUTLINE)


@dataclass(frozen=True, slots=True)
class MapShown:
    """How a map is to be shown; `notes` say what was changed about the request."""

    level: MapLevel = MapLevel.AUTO
    symbols_each: int = 50
    offset: int = 0
    format: Format = Format.TEXT
    budget: Budget = field(default_factory=Budget)
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Cut:
    """What kept a better map from being shown: the reason as data, and in words."""

    reason: str | None = None
    why: str = ""


NO_CUT = Cut()


@dataclass(frozen=True, slots=True)
class Sketch:
    """One way to draw a map: a stretch of its symbols from `first` on, how they are written, and why not better."""

    style: Style
    items: Items
    first: int = 0
    is_page: bool = False
    lists_imports: bool = False
    cut: Cut = NO_CUT


class MapWriter:
    """Writes the map of a file, or of one symbol in it, as it is sketched."""

    def __init__(self, source: SourceFile, outline: Outline, shown: MapShown, symbol: str) -> None:
        self._source = source
        self._outline = outline
        self._shown = shown
        self._names = SymbolNames(outline)
        self.owner: Symbol | None = None
        self._notes = note_texts(*shown.notes)
        if symbol:
            self.owner, notes = self._names.find(symbol, source.path)
            self._notes += note_texts(*notes)
        self.entries = self.owner.children if self.owner else outline.symbols
        self.total = count_inside(self.entries)

    def writing(self, sketch: Sketch) -> Writing:
        """Write the whole view."""
        return self._json(sketch) if self._shown.format == Format.JSON else Writing(self._text(sketch))

    def item_text(self, item: Item | Gap, style: Style) -> str:
        """Write one symbol of the list, as it stands in the view."""
        if self._shown.format == Format.TEXT:
            return "\n".join(items_lines((item,), style, "  ", self._gap_lines)) + "\n"
        return f"{json_line(item_facts(item, style))},\n" if isinstance(item, Item) else ""

    def _text(self, sketch: Sketch) -> str:
        body = "\n".join([*self._head(sketch), *self._body(sketch), "", FOOTER])
        return f"{head_text(self.banner(sketch), self._notes)}{body}\n"

    def _head(self, sketch: Sketch) -> Iterator[str]:
        source, language = self._source, BY_ID[self._outline.language]
        yield f"File Map: {self._path(sketch)}"
        yield f"{count_of(self._lines, 'line')} │ {human_size(source.size)} │ {language.label}"
        if has_gap(sketch.items):
            yield f"[Truncated: showing {count_shown(sketch.items):,} of {count_of(self.total, 'symbol')}]"
        if self._outline.has_errors:
            yield "The file has syntax errors; what could be parsed is shown."
        if self._outline.missed:
            yield f"There are no symbols, since {self._outline.missed}."

    def _body(self, sketch: Sketch) -> Iterator[str]:
        if self.owner:
            own = Style(MapLevel.FULL, sketch.style.width)
            yield from ("", *item_lines(Item(self.owner), own, "", self._gap_lines))
        elif sketch.lists_imports and self._import_texts:
            yield from ("", "Imports", *(f"  {text}" for text in self._import_texts))
        elif self._outline.imports:
            lines = [imported.line for imported in self._outline.imports]
            yield from ("", f"{count_of(len(lines), 'import')}: [{min(lines)}-{max(lines)}]")
        if self.total:
            title = "Inside" if self.owner else "Symbols"
            yield from ("", title, *items_lines(sketch.items, sketch.style, "  ", self._gap_lines))
        elif not self.owner:
            yield from ("", "No symbols found.")

    def _gap_lines(self, gap: Gap) -> tuple[str, str]:
        is_own = gap.owner is self.owner
        reference = "" if is_own or gap.owner is None else self._names.reference(gap.owner)
        way = f"symbol={reference} offset={gap.first}" if reference else f"offset={gap.first}"
        noun = "symbol" if gap.count == 1 else "symbols"
        goes_on = f": {way} goes on here" if is_own or reference else ""
        return f"─ ─ ─ {gap.count:,} more {noun} ─ ─ ─", f"lines {gap.start_line}-{gap.end_line}{goes_on}"

    def _json(self, sketch: Sketch) -> Writing:
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
            "symbol": item_facts(Item(self.owner), Style(MapLevel.FULL, sketch.style.width)) if self.owner else None,
            "imports": self._import_texts if sketch.lists_imports else [],
            "total_imports": len(self._outline.imports),
            "total_symbols": self.total,
            "shown_symbols": shown,
            "omitted_symbols": self.total - shown,
            "omitted": gap_facts(gap) if gap else None,
        }
        results = [json_line(item_facts(item, sketch.style)) for item in entries]
        return json_answer(
            self.banner(sketch), results, lambda info: {**count_facts(page, len(entries), info), **facts}
        )

    def banner(self, sketch: Sketch) -> str:
        """Write the line at the top."""
        if not self.entries:
            return self._nothing_to_show()
        inside = f" inside {self._name(self.owner)}" if self.owner else ""
        count, total = len(sketch.items), len(self.entries)
        if not count:
            return f"Nothing at offset={sketch.first}: there are {count_of(total, 'symbol')}{inside}, from offset=0 on."
        shown = count_shown(sketch.items)
        if sketch.is_page and count < total:
            what = f"{sketch.first + 1:,}-{sketch.first + count:,} of {count_of(total, 'symbol')}"
        elif shown == self.total:
            what = f"all {shown:,} symbols" if shown > 1 else "the only symbol"
        else:
            what = f"{shown:,} of {count_of(self.total, 'symbol')}"
        level = f" at {sketch.style.level}" if sketch.style.level in _NAMED_IN_BANNER else ""
        why = f" ({sketch.cut.why})" if sketch.cut.why else ""
        ways = list(self._ways(sketch))
        return f"Showing {what}{inside}{level}{why}{': ' if ways else ''}{', or '.join(ways)}."

    def _nothing_to_show(self) -> str:
        if self.owner is None:
            return "No symbols to show: read_file start_line=1 reads the file."
        start, lines = self.owner.start_line, self.owner.end_line - self.owner.start_line + 1
        return f"Showing {self._name(self.owner)}: read_file start_line={start} max_lines={lines} reads it."

    def _ways(self, sketch: Sketch) -> Iterator[str]:
        if following := self._next(sketch):
            yield f"next page {following}" if sketch.is_page else f"{following} goes on after the first symbols"
        is_lowered = sketch.style.level != MapLevel.FULL
        if is_lowered and not sketch.is_page and not has_gap(sketch.items):
            yield "level=full pages through everything"
        if (is_lowered or has_gap(sketch.items)) and (reference := self._example(sketch)):
            yield f"symbol={reference} expands one"

    def _example(self, sketch: Sketch) -> str:
        """Name a symbol that has more to show: one with something inside, if there is one."""
        items = [item for item in sketch.items if isinstance(item, Item)]
        best = next((item for item in items if item.symbol.children), items[0])
        return self._names.reference(best.symbol)

    def truncation(self, sketch: Sketch, size: Size) -> TruncationInfo:
        """Tell what the budget did."""
        return TruncationInfo(
            reason=self._reason(sketch),
            original_count=self.total,
            returned_count=count_shown(sketch.items),
            estimated_chars=size.chars,
            limit_chars=self._shown.budget.chars,
            estimated_tokens=size.tokens,
            limit_tokens=self._shown.budget.tokens,
            detail_requested=self._shown.level,
            detail_applied=sketch.style.level,
            next=self._next(sketch),
        )

    def _reason(self, sketch: Sketch) -> str | None:
        """Tell what left symbols out; a lower level that has them all is no cut, unless another was asked for."""
        if has_gap(sketch.items):
            return sketch.cut.reason or "character_limit"
        is_all = count_shown(sketch.items) == self.total
        return None if is_all and not sketch.is_page else sketch.cut.reason

    def _next(self, sketch: Sketch) -> str:
        """Say where the list goes on."""
        if gap := self._gap(sketch):
            return f"offset={gap.first}"
        after = sketch.first + len(sketch.items)
        return f"offset={after}" if sketch.is_page and after < len(self.entries) else ""

    def _gap(self, sketch: Sketch) -> Gap | None:
        return next((item for item in sketch.items if isinstance(item, Gap)), None)

    def _path(self, sketch: Sketch) -> str:
        is_narrow = sketch.style.width < LONGEST_NAME
        return name_text(self._source.path, _LONGEST_PATH_WHEN_NARROW if is_narrow else LONGEST_NAME)

    def _name(self, symbol: Symbol) -> str:
        return name_text(symbol.name, _LONGEST_NAME_IN_BANNER)

    @cached_property
    def _lines(self) -> int:
        return count_lines(self._source.text)

    @cached_property
    def _import_texts(self) -> list[str]:
        return list(dict.fromkeys(name_text(imported.text) for imported in self._outline.imports))

    @cached_property
    def imports_bytes(self) -> int:
        """How much the list of imports takes."""
        return sum(len(text.encode()) + 3 for text in self._import_texts)
