"""The columns of a CSV file, as symbols."""

import csv

from keyhole.core.types.syntax import Outline, Symbol

_DELIMITERS = ",;\t|"
# No real header is longer than this.
_LONGEST_HEADER = 200_000


def table_outline(language: str, text: str) -> Outline:
    """Return an outline with the names in the first record as columns; quoted names may span lines."""
    head = text[:_LONGEST_HEADER]
    first_line = head.partition("\n")[0]
    reader = csv.reader((f"{line}\n" for line in head.split("\n")), delimiter=max(_DELIMITERS, key=first_line.count))
    try:
        columns = next(reader, [])
    except csv.Error as error:
        return Outline(language, missed=f"the first line is not a header: {error}")
    return Outline(
        language,
        tuple(_column(name.strip() or f"column {number}", reader.line_num) for number, name in enumerate(columns, 1)),
    )


def _column(name: str, last_line: int) -> Symbol:
    return Symbol(
        name=name,
        kind="column",
        signature=name,
        doc="",
        returns="",
        start_line=1,
        end_line=last_line,
        name_line=1,
        parent="",
        exported=True,
    )
