"""A bundle as one text within its budget: whole parts in their order, and what does not fit is left out."""

from collections.abc import Iterator, Sequence
from functools import partial

from keyhole.core.errors import QueryError
from keyhole.core.notes import Note, NoteKind
from keyhole.core.types.bundle import BundleRequest
from keyhole.core.types.choices import Detail
from keyhole.core.types.missing import Refusal
from keyhole.core.view.budget.fitting import Ladder
from keyhole.core.view.budget.limits import check_offset
from keyhole.core.view.budget.sizes import answer_budget
from keyhole.core.view.bundles.bundle_file import MOST_ITEMS
from keyhole.core.view.bundles.bundle_parts import BundlePart
from keyhole.core.view.bundles.bundle_style import CHANGED, heads, part_text, tail
from keyhole.core.view.lists.listing import Listing, ListView, Shown, list_view
from keyhole.core.view.masked import MaskedPlace, masks_in_lines
from keyhole.core.view.text import count_of, name_text
from keyhole.core.view.writing import Page

_SOURCE, _LOCATION = "source", "location"
_LEVELS: Ladder = (_SOURCE, _LOCATION)


def parse_bundle_request(request: BundleRequest) -> Shown:
    """Check a request against the limits."""
    check_offset(request.offset)
    if not request.bundle.items:
        raise QueryError("the bundle is empty: nothing is marked")
    budget, notes = answer_budget(request.max_tokens)
    # Parts have no lower detail that would show more of them.
    return Shown(Detail.MINIMAL, request.format, budget, tuple(notes))


def bundle_view(parts: Sequence[BundlePart | Refusal], request: BundleRequest, shown: Shown) -> ListView:
    """Return the parts of a bundle from an offset on."""
    page, style = parts[request.offset :], request.style
    first = next((part for part in page if isinstance(part, BundlePart)), None)
    listing = Listing(
        page=Page(request.offset, MOST_ITEMS, len(parts)),
        count=len(page),
        ladders=lambda _: [_LEVELS] * len(page),
        parts_of=lambda number, level: part_text(page[number], style, has_source=level == _SOURCE),
        facts_of=lambda number, level: _part_facts(page[number], has_source=level == _SOURCE),
        request=bytes(8),
        generation=0,
        notes=tuple(_notes(page)),
        too_large_step=_read_step(first) if first else "",
        unit=" part" if len(parts) == 1 else " parts",
        has_masks=any(part.masked for part in page if isinstance(part, BundlePart)),
        masks_of=lambda number, level, _: _masks(page[number], has_source=level == _SOURCE),
        head=partial(heads, style),
        tail=tail(style),
        has_cursor=False,
    )
    return list_view(listing, shown)


def _read_step(part: BundlePart) -> str:
    line = part.stretches[0].start_line if part.stretches else 1
    return f"Read it: read_file path={name_text(part.path, 80)} start_line={line}"


def _notes(parts: Sequence[BundlePart | Refusal]) -> Iterator[Note]:
    changed = sorted({part.path for part in parts if isinstance(part, BundlePart) and part.is_changed})
    if changed:
        verb = "has" if len(changed) == 1 else "have"
        yield Note(NoteKind.BUNDLE_CHANGED, f"{count_of(len(changed), 'file')} {verb} {CHANGED}")
    if refused := sum(isinstance(part, Refusal) for part in parts):
        rest = "is not served; its heading says why" if refused == 1 else "are not served; their headings say why"
        yield Note(NoteKind.BUNDLE_REFUSED, f"{count_of(refused, 'part')} {rest}")


def _masks(part: BundlePart | Refusal, *, has_source: bool) -> Iterator[MaskedPlace]:
    if isinstance(part, Refusal) or not has_source:
        return
    for stretch in part.stretches:
        for mask in masks_in_lines(part.masked, stretch.start_line, stretch.end_line):
            yield MaskedPlace(part.path, mask)


def _part_facts(part: BundlePart | Refusal, *, has_source: bool) -> dict[str, object]:
    if isinstance(part, Refusal):
        return {"file_path": name_text(part.path), "error": name_text(part.message)}
    sources = [{"start_line": one.start_line, "end_line": one.end_line, "content": one.text} for one in part.stretches]
    return {
        "file_path": name_text(part.path),
        "language": part.language,
        "total_lines": part.total_lines,
        "symbol": name_text(part.item.symbol),
        "changed": part.is_changed,
        "sources": sources if has_source else [],
    }
