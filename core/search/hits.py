"""Turns candidates into hits: each gets the label of its definition that fits the query best."""

from keyhole.core.index.protocols import SearchStore
from keyhole.core.index.rows import SymbolLabel
from keyhole.core.index.words import split_words
from keyhole.core.search.rank import ChunkCandidate, Wanted, letters_of
from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types import HOLDS_METHODS, Hit, Signal

_MAX_KEY_METHODS = 5


def label_hits(store: SearchStore, page: list[ChunkCandidate], top: float, wanted: Wanted) -> tuple[Hit, ...]:
    """Make hits from candidates; scores become relative to the top score."""
    symbols = _symbols_in(store, page)
    return tuple(_hit(store, candidate, symbols.get(candidate.chunk_id, []), top, wanted) for candidate in page)


def _hit(store: SearchStore, candidate: ChunkCandidate, symbols: list[SymbolLabel], top: float, wanted: Wanted) -> Hit:
    unnamed = "code" if BY_ID[candidate.language].is_code else "section"
    no_label = SymbolLabel(candidate.chunk_id, 0, "", unnamed, "", "", "", candidate.start_line, 0, 0, "")
    label = max(symbols, key=lambda symbol: _fit(symbol, candidate, wanted), default=no_label)
    is_owner = label.kind in HOLDS_METHODS
    return Hit(
        path=candidate.path,
        language=candidate.language,
        start_line=candidate.start_line,
        end_line=candidate.end_line,
        chunk_id=candidate.chunk_id,
        score=round(candidate.score / top, 4) if top else 0.0,
        kind=label.kind,
        name=label.name,
        line=label.name_line,
        signature=label.signature,
        doc=label.doc,
        returns=label.returns,
        definitions=candidate.definitions,
        signals=tuple(Signal(*signal) for signal in candidate.signals),
        key_methods=tuple(store.methods_of(candidate.file_id, label, _MAX_KEY_METHODS)) if is_owner else (),
    )


def _symbols_in(store: SearchStore, page: list[ChunkCandidate]) -> dict[int, list[SymbolLabel]]:
    """Load the symbols whose names are in the chunks of a page."""
    symbols: dict[int, list[SymbolLabel]] = {}
    for symbol in store.symbols_in_chunks({candidate.chunk_id for candidate in page}):
        symbols.setdefault(symbol.chunk_id, []).append(symbol)
    return symbols


def _fit(symbol: SymbolLabel, candidate: ChunkCandidate, wanted: Wanted) -> tuple[bool, bool, float]:
    parts = set(split_words(symbol.name).split())
    share = len(parts & wanted.words) / len(parts) if parts else 0.0
    return symbol.symbol_id == candidate.symbol_id, letters_of(symbol.name) in wanted.names, share
