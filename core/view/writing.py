"""What every view is made of: a text that may tell its own size, notes, and the one object of JSON."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from keyhole.core.notes import Note
from keyhole.core.view.budget.sizes import Size, TruncationInfo, measure
from keyhole.core.view.text import json_line, shorten

_LONGEST_NOTE = 120
# Stands for a size that is not known yet: no shorter than any can be.
WIDEST = Size(999_999, 999_999_000, 999_999)


@dataclass(frozen=True, slots=True)
class Page:
    """A stretch of a list: where it starts, how long it may be, and how long the whole list is."""

    offset: int
    limit: int
    total: int

    def after(self, shown: int) -> int | None:
        """Where the list goes on after so many results, if it does."""
        return self.offset + shown if self.offset + shown < self.total else None


@dataclass(frozen=True, slots=True)
class View:
    """A text exactly as every door gives it out, its banner, and what the budget did to it."""

    text: str
    banner: str
    truncation: TruncationInfo


@dataclass(frozen=True, slots=True)
class Writing:
    """A text in two parts of whole lines: what is written once, and what tells the size of both."""

    text: str
    telling: Callable[[TruncationInfo], str] = lambda _: ""

    def whole(self, info: TruncationInfo) -> str:
        """Write all of it."""
        return self.text + self.telling(info)


def settle(writing: Writing, truncation: Callable[[Size], TruncationInfo]) -> tuple[str, TruncationInfo]:
    """Write a text that may tell its own size, and return what it tells."""
    base = measure(writing.text)
    info = truncation(base)
    # A size that grows is told in as many digits or more: so this ends.
    while True:
        told = writing.telling(info)
        seen, info = info, truncation(base + measure(told))
        if info == seen:
            return writing.text + told, info


def head_text(banner: str, notes: Sequence[str]) -> str:
    """Write the lines at the top of a text."""
    return "\n".join([banner, *(f"Note: {note}." for note in notes)]) + "\n"


def note_texts(*notes: Note) -> list[str]:
    """Write notes so that none can break a budget."""
    return [shorten(note.text, _LONGEST_NOTE) for note in notes]


def json_answer(
    banner: str,
    results: Sequence[str],
    facts: Callable[[TruncationInfo], Mapping[str, object]],
    latency_ms: float | None = None,
) -> Writing:
    """Write the one object that every view is in JSON; results are written already, one to a line."""
    written = "".join(f"{result}\n" for result in (*(f"{result}," for result in results[:-1]), *results[-1:]))

    def telling(info: TruncationInfo) -> str:
        rest = [f'"{key}": {json_line(value)}' for key, value in facts(info).items()]
        if latency_ms is not None:
            # Always as long, so that the size does not depend on how long it took; below 1 its sign differs.
            rest.append(f'"latency_ms": {latency_ms if latency_ms >= 1 else 0:.2e}')
        told = ",\n".join(rest)
        return f"],\n{told}\n}}\n"

    return Writing(f'{{\n"banner": {json_line(banner)},\n"results": [\n{written}', telling)


def count_facts(page: Page, shown: int, info: TruncationInfo, cursor: str | None = None) -> dict[str, object]:
    """Tell in JSON how many results there are, how to page, and what the budget did."""
    return {
        "total_count": page.total,
        "returned_count": shown,
        "pagination": {
            "total": page.total,
            "limit": page.limit,
            "offset": page.offset,
            "has_more": page.after(shown) is not None,
            "cursor": cursor,
        },
        "truncated": info.reason is not None,
        "truncation_info": {name: getattr(info, name) for name in TruncationInfo.__slots__},
    }
