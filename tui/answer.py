"""The answer to a search with the cost of each result, computed outside the interface's thread."""

from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import unified_diff
from typing import TYPE_CHECKING

from keyhole.core.errors import KeyholeError
from keyhole.core.search.match_marks import Marks, marks_of
from keyhole.core.types.choices import Format
from keyhole.core.types.search_results import Hit, SearchResult
from keyhole.core.types.view_requests import SearchRequest
from keyhole.core.view.lists.hit_text import ladders, named_by_line, preview_text, shown_signature
from keyhole.core.view.lists.listing import ListView
from keyhole.core.view.text import count_of, name_text
from keyhole.tui.search_state import Variant
from keyhole.tui.sources import FileText, read_source

if TYPE_CHECKING:
    from keyhole.core.service import Service

_CONTEXT = 2
# Keywords that declare what the label names by its kind.
_DECLARING = frozenset(("def", "fn", "fun", "func", "function", "sub", "class", "struct", "interface", "enum", "trait"))


@dataclass(frozen=True, slots=True)
class Label:
    """What a hit is, on one line: its kind replaces the keyword that declares it."""

    before: str
    kind: str
    after: str


@dataclass(frozen=True, slots=True)
class Row:
    """One result of a page, with its cost as shown, or what it would have cost."""

    hit: Hit
    label: Label
    level: str
    asked: str
    tokens: int
    is_left_out: bool

    @property
    def place(self) -> tuple[str, int]:
        """Its place, which finds it again in another answer."""
        return self.hit.path, self.hit.start_line

    @property
    def is_shortened(self) -> bool:
        """Whether the budget lowered its detail."""
        return not self.is_left_out and self.level != self.asked


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request; `number` identifies the request, so that late answers can be ignored."""

    number: int
    request: SearchRequest
    result: SearchResult
    view: ListView
    rows: tuple[Row, ...]
    # What to mark in the results.
    marks: Marks
    # The file of the first result, which the preview shows first.
    source: FileText | None = None

    @property
    def shown(self) -> tuple[Row, ...]:
        """The results that the agent gets."""
        return tuple(row for row in self.rows if not row.is_left_out)

    @property
    def left_out(self) -> tuple[Row, ...]:
        """The results of the page that did not fit."""
        return tuple(row for row in self.rows if row.is_left_out)

    def shortened_position(self, row: Row | None) -> int | None:
        """Return which result of the page is shortened: this one, or else the first; None if there is none."""
        positions = [position for position, shown in enumerate(self.rows) if shown.is_shortened]
        return next((position for position in positions if self.rows[position] is row), next(iter(positions), None))

    @property
    def next_offset(self) -> int | None:
        """Where the next page starts, if there is one."""
        return self.view.page.after(len(self.view.plan.levels))


def find_answer(
    service: "Service",
    number: int,
    request: SearchRequest,
    *,
    known: SearchResult | None = None,
    with_source: bool = False,
) -> Answer:
    """Answer a request and measure every result of the page; `known` results are not searched again."""
    result, view = service.search_page(request, known)
    asked = [ladder[0] for ladder in ladders(request.detail_level, result.hits)]
    rows = []
    for position, hit in enumerate(result.hits):
        # A result that was left out has no level, so its cost is measured at the level asked for.
        is_left_out = position >= len(view.plan.levels)
        level = asked[position] if is_left_out else view.plan.levels[position]
        label = label_of(hit)
        rows.append(Row(hit, label, level, asked[position], view.size_of(position, level).tokens, is_left_out))
    source = _source_of(service, rows[0]) if with_source and rows else None
    return Answer(number, request, result, view, tuple(rows), marks_of(result.query, result.mode), source)


def _source_of(service: "Service", row: Row) -> FileText | None:
    with suppress(KeyholeError):  # The preview reports it when it loads the file itself.
        return read_source(service, row.hit.path, row.hit.line)
    return None


def label_of(hit: Hit) -> Label:
    """Return what a hit is, on one line and with its kind only once: `async method fetch(self)`, `class Client`."""
    if hit.is_line:
        text = name_text(preview_text(hit).strip())
        return Label("", hit.owner.qualified_name if hit.owner else "", text)
    if not hit.signature:
        return Label("", hit.kind, named_by_line(hit))
    signature = name_text(shown_signature(hit))
    words = signature.split(" ")
    for number, word in enumerate(words):
        if "(" in word:
            break
        if word == hit.kind or word in _DECLARING:
            before = " ".join(words[:number])
            return Label(before and f"{before} ", hit.kind, " ".join(words[number + 1 :]))
    return Label("", hit.kind, signature)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two variants of an answer, line by line, and their costs."""

    text: str
    here: int
    there: int

    @property
    def difference(self) -> str:
        """The cost of both, and the difference."""
        return f"{self.here:,} → {self.there:,} tokens ({self.there - self.here:+,})"


def compare(service: "Service", answer: Answer, versus: Variant) -> Comparison:
    """Compare an answer with a variant of it."""
    other = versus.of(answer.request)
    here, there = answer.view, _in_other_form(service, answer, other)
    names = _named(answer.request), _named(other)
    lines = unified_diff(here.text.splitlines(), there.text.splitlines(), *names, lineterm="", n=_CONTEXT)
    text = "\n".join(lines) or "Both are identical, byte for byte."
    return Comparison(f"{text}\n", here.truncation.estimated_tokens, there.truncation.estimated_tokens)


def as_json(service: "Service", answer: Answer) -> ListView:
    """Return the same answer as JSON."""
    return _in_other_form(service, answer, replace(answer.request, format=Format.JSON))


def json_note(answer: Answer, view: ListView) -> str:
    """Return why an answer as JSON holds fewer results than its text, or shortens more of them; otherwise nothing."""
    info, levels = view.truncation, view.plan.levels
    unit, limit = ("character", info.limit_chars) if info.reason == "character_limit" else ("token", info.limit_tokens)
    results, room = count_of(len(answer.rows), "result"), count_of(limit, unit)
    if len(levels) < len(answer.shown):
        return f"JSON takes more {unit}s: {len(levels):,} of {results} fit in {room}. Next page: {info.next}."
    shortened = sum(row.level != level for row, level in zip(answer.shown, levels, strict=False))
    return f"JSON takes more {unit}s: {shortened:,} of {results} shortened to fit in {room}." if shortened else ""


def _in_other_form(service: "Service", answer: Answer, request: SearchRequest) -> ListView:
    """Answer another request for the same results, reusing the hits unless files have changed."""
    return service.search_page(request, answer.result)[1]


def _named(request: SearchRequest) -> str:
    return f"detail_level={request.detail_level} max_tokens={request.max_tokens}"
