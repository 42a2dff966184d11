"""Records of tables: rows of Markdown, of CSV and the like, and of columns that are aligned with blanks.

A table is only taken for one if every row fits, because a wrong guess would repeat a line that is no header.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence

from keyhole.core.wrap.shortening.inside_cuts import PlainCuts
from keyhole.core.wrap.shortening.json_layouts import is_small_frame
from keyhole.core.wrap.shortening.layouts import Cut, Layout, RecordUnit, RepeatedHeader
from keyhole.core.wrap.shortening.record_fields import (
    TableFields,
    aligned_fields,
    csv_fields,
    markdown_cells,
    markdown_row,
)

_DELIMITERS = "\t,;|"
_FEWEST_ROWS = 3
_MARKDOWN_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")
_NUMBER = re.compile(r"[-+]?[\d.,]+")
_CELL = re.compile(r"\S+(?: \S+)*")


def table_layout(text: str, lines: Sequence[Cut]) -> Layout | None:
    """Return the layout of a text that is one table from its first line to its last."""
    if len(lines) < _FEWEST_ROWS:
        return None
    return _markdown(text, lines) or _separated(text) or _aligned(text, lines)


def _line(text: str, lines: Sequence[Cut], number: int) -> str:
    start = lines[number - 1].right if number else 0
    return text[start : lines[number].left if number < len(lines) else len(text)]


def _rows(text: str, lines: Sequence[Cut], header_lines: int) -> Iterator[str]:
    for number in range(header_lines, len(lines) + 1):
        row = _line(text, lines, number)
        if row.strip():
            yield row


def _layout(text: str, cuts: Sequence[Cut], header_rows: int, fields: TableFields) -> Layout | None:
    """Return a layout whose first rows are on every page, if they are short enough for that."""
    start = cuts[header_rows - 1].right
    if not is_small_frame(text[:start]):
        return None
    return Layout(text, RecordUnit.ROWS, start, len(text), cuts[header_rows:], PlainCuts(text), fields=fields)


def is_markdown_header(first: str, second: str) -> bool:
    """Return whether two lines begin a Markdown table."""
    return "|" in first and "|" in second and bool(_MARKDOWN_RULE.fullmatch(second))


def _markdown(text: str, lines: Sequence[Cut]) -> Layout | None:
    header = _line(text, lines, 0)
    if not is_markdown_header(header, _line(text, lines, 1)):
        return None
    if not all("|" in row for row in _rows(text, lines, 2)):
        return None
    return _layout(text, lines, 2, TableFields(markdown_cells(header), markdown_cells, markdown_row))


def _separated(text: str) -> Layout | None:
    first_line = text[: text.find("\n")]
    if "\r" in first_line.rstrip("\r"):
        return None
    for delimiter in _DELIMITERS:
        columns = next(csv.reader([first_line.rstrip("\r")], delimiter=delimiter), [])
        if _is_header(columns):
            cuts = _csv_cuts(text, delimiter, len(columns))
            if len(cuts) >= _FEWEST_ROWS:
                return _layout(text, cuts, 1, csv_fields(columns, delimiter))
    return None


def _is_header(columns: Sequence[str]) -> bool:
    named = all(name and name == name.strip() and not _NUMBER.fullmatch(name) for name in columns)
    return len(columns) > 1 and named and len(set(columns)) == len(columns)


def _csv_cuts(text: str, delimiter: str, width: int) -> list[Cut]:
    """Return the ends of all rows but the last one; a row may have line ends in quotes. None if a row does not fit."""
    source = io.StringIO(text, newline="")
    # The reader takes lines as they are consumed, so where it stands is where its row ends.
    read = [0]

    def counted() -> Iterator[str]:
        for line in source:
            read[0] += len(line)
            yield line

    cuts = []
    try:
        for row in csv.reader(counted(), delimiter=delimiter, strict=True):
            if row and len(row) != width:
                return []
            cuts.append(Cut(read[0], read[0]))
    except csv.Error:
        return []
    return cuts[:-1]


def _aligned(text: str, lines: Sequence[Cut]) -> Layout | None:
    header = _line(text, lines, 0).rstrip("\r\n")
    cells = [(match.start(), match.group()) for match in _CELL.finditer(header)]
    starts, columns = [start for start, _ in cells], [name for _, name in cells]
    if not _is_header(columns) or starts[0] != 0:
        return None
    if not all(_is_aligned(row, starts) for row in _rows(text, lines, 1)):
        return None
    return _layout(text, lines, 1, aligned_fields(columns, starts))


def _is_aligned(row: str, starts: Sequence[int]) -> bool:
    """Return whether a row has blanks before each column, and something in the first two."""
    if any(row[start - 1 : start].strip() for start in starts[1:]):
        return False
    return all(row[start : start + 1].strip() for start in starts[:2])


def headers_within(text: str, lines: Sequence[Cut]) -> list[RepeatedHeader]:
    """Return the Markdown tables within a text, with the lines that they cover."""
    found: list[RepeatedHeader] = []
    number, count = 0, len(lines) + 1
    while number + 2 < count:
        first, second = _line(text, lines, number), _line(text, lines, number + 1)
        if not is_markdown_header(first, second):
            number += 1
            continue
        end = number + 2
        while end < count and "|" in _line(text, lines, end):
            end += 1
        if is_small_frame(first + second):
            found.append(RepeatedHeader(number + 1, end, first + second))
        number = end
    return found
