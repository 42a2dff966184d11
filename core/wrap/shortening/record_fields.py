"""Chosen fields of records: keys of JSON objects, or columns of a table."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from keyhole.core.wrap.shortening.layouts import Layout

# As many records are looked at to tell which fields there are.
_SAMPLE = 50
_MISSING = object()

JsonObject = dict[str, object]


@dataclass(frozen=True, slots=True)
class JsonFields:
    """Fields of JSON objects; `a.b` is the field b of the object in the field a."""

    are_members: bool = False

    def names(self, layout: Layout) -> list[str]:
        """Return the keys of the first records."""
        sample = [self._read(layout, number) for number in range(min(layout.count, _SAMPLE))]
        if self._are_chosen_by_key(sample):
            return [key for key, _ in sample if key]
        objects = [value for _, value in sample if isinstance(value, dict)]
        return list(dict.fromkeys(name for value in objects for name in value))

    def choose(self, layout: Layout, records: Sequence[int], fields: Sequence[str]) -> Layout:
        """Return JSON of the same shape that has only these fields; what is not an object stays as it is."""
        found = [self._read(layout, number) for number in records]
        if self._are_chosen_by_key(found):
            kept = [layout.record(number) for number, (key, _) in zip(records, found, strict=True) if key in fields]
        else:
            kept = [self._written(key, _with_fields(value, fields)) for key, value in found]
        return layout.with_records(kept if layout.joint else [f"{record}\n" for record in kept])

    def _are_chosen_by_key(self, found: Sequence[tuple[str, object]]) -> bool:
        return self.are_members and not all(isinstance(value, dict) for _, value in found)

    def _read(self, layout: Layout, number: int) -> tuple[str, object]:
        text = layout.record(number)
        if not self.are_members:
            return "", json.loads(text)
        ((key, value),) = json.loads(f"{{{text}}}").items()
        return key, value

    def _written(self, key: str, value: object) -> str:
        text = json.dumps(value, ensure_ascii=False)
        return f"{json.dumps(key, ensure_ascii=False)}: {text}" if self.are_members else text


def _with_fields(value: object, fields: Iterable[str]) -> object:
    if not isinstance(value, dict):
        return value
    kept: JsonObject = {}
    for name in fields:
        _copy_field(value, name, kept)
    return kept


def _copy_field(source: Mapping[str, object], name: str, target: JsonObject) -> None:
    if name in source:
        target[name] = source[name]
        return
    first, _, rest = name.partition(".")
    inner = source.get(first, _MISSING)
    if rest and isinstance(inner, dict):
        within = target.setdefault(first, {})
        if isinstance(within, dict):
            _copy_field(inner, rest, within)


@dataclass(frozen=True, slots=True)
class TableFields:
    """Columns of a table: `split` divides a row into cells, and `join` writes a row, with its line end."""

    columns: Sequence[str]
    split: Callable[[str], list[str]]
    join: Callable[[list[str]], str]

    def names(self, layout: Layout) -> list[str]:  # noqa: ARG002  # as for JSON
        """Return the names of the columns."""
        return [name for name in self.columns if name]

    def choose(self, layout: Layout, records: Sequence[int], fields: Sequence[str]) -> Layout:
        """Return the table with only these columns."""
        places = [self.columns.index(name) for name in fields if name in self.columns]

        def written(row: str) -> str:
            return self.join(_cells(self.split(row), places))

        header = "".join(written(row) for row in layout.text[: layout.start].splitlines(keepends=True))
        return layout.with_records([written(layout.record(number)) for number in records], header)


def _cells(row: list[str], places: Sequence[int]) -> list[str]:
    return [row[place] if place < len(row) else "" for place in places]


def markdown_cells(row: str) -> list[str]:
    """Return the cells of a row of a Markdown table."""
    inner = row.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", inner)]


def markdown_row(cells: list[str]) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cells)} |\n"


def csv_fields(columns: Sequence[str], delimiter: str) -> TableFields:
    """Return the fields of a table whose cells are divided by a character."""

    def split(row: str) -> list[str]:
        return next(csv.reader(io.StringIO(row, newline=""), delimiter=delimiter), [])

    def join(cells: list[str]) -> str:
        written = io.StringIO()
        csv.writer(written, delimiter=delimiter, lineterminator="\n").writerow(cells)
        return written.getvalue()

    return TableFields(columns, split, join)


def aligned_fields(columns: Sequence[str], starts: Sequence[int]) -> TableFields:
    """Return the fields of a table whose columns begin at the same place in every row."""

    def split(row: str) -> list[str]:
        line = row.rstrip("\n")
        return [line[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]

    return TableFields(columns, split, lambda cells: "".join(cells).rstrip() + "\n")
