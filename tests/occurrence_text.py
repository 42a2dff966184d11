"""The names that parsing finds in a file, as text for tests: `python -m tests.occurrence_text FILE` prints them."""

import sys
from pathlib import Path

from keyhole.core.references.names_in_file import NO_SYMBOL, NamesInFile
from keyhole.core.syntax.analyse import analyse
from keyhole.core.types.source_files import SourceFile


def occurrences_text(path: Path) -> str:
    """Return one line per name: line, column, what it is taken from, role, and the symbol around it."""
    text = path.read_text("utf-8")
    analysis = analyse(SourceFile(path.name, len(text), 0, "", "", text))
    if not analysis.occurrences:
        return ""
    names = NamesInFile(analysis.occurrences)
    symbols = {(symbol.name, symbol.name_line): symbol.name for symbol in analysis.outline.walk()}
    numbered = {names.symbol_named(*key): name for key, name in symbols.items()}
    rows = []
    for place in range(names.count):
        symbol = names.symbol_at(place)
        around = f"in {numbered.get(symbol, 'a function')}" if symbol != NO_SYMBOL else ""
        receiver = names.receiver_at(place)
        taken = f"{receiver} " if receiver else ""
        where = f"{names.line_at(place)}:{names.column_at(place) + 1}"
        rows.append(f"{where} {taken}{names.name_at(place)} [{names.role_at(place).name.lower()}] {around}")
    return "\n".join(row.rstrip() for row in rows) + "\n"


if __name__ == "__main__":
    sys.stdout.write(occurrences_text(Path(sys.argv[1])))
