"""Chooses the layout of a text: JSON, JSON Lines, a table, or lines."""

from collections.abc import Sequence

from keyhole.core.wrap.shortening.inside_cuts import JsonCuts, PlainCuts
from keyhole.core.wrap.shortening.json_layouts import json_after_words, json_layout, json_lines_layout
from keyhole.core.wrap.shortening.json_spans import after_blanks, is_json
from keyhole.core.wrap.shortening.layouts import Cut, Layout, RecordUnit
from keyhole.core.wrap.shortening.record_fields import JsonFields
from keyhole.core.wrap.shortening.table_layouts import headers_within, table_layout


def layout_of(text: str) -> Layout:
    """Return how a text is divided into records. What it is has to be certain; otherwise its lines are the records."""
    found = json_layout(text, JsonFields)
    if found:
        return found
    lines = _line_ends(text)
    return (
        json_lines_layout(text, lines, JsonFields())
        or json_after_words(text, JsonFields)
        or table_layout(text, lines)
        or _lines_layout(text, lines)
    )


def single_record_layout(text: str) -> Layout:
    """Return the layout of a text that is one record, and only cut if it does not fit a page."""
    if is_json(text, after_blanks(text, 0)):
        return Layout(text, RecordUnit.RECORDS, 0, len(text), (), JsonCuts(text), fields=JsonFields())
    return Layout(text, RecordUnit.RECORDS, 0, len(text), (), PlainCuts(text))


def _line_ends(text: str) -> list[Cut]:
    cuts, at = [], text.find("\n") + 1
    while at and at < len(text):
        cuts.append(Cut(at, at))
        at = text.find("\n", at) + 1
    return cuts


def lines_layout(text: str) -> Layout:
    """Return the layout of a text whose lines are its records, whatever else it may look like."""
    return _lines_layout(text, _line_ends(text))


def _lines_layout(text: str, lines: Sequence[Cut]) -> Layout:
    return Layout(
        text=text,
        unit=RecordUnit.LINES,
        start=0,
        end=len(text),
        cuts=lines,
        inside=PlainCuts(text),
        headers=headers_within(text, lines) if "|" in text else (),
        good_ends=_paragraph_ends(text, lines),
    )


def _paragraph_ends(text: str, lines: Sequence[Cut]) -> frozenset[int]:
    """Return the numbers of lines that begin a paragraph: a page may well end before them."""
    starts = [0, *(cut.right for cut in lines)]
    are_blank = [not text[start:end].strip() for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    return frozenset(number for number in range(1, len(are_blank)) if are_blank[number - 1] and not are_blank[number])
