"""The symbols of a map: which of them a level shows, as lines of text and as facts for JSON."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from keyhole.core.deadline import paced
from keyhole.core.types.choices import MapLevel
from keyhole.core.types.syntax import Symbol
from keyhole.core.untrusted_text import middle_cut
from keyhole.core.view.maps.base_classes import base_names, declaration
from keyhole.core.view.text import declared_name, name_text, shorten

LONGEST_NAME = 200
_LONGEST_DOC = 200
_ALL_DEPTHS = 99
# How many levels of children each level of a map shows.
_DEPTHS = {MapLevel.FULL: _ALL_DEPTHS, MapLevel.COMPACT: _ALL_DEPTHS, MapLevel.MINIMAL: 1}
# The visibility of Rust is several words in one: `pub(crate)`.
_WORD = re.compile(r"\w+")
_NAMES_ONLY = (MapLevel.MINIMAL, MapLevel.OUTLINE)


@dataclass(frozen=True, slots=True)
class Gap:
    """Symbols left out of the middle of a list; `first` is the offset of the first one."""

    owner: Symbol | None
    first: int
    count: int
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Item:
    """A symbol that is shown, its members that are shown, and how many more it has."""

    symbol: Symbol
    items: tuple["Item | Gap", ...] = ()
    hidden: int = 0


Items = tuple[Item | Gap, ...]
GapLines = Callable[[Gap], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Style:
    """How to write the symbols of a language: at which level, and how long a name may be."""

    language: str
    level: MapLevel
    width: int = LONGEST_NAME


def pick(symbols: Sequence[Symbol], level: MapLevel, each: int | None, owner: Symbol | None = None) -> Items:
    """Choose what a level shows of some symbols; a list longer than twice `each` shows only its ends."""
    return _pick(symbols, _DEPTHS.get(level, 0), each, owner)


def count_shown(items: Items) -> int:
    """Count the symbols that are shown, at every depth."""
    return sum(1 + count_shown(item.items) for item in paced(items) if isinstance(item, Item))


def first_gap(items: Items) -> Gap | None:
    """Return the first gap in a list or inside one of its symbols."""
    found = (item if isinstance(item, Gap) else first_gap(item.items) for item in items)
    return next((gap for gap in found if gap), None)


def has_gap(items: Items) -> bool:
    """Return whether symbols are left out of the middle of a list."""
    return first_gap(items) is not None


def count_inside(symbols: Sequence[Symbol]) -> int:
    """Count symbols at every depth."""
    return sum(1 for symbol in paced(symbols) for _ in symbol.walk())


def longest_list(symbols: Sequence[Symbol]) -> int:
    """Return how many children the symbol with the most children has."""
    return max((len(inner.children) for symbol in symbols for inner in symbol.walk()), default=0)


def item_lines(item: Item, style: Style, indent: str, gap_lines: GapLines) -> Iterator[str]:
    """Yield the lines of a symbol and of its members that are shown."""
    symbol = item.symbol
    inside = f" ({item.hidden:,} inside)" if item.hidden else ""
    yield f"{indent}{_label(symbol, style)}: [{symbol.start_line}-{symbol.end_line}]{inside}"
    if style.level == MapLevel.FULL and symbol.doc:
        yield f"{indent}    {shorten(symbol.doc, _LONGEST_DOC)}"
    yield from items_lines(item.items, style, f"{indent}  ", gap_lines)


def items_lines(items: Items, style: Style, indent: str, gap_lines: GapLines) -> Iterator[str]:
    """Yield the lines of a list of symbols."""
    for item in items:
        if isinstance(item, Gap):
            yield from (f"{indent}{line}" for line in gap_lines(item))
        else:
            yield from item_lines(item, style, indent, gap_lines)


def item_facts(item: Item, style: Style) -> dict[str, object]:
    """Return a symbol as JSON facts, as its level shows it."""
    symbol, level = item.symbol, style.level
    facts: dict[str, object] = {
        "name": middle_cut(symbol.name, style.width),
        "kind": symbol.kind,
        "start_line": symbol.start_line,
        "end_line": symbol.end_line,
    }
    if level not in _NAMES_ONLY:
        facts["signature"] = middle_cut(symbol.signature, style.width)
    elif bases := base_names(symbol, style.language):
        facts["bases"] = middle_cut(bases, style.width)
    if level == MapLevel.FULL:
        facts |= {
            "doc": shorten(symbol.doc, _LONGEST_DOC),
            "returns": shorten(symbol.returns, _LONGEST_DOC),
            "modifiers": [middle_cut(word, LONGEST_NAME) for word in symbol.modifiers],
            "exported": symbol.exported,
        }
    if item.items:
        facts["children"] = [item_facts(child, style) for child in item.items if isinstance(child, Item)]
    gaps = [gap_facts(gap) for gap in item.items if isinstance(gap, Gap)]
    return facts | ({"omitted": gaps[0]} if gaps else {}) | ({"inside": item.hidden} if item.hidden else {})


def gap_facts(gap: Gap) -> dict[str, object]:
    """Return a gap as JSON facts."""
    return {"symbols": gap.count, "start_line": gap.start_line, "end_line": gap.end_line, "offset": gap.first}


def _pick(symbols: Sequence[Symbol], depth: int, each: int | None, owner: Symbol | None) -> Items:
    if each is None or len(symbols) <= 2 * each:
        return tuple(_item(symbol, depth, each) for symbol in paced(symbols))
    middle = symbols[each:-each]
    gap = Gap(owner, each, len(middle), middle[0].start_line, max(symbol.end_line for symbol in middle))
    first, last = ([_item(symbol, depth, each) for symbol in end] for end in (symbols[:each], symbols[-each:]))
    return (*first, gap, *last)


def _item(symbol: Symbol, depth: int, each: int | None) -> Item:
    if not symbol.children:
        return Item(symbol)
    if not depth:
        return Item(symbol, hidden=count_inside(symbol.children))
    return Item(symbol, _pick(symbol.children, depth - 1, each, symbol))


def _label(symbol: Symbol, style: Style) -> str:
    if style.level in _NAMES_ONLY:
        return name_text(declaration(symbol, style.language), style.width)
    label = name_text(symbol.signature, style.width)
    if style.level != MapLevel.FULL:
        return label
    # A section of a class, or an underscore, may say what the signature does not.
    words = _WORD.findall(declared_name(symbol.signature, symbol.name))
    return " ".join([*(name_text(word, style.width) for word in symbol.modifiers if word not in words), label])
