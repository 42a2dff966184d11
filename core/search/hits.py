"""From candidates to hits: each is labelled by the definition in it that fits the query best."""

from typing import Any

from keyhole.core.index.store import Store, json_ids
from keyhole.core.index.words import split_words
from keyhole.core.search.rank import ChunkCandidate, Wanted, letters_of
from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types import HOLDS_METHODS, Hit, Signal

_MAX_KEY_METHODS = 5
# id, name, kind, signature, doc, returns, name_line, start_line, end_line, parent
_SymbolRow = tuple[Any, ...]


def label_hits(store: Store, page: list[ChunkCandidate], top: float, wanted: Wanted) -> tuple[Hit, ...]:
    """Make hits of candidates; scores become shares of the top one."""
    symbols = _symbols_in(store, page)
    return tuple(_hit(store, candidate, symbols.get(candidate.chunk_id, []), top, wanted) for candidate in page)


def _hit(store: Store, candidate: ChunkCandidate, symbols: list[_SymbolRow], top: float, wanted: Wanted) -> Hit:
    best = max(symbols, key=lambda row: _fit(row, candidate, wanted), default=None)
    unnamed = "code" if BY_ID[candidate.language].is_code else "section"
    _, name, kind, signature, doc, returns, line = best[:7] if best else (0, "", unnamed, "", "", "", 0)
    return Hit(
        path=candidate.path,
        language=candidate.language,
        start_line=candidate.start_line,
        end_line=candidate.end_line,
        chunk_id=candidate.chunk_id,
        score=round(candidate.score / top, 4) if top else 0.0,
        kind=kind,
        name=name,
        line=line or candidate.start_line,
        signature=signature,
        doc=doc,
        returns=returns,
        definitions=candidate.definitions,
        signals=tuple(Signal(*signal) for signal in candidate.signals),
        key_methods=_key_methods(store, candidate.file_id, best) if best and kind in HOLDS_METHODS else (),
        match_lines=candidate.match_lines,
    )


def _symbols_in(store: Store, page: list[ChunkCandidate]) -> dict[int, list[_SymbolRow]]:
    """Load the symbols whose names stand in the chunks of a page."""
    rows = store.query(
        """SELECT chunk.id, symbol.id, name, kind, signature, doc, returns, name_line, symbol.start_line,
                symbol.end_line, symbol.parent
            FROM json_each(?) wanted JOIN chunk ON chunk.id = wanted.value
            JOIN symbol ON symbol.file_id = chunk.file_id AND name_line BETWEEN chunk.start_line AND chunk.end_line
            ORDER BY symbol.id""",
        json_ids({candidate.chunk_id for candidate in page}),
    )
    symbols: dict[int, list[_SymbolRow]] = {}
    for chunk_id, *row in rows:
        symbols.setdefault(chunk_id, []).append(tuple(row))
    return symbols


def _fit(row: _SymbolRow, candidate: ChunkCandidate, wanted: Wanted) -> tuple[bool, bool, float]:
    name = row[1]
    parts = set(split_words(name).split())
    share = len(parts & wanted.words) / len(parts) if parts else 0.0
    return row[0] == candidate.symbol_id, letters_of(name) in wanted.names, share


def _key_methods(store: Store, file_id: int, label: _SymbolRow) -> tuple[str, ...]:
    """Name the first methods of a class, the exported ones before the others."""
    name, (start, end, parent) = label[1], label[-3:]
    rows = store.query(
        """SELECT DISTINCT name FROM symbol WHERE file_id = ? AND kind IN ('method', 'function', 'constructor')
            AND parent = ? AND start_line BETWEEN ? AND ? ORDER BY exported DESC, id LIMIT ?""",
        file_id,
        f"{parent}.{name}" if parent else name,
        start,
        end,
        _MAX_KEY_METHODS,
    )
    return tuple(row[0] for row in rows)
