"""Only some records of a kept answer: those that match words or a regular expression, or only some of their fields."""

import json
from collections.abc import Callable, Sequence

from keyhole.core.errors import QueryError
from keyhole.core.wrap.shortening.answer_blocks import own_text, text_block, with_text
from keyhole.core.wrap.shortening.documents import AnswerDocument, Part
from keyhole.core.wrap.shortening.inside_cuts import PlainCuts, StringCuts
from keyhole.core.wrap.shortening.layouts import Layout, RecordUnit
from keyhole.core.wrap.shortening.left_out_notes import field_names
from keyhole.core.wrap.shortening.text_layouts import lines_layout

Matches = Callable[[str], bool]


def filtered(document: AnswerDocument, query: str, fields: Sequence[str]) -> AnswerDocument:
    """Return a document with only the records that match, and only these fields; an empty query matches all."""
    if fields:
        _check_fields(document, fields)
    matches = _matcher(query)
    parts = [_filtered_part(part, part.layout, matches, fields) for part in document.parts if part.layout]
    return AnswerDocument([part for part in parts if part])


def _filtered_part(part: Part, layout: Layout, matches: Matches, fields: Sequence[str]) -> Part | None:
    numbers = [number for number in range(layout.count) if matches(_readable(layout, number))]
    if not numbers:
        return None
    if fields and layout.fields:
        kept = layout.fields.choose(layout, numbers, fields)
    elif layout.unit == RecordUnit.LINES and len(numbers) < layout.count:
        # With their numbers, because an agent may want to see the lines around one.
        kept = lines_layout("".join(f"{number + 1}: {_line(layout, number)}" for number in numbers))
    else:
        kept = layout.with_records([_with_line_end(layout, number) for number in numbers])
    block = text_block(kept.text) if own_text(part.block) is None else with_text(part.block, kept.text)
    return Part(part.number, block, kept) if kept.count else None


def _readable(layout: Layout, number: int) -> str:
    """Return what is searched of a record: its text without the escapes of JSON."""
    text = layout.record(number)
    if "\\" not in text or isinstance(layout.inside, PlainCuts):
        return text
    if isinstance(layout.inside, StringCuts):
        return str(json.loads(f'"{text}"', strict=False))
    is_member = layout.unit == RecordUnit.KEYS
    written = json.dumps(json.loads(f"{{{text}}}" if is_member else text, strict=False), ensure_ascii=False)
    return written.replace("\\\\", "\\").replace("\\n", "\n").replace('\\"', '"')


def _line(layout: Layout, number: int) -> str:
    return _readable(layout, number).rstrip("\r\n") + "\n"


def _with_line_end(layout: Layout, number: int) -> str:
    """Return a record; the last line of a text may have no line end, but others follow each other."""
    text = layout.record(number)
    return text if layout.joint or text.endswith("\n") or layout.count == 1 else f"{text}\n"


def _check_fields(document: AnswerDocument, fields: Sequence[str]) -> None:
    known = field_names(document)
    if not known:
        raise QueryError(f"this answer has no fields, only {document.unit}; leave out fields")
    texts = [part.layout.text for part in document.parts if part.layout]
    for name in fields:
        first = json.dumps(name.partition(".")[0])
        if name not in known and not any(first in text for text in texts):
            raise QueryError(f"unknown field {name!r}; this answer has: {', '.join(known[:30])}")


def _matcher(query: str) -> Matches:
    """Return a test for /a regular expression/, or for words that all have to occur, in any case."""
    if len(query) > 2 and query.startswith("/") and query.endswith("/"):
        from keyhole.core.search.regex import compile_pattern

        pattern = compile_pattern(query[1:-1])
        return lambda text: next(iter(pattern.finditer(text)), None) is not None
    words = query.casefold().split()
    if not words:
        return lambda _: True

    def has_all_words(text: str) -> bool:
        folded = text.casefold()
        return all(word in folded for word in words)

    return has_all_words
