"""What an answer says about the rest of it: how much there is, what is left out, and how to get it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from keyhole.core.wrap.shortening.documents import AnswerDocument, AnswerPage
from keyhole.core.wrap.shortening.layouts import RecordUnit

_ONE = {
    RecordUnit.RECORDS: "record",
    RecordUnit.KEYS: "key",
    RecordUnit.ROWS: "row",
    RecordUnit.LINES: "line",
}
_MOST_FIELDS, _LONGEST_FIELDS = 12, 200


@dataclass(frozen=True, slots=True)
class MoreCall:
    """How an agent asks for more of an answer: the tool's name and the arguments that stay the same."""

    tool: str
    handle: str
    query: str = ""
    fields: Sequence[str] = ()

    def at(self, offset: int, position: int) -> str:
        """Return the call for a page."""
        given = [("handle", self.handle), ("offset", offset)]
        given += [("position", position)] if position else []
        given += [("query", self.query)] if self.query else []
        written = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in given]
        written += [f"fields={json.dumps(list(self.fields), ensure_ascii=False)}"] if self.fields else []
        return f"{self.tool}({', '.join(written)})"


def first_note(page: AnswerPage, document: AnswerDocument, call: MoreCall, budget: str) -> str:
    """Return the note of a shortened answer."""
    return (
        f"[Keyhole shortened this answer to {budget}. Shown: {_shown(page, document)}. Left out: "
        f"{_left_out(page, document)}. Next page: {call.at(*page.next)}. "
        f'query="words" or query="/regex/" returns only matching {document.unit}{_field_hint(document)}.]'
    )


def page_note(page: AnswerPage, document: AnswerDocument, call: MoreCall, searched: int | None = None) -> str:
    """Return the note of a further page; `searched` is the number of records that a query was looked for in."""
    matching = "" if searched is None else f" that match, among {searched:,}"
    rest = f"Next page: {call.at(*page.next)}" if page.next[0] < document.count else "This is the end"
    return f"[{_shown(page, document)}{matching}. {rest}.]"


def _shown(page: AnswerPage, document: AnswerDocument) -> str:
    count, unit = document.count, document.unit
    if page.until or page.within:
        start, end = page.within + 1, page.until or page.length
        return f"part of {_ONE[unit]} {page.first + 1:,} of {count:,}, characters {start:,}-{end:,} of {page.length:,}"
    if page.last - page.first == 1:
        return f"{_ONE[unit]} {page.last:,} of {count:,}"
    return f"{unit} {page.first + 1:,}-{page.last:,} of {count:,}"


def _left_out(page: AnswerPage, document: AnswerDocument) -> str:
    left = document.count - page.last
    rest = [f"the rest of {_ONE[document.unit]} {page.last:,}"] if page.until else []
    rest += [f"{left:,} {document.unit if left > 1 else _ONE[document.unit]}"] if left else []
    parts = len({part.number for part in document.parts})
    blocks = f" of {parts:,} content blocks" if parts > 1 else ""
    return f"{' and '.join(rest)}{blocks}"


def field_names(document: AnswerDocument) -> list[str]:
    """Return the fields that can be chosen."""
    found = [part.layout.fields.names(part.layout) for part in document.parts if part.layout and part.layout.fields]
    return list(dict.fromkeys(name for names in found for name in names))


def _field_hint(document: AnswerDocument) -> str:
    names = field_names(document)[:_MOST_FIELDS]
    while names and len(json.dumps(names, ensure_ascii=False)) > _LONGEST_FIELDS:
        names.pop()
    return f"; fields={json.dumps(names, ensure_ascii=False)} or some of these returns only them" if names else ""
