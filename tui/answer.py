"""What a search gave, with what each result costs: facts for the list, computed outside of the interface's thread."""

from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import unified_diff
from typing import TYPE_CHECKING

from keyhole.core.errors import KeyholeError
from keyhole.core.types import Format, Hit, Passage, SearchRequest, SearchResult
from keyhole.core.view.lists.hit_text import first_line, ladders
from keyhole.core.view.lists.listing import ListView
from keyhole.core.view.text import count_of, name_text
from keyhole.tui.search_state import Variant
from keyhole.tui.sources import read_text

if TYPE_CHECKING:
    from keyhole.core.service import Service

_CONTEXT = 2
# Words by which languages declare what a hit calls by its kind.
_DECLARING = frozenset(("def", "fn", "fun", "func", "function", "sub", "class", "struct", "interface", "enum", "trait"))


@dataclass(frozen=True, slots=True)
class Label:
    """What a hit is, on one line: its kind stands in the place of the word that declares it."""

    before: str
    kind: str
    after: str


@dataclass(frozen=True, slots=True)
class Row:
    """One result of a page: what it costs as it is shown, or what it would have cost."""

    hit: Hit
    label: Label
    level: str
    asked: str
    tokens: int
    is_cut: bool

    @property
    def place(self) -> tuple[str, int]:
        """Where it is, to find it again in another answer."""
        return self.hit.path, self.hit.start_line

    @property
    def is_lowered(self) -> bool:
        """Whether the budget took some of its detail."""
        return not self.is_cut and self.level != self.asked


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request; `number` tells a late one from the latest."""

    number: int
    request: SearchRequest
    result: SearchResult
    view: ListView
    rows: tuple[Row, ...]
    # The file of the first result, for the preview that everybody looks at first.
    source: str | None = None

    @property
    def shown(self) -> tuple[Row, ...]:
        """The results that an agent gets."""
        return tuple(row for row in self.rows if not row.is_cut)

    @property
    def cut(self) -> tuple[Row, ...]:
        """The results of the page that no longer fitted."""
        return tuple(row for row in self.rows if row.is_cut)

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
    """Answer a request, and weigh every result of the page; what is known already is not searched again."""
    result, view = service.search_page(request, known)
    asked = [ladder[0] for ladder in ladders(request.detail_level, len(result.hits))]
    rows = []
    for position, hit in enumerate(result.hits):
        # A result that was cut has no level of its own: it is weighed as it was asked for.
        is_cut = position >= len(view.plan.levels)
        level = asked[position] if is_cut else view.plan.levels[position]
        label = label_of(hit, result.passages.get(hit.chunk_id))
        rows.append(Row(hit, label, level, asked[position], view.size_of(position, level).tokens, is_cut))
    source = _source_of(service, rows[0]) if with_source and rows else None
    return Answer(number, request, result, view, tuple(rows), source)


def _source_of(service: "Service", row: Row) -> str | None:
    with suppress(KeyholeError):  # told when the preview asks for it on its own
        return read_text(service, row.hit.path)
    return None


def label_of(hit: Hit, passage: Passage | None) -> Label:
    """Say on one line what a hit is, and its kind only once: `async method fetch(self)`, `class Client`."""
    if not hit.signature:
        return Label("", hit.kind, first_line(passage))
    signature = name_text(hit.signature)
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
    """Two ways to ask the same, line by line, and what they cost."""

    text: str
    here: int
    there: int

    @property
    def difference(self) -> str:
        """Say what the other way costs in comparison."""
        return f"{self.here:,} → {self.there:,} tokens ({self.there - self.here:+,})"


def compare(service: "Service", answer: Answer, versus: Variant) -> Comparison:
    """Write what changes when the same is asked another way."""
    other = versus.of(answer.request)
    here, there = answer.view, _in_other_form(service, answer, other)
    names = _named(answer.request), _named(other)
    lines = unified_diff(here.text.splitlines(), there.text.splitlines(), *names, lineterm="", n=_CONTEXT)
    text = "\n".join(lines) or "Both say the same, byte for byte."
    return Comparison(f"{text}\n", here.truncation.estimated_tokens, there.truncation.estimated_tokens)


def as_json(service: "Service", answer: Answer) -> ListView:
    """Write the same answer as JSON."""
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
    """Answer another request for the same results; the hits that are here already serve it, unless files changed."""
    return service.search_page(request, answer.result)[1]


def _named(request: SearchRequest) -> str:
    return f"detail_level={request.detail_level} max_tokens={request.max_tokens}"
