"""Which definition encloses a line."""

from collections.abc import Iterable

from keyhole.core.index.rows import SymbolEntry


def owners_of(symbols: list[SymbolEntry], lines: Iterable[int]) -> dict[int, SymbolEntry]:
    """Return the innermost definition around each line, for lines that have one; both are in the order of the file.

    The first line of a definition belongs to the definition around that: `def send` is in `Client`, not in `send`.
    """
    owners: dict[int, SymbolEntry] = {}
    around: list[SymbolEntry] = []
    following = iter(symbols)
    upcoming = next(following, None)
    for line in lines:
        while upcoming is not None and upcoming.start_line < line:
            around = [*_still_open(around, upcoming.start_line), upcoming]
            upcoming = next(following, None)
        around = _still_open(around, line)
        if around:
            owners[line] = around[-1]
    return owners


def qualified_name(symbol: SymbolEntry) -> str:
    """Return the name of a definition with the names around it."""
    return f"{symbol.parent}.{symbol.name}" if symbol.parent else symbol.name


def _still_open(around: list[SymbolEntry], line: int) -> list[SymbolEntry]:
    return [symbol for symbol in around if symbol.end_line >= line]
