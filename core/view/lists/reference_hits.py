"""The lines of a page of references: their source as it is now, and the definitions around them."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from keyhole.core.index.rows import SymbolEntry
from keyhole.core.references.find import ReferenceLine
from keyhole.core.search.engine import Engine
from keyhole.core.search.indexed_texts import IndexedTexts
from keyhole.core.search.owners import qualified_name
from keyhole.core.syntax.occurrences import LAST_COLUMN
from keyhole.core.types.search_results import Hit, Owner, Passage, Stretch


class ReferenceHits(NamedTuple):
    """Lines with their source, the files that have changed, and those that may have changed."""

    hits: list[Hit]
    changed: set[str]
    unchecked: set[str]


def reference_hits(engine: Engine, name: str, lines: Sequence[ReferenceLine]) -> ReferenceHits:
    """Return lines with their source and the definitions around them, as they are now."""
    hits: list[Hit] = []
    changed: set[str] = set()
    symbols = engine.store.symbols_around([(one.path, one.line) for one in lines])
    texts = IndexedTexts(engine.store, engine.files, list(dict.fromkeys(one.path for one in lines)))
    for path, group in groupby(lines, key=attrgetter("path")):
        of_file = list(group)
        text = texts.read(path)
        if text is None:
            changed.add(path)
        source = {} if text is None else _lines(text, [one.line for one in of_file])
        hits += [_hit(name, one, symbols.get((path, one.line)), source.get(one.line)) for one in of_file]
    return ReferenceHits(hits, changed, texts.unchecked)


def _lines(text: str, numbers: Sequence[int]) -> dict[int, str]:
    """Return some lines of a text without their ends; only the part of it from its nearer end is split."""
    last = text.count("\n") + 1
    wanted = [number for number in numbers if number <= last]
    if not wanted:
        return {}
    if min(wanted) > last // 2:
        lines = text.rsplit("\n", last - min(wanted) + 1)
        return {number: lines[number - last - 1] for number in wanted}
    lines = text.split("\n", max(wanted))
    return {number: lines[number - 1] for number in wanted}


def _hit(name: str, one: ReferenceLine, symbol: SymbolEntry | None, line: str | None) -> Hit:
    return Hit(
        path=one.path,
        language="",
        start_line=one.line,
        end_line=one.line,
        chunk_id=0,
        score=1.0,
        kind=symbol.kind if symbol else "code",
        name=symbol.name if symbol else "",
        line=one.line,
        signature="",
        doc="",
        returns="",
        definitions="",
        signals=(),
        passage=None if line is None else Passage(line, "", "", (one.line,), (Stretch(one.line, line),)),
        column=_column(name, one.columns[0], (line or "").rstrip("\r\n")),
        owner=Owner(qualified_name(symbol), symbol.start_line, symbol.end_line) if symbol else None,
    )


def _column(name: str, first_byte: int, text: str) -> int:
    """Return the column of a name as people count it; beyond the last recorded column, that of its first place."""
    if first_byte < LAST_COLUMN:
        return len(text.encode()[:first_byte].decode("utf-8", "ignore")) + 1
    return text.find(name) + 1 or 1
