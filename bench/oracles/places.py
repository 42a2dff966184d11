"""Places in source files, as Keyhole and the language servers are compared by them.

Each module of this package asks one language server, and offers

    def references(project: Path, asked: Sequence[Asked]) -> dict[Asked, frozenset[Place]]

The answer has an entry for each asked definition that the server knows; the places of its references are without the
definition's own name, as far as the server tells them apart. A definition that the server does not know has no entry.
"""

from typing import NamedTuple

# Keyhole records no larger column, so places further to the right are equal if they are on one line.
LAST_COLUMN = 0xFF


class Place(NamedTuple):
    """Where a name starts: the path in the project, the line from 1, the column from 0 in bytes of UTF-8."""

    path: str
    line: int
    column: int


class Asked(NamedTuple):
    """The name of a definition, and where it starts; the fields are those of `Place`."""

    path: str
    line: int
    column: int
    name: str = ""


def place_from_utf16(path: str, line: int, text: str, units: int) -> Place:
    """Return a place, given the text of its line and a column in units of UTF-16, as language servers count."""
    if text.isascii():
        return Place(path, line, min(units, LAST_COLUMN))
    before = text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore")
    return Place(path, line, min(len(before.encode()), LAST_COLUMN))


def utf16_column(text: str, column: int) -> int:
    """Return a column in units of UTF-16, given the text of its line and the column in bytes."""
    if text.isascii():
        return column
    before = text.encode()[:column].decode("utf-8", "ignore")
    return len(before.encode("utf-16-le")) // 2
