"""One search hit at each level of detail, as text and as JSON facts."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from operator import attrgetter

from keyhole.core.masking import MASK_START, Mask
from keyhole.core.types import Detail, Format, Hit, Passage
from keyhole.core.view.budget.fitting import HEAD, Ladder
from keyhole.core.view.lists.listing import Shown
from keyhole.core.view.masked import MaskedPlace, after_mask, before_mask, masks_in_lines, masks_in_text
from keyhole.core.view.text import declared_name, framed_source, name_text, shorten

LOCATION = "location"
_LEVELS = (str(Detail.RICH), str(Detail.COMPACT), str(Detail.MINIMAL), LOCATION)

_LONGEST_PATH_ALONE = 100
_LONGEST_SENTENCE = 120
_LONGEST_RETURNS = 80
_LONGEST_LINE = 100
_LONGEST_LIST = 200
_LONGEST_PREVIEW = 200
_PREVIEW_LINES = 2
# How much of a clipped line is shown before the match.
_BEFORE_MATCH = 60
# Two hexadecimal digits each.
_ID_BYTES = 6


def ladders(detail: Detail, count: int) -> list[Ladder]:
    """Return the levels of each result, from the one asked for down."""
    if detail == Detail.AUTO:
        return [_LEVELS if number < HEAD else _below(Detail.MINIMAL) for number in range(count)]
    return [_below(detail)] * count


def needs_source(hit: Hit, shown: Shown) -> bool:
    """Return whether showing a hit needs text from its file."""
    return shown.format == Format.JSON or shown.detail in (Detail.RICH, Detail.AUTO) or hit.is_line or not hit.signature


def hit_text(hit: Hit, passage: Passage | None, level: str, *, has_numbers: bool = True) -> str:
    """Return a hit as whole lines; without `has_numbers`, its source is in a fence."""
    if level == LOCATION:
        return f"{name_text(hit.path, _LONGEST_PATH_ALONE)}:{hit.line}\n"
    label = name_text(hit.signature) if level != Detail.MINIMAL else _declared_name(hit)
    label = label or first_line(passage)
    lines = [f"{hit_place(hit)} ({hit.score:.2f})" + (f" {label}" if label else "")]
    if level != Detail.MINIMAL:
        lines += _what_it_is(hit)
    text = "\n".join(lines) + "\n"
    return text + _source(hit, passage, has_numbers=has_numbers) if level == Detail.RICH and passage else text


def hit_facts(hit: Hit, passage: Passage | None, level: str) -> dict[str, object]:
    """Return a hit as JSON facts; each level includes the ones below it."""
    place = {"start_line": hit.start_line, "end_line": hit.end_line}
    if level == LOCATION:
        return {"file_path": name_text(hit.path, _LONGEST_PATH_ALONE), **place, "score": hit.score}
    facts: dict[str, object] = {
        "file_path": name_text(hit.path),
        "language": hit.language,
        **place,
        "definitions": shorten(hit.definitions, _LONGEST_LIST),
        "preview": line_preview(passage.text, hit.column) if hit.is_line and passage else preview_text(passage),
        "score": hit.score,
    }
    if level != Detail.MINIMAL:
        facts |= {
            "kind": hit.kind,
            "name": name_text(hit.name),
            "signature": name_text(hit.signature),
            "purpose": shorten(hit.doc, _LONGEST_SENTENCE),
            "returns": shorten(hit.returns, _LONGEST_RETURNS),
            "key_methods": [name_text(name) for name in hit.key_methods],
            "chunk_id": _stable_id(hit, passage),
            "match_lines": list(passage.match_lines if passage else hit.match_lines),
        }
        if hit.is_line:
            facts |= {"enclosing": name_text(hit.owner.qualified_name) if hit.owner else "", "column": hit.column}
    if level == Detail.RICH and passage:
        facts |= {"content": passage.text, "context_before": passage.before, "context_after": passage.after}
    return facts


def hit_masks(
    hit: Hit, passage: Passage | None, level: str, text: str, masks: Mapping[str, Sequence[Mask]]
) -> Iterator[MaskedPlace]:
    """Yield what is masked in a hit that is written as a text; `masks` are those of each file."""
    own = masks.get(hit.path, ())
    if not own:
        return
    if level == Detail.RICH and passage:
        found = masks_in_lines(own, *_lines_around(hit, passage))
    else:
        described = _declared_name(hit) if level == Detail.MINIMAL else f"{hit.signature} {hit.doc} {hit.returns}"
        found = masks_in_text(described, own, hit.line, hit.end_line)
        if text.count(MASK_START) > described.count(MASK_START):
            # The rest is in the first lines of the source, or in a list of names.
            start = preview_text(passage) + hit.definitions
            found += masks_in_text(start, own, hit.start_line, hit.end_line)
    for mask in sorted(set(found), key=attrgetter("start_line")):
        yield MaskedPlace(hit.path, mask)


def _lines_around(hit: Hit, passage: Passage) -> tuple[int, int]:
    """Return the first and the last line of a hit with its context."""
    ends_inside = not passage.after.endswith("\n") and bool(passage.after)
    return hit.start_line - passage.before.count("\n"), hit.end_line + passage.after.count("\n") + ends_inside


def _stable_id(hit: Hit, passage: Passage | None) -> str | None:
    """Return an id that is the same in every index of the same files; None if the source could not be read."""
    if passage is None:
        return None
    facts = "\0".join((hit.path, str(hit.start_line), passage.text))
    return blake2b(facts.encode("utf-8", "surrogatepass"), digest_size=_ID_BYTES).hexdigest()


def hit_place(hit: Hit) -> str:
    """Return the place and the kind of a hit."""
    return f"{name_text(hit.path)}:{hit.line}:[{hit.kind}]"


def _below(detail: Detail) -> Ladder:
    return _LEVELS[_LEVELS.index(detail) :]


def _declared_name(hit: Hit) -> str:
    return name_text(declared_name(hit.signature, hit.name))


def first_line(passage: Passage | None) -> str:
    """Return a line of source to show for a hit without a signature."""
    lines = passage.text.split("\n") if passage else []
    return next((shorten(line, _LONGEST_LINE) for line in lines if line.strip()), "")


def _what_it_is(hit: Hit) -> Iterator[str]:
    if hit.doc:
        yield f"  → Purpose: {shorten(hit.doc, _LONGEST_SENTENCE)}"
    if hit.returns:
        yield f"  → Returns: {shorten(hit.returns, _LONGEST_RETURNS)}"
    if hit.key_methods:
        yield f"  → Key methods: {', '.join(name_text(name) for name in hit.key_methods)}"


def _source(hit: Hit, passage: Passage, *, has_numbers: bool) -> str:
    first, last = _lines_around(hit, passage)
    around = f", with context {first}-{last}" if (first, last) != (hit.start_line, hit.end_line) else ""
    source = framed_source(passage.before + passage.text + passage.after, first, has_numbers=has_numbers)
    return f"── lines {hit.start_line}-{hit.end_line}{around} ──\n{source}\n"


def line_preview(line: str, column: int) -> str:
    """Return a matching line, clipped around the match if it is long."""
    if len(line) <= _LONGEST_PREVIEW:
        return line
    room = _LONGEST_PREVIEW - 2
    start = max(0, min(column - 1 - _BEFORE_MATCH, len(line) - room))
    start, end = after_mask(line, start), before_mask(line, start + room)
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def preview_text(passage: Passage | None) -> str:
    """Return the first lines of a hit's source."""
    lines = [line.rstrip() for line in passage.text.split("\n") if line.strip()] if passage else []
    preview = "\n".join(lines[:_PREVIEW_LINES])
    if len(preview) <= _LONGEST_PREVIEW:
        return preview
    return f"{preview[: before_mask(preview, _LONGEST_PREVIEW - 3)]}..."
