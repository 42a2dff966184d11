"""What every view is made of: a text that may state its own size, notes, and the one JSON object."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from keyhole.core.notes import Note
from keyhole.core.types.completeness import Completeness
from keyhole.core.types.missing import NONE_UNSHOWN, Unshown
from keyhole.core.view.budget.sizes import Size, TruncationInfo, measure
from keyhole.core.view.text import json_line, shorten
from keyhole.core.view.text_parts import PartKind, Parts, TextGap, TextPart, joined

_LONGEST_NOTE = 120
# Used while the real size is unknown. No real size takes more digits.
WIDEST = Size(999_999, 999_999_000, 999_999)


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list: where it starts, how many results it may hold, and how many there are in all.

    `unshown` says how many of its results can't be shown, because their files differ from the index.
    """

    offset: int
    limit: int
    total: int
    unshown: Unshown = NONE_UNSHOWN

    def after(self, shown: int) -> int | None:
        """Return the offset of the next page, or None when `shown` results reach the end."""
        missing = self.unshown.count
        is_all = shown + missing >= min(self.limit, self.total - self.offset)
        end = self.offset + shown + (missing if is_all else 0)
        return end if end < self.total else None


@dataclass(frozen=True, slots=True)
class View:
    """A text exactly as every front end shows it, its banner, what it lacks, and what the budget did to it.

    `parts` say what the lines of the text are, and `gaps` where something is missing; JSON and some views have neither.
    """

    text: str
    banner: str
    completeness: Completeness
    truncation: TruncationInfo
    parts: Parts = field(default=(), kw_only=True, compare=False, repr=False)
    gaps: Sequence[TextGap] = field(default=(), kw_only=True)


@dataclass(frozen=True, slots=True)
class Draft:
    """A text in two parts of whole lines: one that is fixed, and one that states the size of both."""

    text: str
    size_facts: Callable[[TruncationInfo], str] = lambda _: ""

    def with_info(self, info: TruncationInfo) -> str:
        """Return the whole text, stating these sizes."""
        return self.text + self.size_facts(info)


def finish(draft: Draft, truncation: Callable[[Size], TruncationInfo]) -> tuple[str, TruncationInfo]:
    """Return the whole text and the sizes that it states, which are its own."""
    base = measure(draft.text)
    info = truncation(base)
    # Stating a larger size never takes fewer digits, so the sizes only grow until they match.
    while True:
        stated = draft.size_facts(info)
        previous, info = info, truncation(base + measure(stated))
        if info == previous:
            return draft.text + stated, info


def head_parts(banner: str, notes: Sequence[str]) -> list[TextPart]:
    """Return the lines at the top of a text."""
    return [TextPart(PartKind.BANNER, f"{banner}\n"), *(TextPart(PartKind.NOTE, f"Note: {note}.\n") for note in notes)]


def head_text(banner: str, notes: Sequence[str]) -> str:
    """Return the same as a text."""
    return joined(head_parts(banner, notes))


def note_texts(*notes: Note) -> list[str]:
    """Return the texts of notes, each short enough for any budget."""
    return [shorten(note.text, _LONGEST_NOTE) for note in notes]


def json_answer(
    banner: str,
    results: Sequence[str],
    facts: Callable[[TruncationInfo], Mapping[str, object]],
    latency_ms: float | None = None,
) -> Draft:
    """Write the JSON object of a view; `results` are JSON already, one per line."""
    written = "".join(f"{result}\n" for result in (*(f"{result}," for result in results[:-1]), *results[-1:]))

    def size_facts(info: TruncationInfo) -> str:
        rest = [f'"{key}": {json_line(value)}' for key, value in facts(info).items()]
        if latency_ms is not None:
            # Always the same width, so that the size does not depend on the time taken. Below 1 ms the exponent's sign
            # would change.
            rest.append(f'"latency_ms": {latency_ms if latency_ms >= 1 else 0:.2e}')
        facts_text = ",\n".join(rest)
        return f"],\n{facts_text}\n}}\n"

    return Draft(f'{{\n"banner": {json_line(banner)},\n"results": [\n{written}', size_facts)


def count_facts(page: Page, shown: int, info: TruncationInfo, cursor: str | None = None) -> dict[str, object]:
    """Return the JSON facts on counts, pages and what the budget did."""
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
