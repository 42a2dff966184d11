"""One search hit at each level of detail, as text and as JSON facts."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from operator import attrgetter

from keyhole.core.masking import MASK_START, Mask
from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types.choices import Detail
from keyhole.core.types.search_results import GOOD, WEAK, Hit, Passage, Stretch, Use
from keyhole.core.view.budget.fitting import HEAD, Ladder
from keyhole.core.view.masked import MaskedPlace, after_mask, before_mask, masks_in_lines, masks_in_text
from keyhole.core.view.text import (
    count_lines,
    declared_label,
    declared_name,
    framed_source,
    name_text,
    one_line,
    qualified,
    shorten,
)
from keyhole.core.view.text_parts import PartKind, Parts, TextPart, joined, one_row

# The levels of a hit that are not details to ask for: those that leave something out to fit the budget. Alone means
# without its excerpt and the further hits of its file.
RICH_WITHOUT_CONTEXT = "rich without context"
COMPACT_ALONE = "compact alone"
LOCATION = "location"
_LADDERS: dict[Detail, Ladder] = {
    Detail.RICH: (str(Detail.RICH), RICH_WITHOUT_CONTEXT, COMPACT_ALONE, str(Detail.MINIMAL), LOCATION),
    Detail.COMPACT: (str(Detail.COMPACT), COMPACT_ALONE, str(Detail.MINIMAL), LOCATION),
    Detail.MINIMAL: (str(Detail.MINIMAL), LOCATION),
}
_WITH_SOURCE = frozenset([str(Detail.RICH), RICH_WITHOUT_CONTEXT])
_WITH_FURTHER = frozenset([str(Detail.RICH), str(Detail.COMPACT)])
# What a level is called if no hit has further ones or an excerpt.
_ALL_ALONE = {COMPACT_ALONE: str(Detail.COMPACT)}

# A further hit with this share of the best score gets its own row.
_WORTH_A_ROW = 0.55
# Between stretches of a file.
_GAP = "…\n"
_SIMILAR = " · similar"
_LONGEST_PATH_ALONE = 100
_LONGEST_SENTENCE = 120
_LONGEST_SIGNATURE = 70
_LONGEST_RETURNS = 80
_LONGEST_LINE = 70
_LONGEST_LIST = 200
_LONGEST_PREVIEW = 200
_PREVIEW_LINES = 2
# How much of a clipped line is shown before the match.
_BEFORE_MATCH = 60
# Two hexadecimal digits each.
_ID_BYTES = 6


def ladders(detail: Detail, hits: Sequence[Hit]) -> list[Ladder]:
    """Return the levels of each result, from the one asked for down."""
    has_more = any(hit.further or hit.excerpt or hit.uses for hit in hits)
    if detail == Detail.AUTO:
        details = [Detail.RICH if number < HEAD else Detail.MINIMAL for number in range(len(hits))]
    else:
        details = [detail] * len(hits)
    return [_ladder(detail, has_more=has_more) for detail in details]


@cache
def _ladder(detail: Detail, *, has_more: bool) -> Ladder:
    levels = _LADDERS[detail]
    if has_more:
        return levels
    return tuple(dict.fromkeys(_ALL_ALONE.get(level, level) for level in levels))


def hit_text(hit: Hit, level: str, *, has_numbers: bool = True) -> str:
    """Return a hit as whole lines."""
    return joined(hit_parts(hit, level, has_numbers=has_numbers))


def hit_parts(hit: Hit, level: str, *, has_numbers: bool = True) -> Parts:
    """Return a hit as parts of a text; without `has_numbers`, its source is in a fence."""
    if level == LOCATION:
        return one_row(f"{name_text(hit.path, _LONGEST_PATH_ALONE)}:{hit.line}\n")
    label = _label(hit, level)
    first = f"{hit_place(hit)} ({hit.score:.2f})" + (f" {label}" if label else "") + _SIMILAR * hit.is_similar
    if level == Detail.MINIMAL:
        return one_row(f"{first}\n")
    further = _rows_worth_showing(hit) if level in _WITH_FURTHER else []
    more = hit.further_count - len(further)
    details = [
        *_purpose(hit),
        *(text for _, text in _best_lines(hit, level)),
        *_key_methods(hit, level),
        *_uses(hit, level),
        *map(_further_row, further),
    ]
    parts = [
        TextPart(PartKind.HEADING, f"{first} +{more:,}\n" if more else f"{first}\n"),
        *(TextPart(PartKind.DETAIL, f"{line}\n") for line in details),
    ]
    if shown := _excerpt(hit, level):
        framed = framed_source(shown.text, shown.start_line, has_numbers=has_numbers)
        parts += _within_context(framed, *(0, 0) if has_numbers else (1, 1))
    elif level in _WITH_SOURCE and hit.passage:
        parts += _source(hit.passage, level, has_numbers=has_numbers)
    return parts


def _label(hit: Hit, level: str) -> str:
    """Return what a row calls a hit: its signature, or only its name if the row is to be short."""
    is_short = level == Detail.MINIMAL or (hit.score < GOOD and level not in _WITH_SOURCE)
    label = _declared_name(hit) if is_short else _clipped(shown_signature(hit), _LONGEST_SIGNATURE)
    return label or named_by_line(hit)


def _excerpt(hit: Hit, level: str) -> Stretch | None:
    """Return the excerpt if a level shows it: rich has the source, and other levels have less."""
    return hit.excerpt if level == Detail.COMPACT else None


def hit_facts(hit: Hit, level: str) -> dict[str, object]:
    """Return a hit as JSON facts; each level includes the ones below it."""
    place = {"start_line": hit.start_line, "end_line": hit.end_line}
    if level == LOCATION:
        return {"file_path": name_text(hit.path, _LONGEST_PATH_ALONE), **place, "score": hit.score}
    facts: dict[str, object] = {
        "file_path": name_text(hit.path),
        "language": hit.language,
        **place,
        "definitions": shorten(hit.definitions, _LONGEST_LIST),
        "preview": preview_text(hit),
        "score": hit.score,
    }
    if level != Detail.MINIMAL:
        facts |= _label_facts(hit, level)
    if level in _WITH_SOURCE and hit.passage:
        facts |= _source_facts(hit.passage, level)
    return facts


def _label_facts(hit: Hit, level: str) -> dict[str, object]:
    enclosing = hit.owner.qualified_name if hit.owner else hit.parent
    facts: dict[str, object] = {
        "kind": hit.kind,
        "name": name_text(hit.name),
        "qualified_name": name_text(hit.qualified_name),
        "enclosing": name_text(enclosing),
        "signature": name_text(hit.signature),
        "purpose": shorten(hit.doc, _LONGEST_SENTENCE),
        "returns": shorten(hit.returns, _LONGEST_RETURNS),
        "key_methods": [name_text(name) for name in hit.key_methods],
        "chunk_id": _stable_id(hit),
        "match_lines": list(hit.passage.match_lines) if hit.passage else [],
    }
    if hit.is_line:
        return facts | {"column": hit.column}
    if hit.uses and level in _WITH_FURTHER:
        facts["uses"] = [_use_facts(use) for use in hit.uses]
    further = hit.further if level in _WITH_FURTHER else ()
    return facts | {
        "best_line": hit.best_line.start_line if hit.best_line else None,
        "similar": hit.is_similar,
        "further": [_further_facts(one) for one in further],
        "further_count": hit.further_count,
    }


def _further_facts(hit: Hit) -> dict[str, object]:
    return {
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "kind": hit.kind,
        "qualified_name": name_text(hit.qualified_name),
        "score": hit.score,
    }


def _use_facts(use: Use) -> dict[str, object]:
    return {
        "file_path": name_text(use.path),
        "line": use.line,
        "enclosing": name_text(use.owner),
        "through": name_text(use.through),
        "text": _clipped(use.text),
    }


def _source_facts(passage: Passage, level: str) -> dict[str, object]:
    has_context = level != RICH_WITHOUT_CONTEXT
    return {
        "content": _GAP.join(stretch.text for stretch in passage.content),
        "content_start_line": passage.content[0].start_line,
        "content_end_line": passage.content[-1].end_line,
        "context_before": passage.before if has_context else "",
        "context_after": passage.after if has_context else "",
    }


def hit_masks(hit: Hit, level: str, masks: Mapping[str, Sequence[Mask]], *, is_json: bool) -> Iterator[MaskedPlace]:
    """Yield what is masked in a hit as it is written; `masks` are those of each file."""
    own = masks.get(hit.path, ())
    if not own or level == LOCATION:
        return
    found: list[Mask] = []
    if level in _WITH_SOURCE and hit.passage:
        for first, last in _source_lines(hit.passage, level):
            found += masks_in_lines(own, first, last)
    if not is_json and (shown := _excerpt(hit, level)):
        found += masks_in_lines(own, shown.start_line, shown.end_line)
    for part, first, last in _described_parts(hit, level, is_json=is_json):
        if MASK_START in part:
            found += masks_in_text(part, own, first, last)
    for mask in sorted(set(found), key=attrgetter("start_line")):
        yield MaskedPlace(hit.path, mask)


def _described_parts(hit: Hit, level: str, *, is_json: bool) -> Iterator[tuple[str, int, int]]:
    """Yield each part of a hit outside its source, with the lines it comes from."""
    first = min(hit.named_lines[0] or hit.line, hit.line)
    last = max(hit.named_lines[1], hit.end_line)
    if is_json and level != Detail.MINIMAL:
        yield f"{hit.signature} {hit.doc} {hit.returns}", first, last
    if not is_json:
        purpose = [] if level == Detail.MINIMAL else _purpose(hit)
        by_line = hit.best_line if not hit.signature else None
        lines = (by_line.start_line, by_line.start_line) if by_line else (first, last)
        yield " ".join([_label(hit, level), *purpose]), *lines
    if not is_json and level != Detail.MINIMAL:
        yield from ((text, line, line) for line, text in _best_lines(hit, level))
    for further in hit.further if level in _WITH_FURTHER and is_json else ():
        yield further.qualified_name, further.start_line, further.end_line
    for further in _rows_worth_showing(hit) if level in _WITH_FURTHER and not is_json else ():
        line = further.line if not further.signature else further.start_line
        yield _further_row(further), line, further.line if not further.signature else further.end_line
    if is_json:
        yield preview_text(hit), *_content_lines(hit)
        yield hit.definitions, hit.start_line, hit.end_line


def _content_lines(hit: Hit) -> tuple[int, int]:
    if not hit.passage:
        return hit.start_line, hit.end_line
    return hit.passage.content[0].start_line, hit.passage.content[-1].end_line


def _source_lines(passage: Passage, level: str) -> Iterator[tuple[int, int]]:
    """Yield the first and last lines of the source that is shown."""
    for stretch in passage.content:
        yield stretch.start_line, stretch.end_line
    if level != RICH_WITHOUT_CONTEXT:
        first, last = passage.content[0].start_line, passage.content[-1].end_line
        yield first - passage.before.count("\n"), first - 1
        yield last + 1, last + count_lines(passage.after)


def _stable_id(hit: Hit) -> str | None:
    """Return an id that is the same in every index of the same files; None if the source could not be read."""
    if hit.passage is None:
        return None
    facts = "\0".join((hit.path, str(hit.start_line), hit.passage.text))
    return blake2b(facts.encode("utf-8", "surrogatepass"), digest_size=_ID_BYTES).hexdigest()


def hit_place(hit: Hit) -> str:
    """Return the place and the kind of a hit."""
    return f"{name_text(hit.path)}:{hit.line}:[{hit.kind}]"


def _declared_name(hit: Hit) -> str:
    return name_text(_with_owner(hit, declared_label(hit.signature, hit.name)))


def shown_signature(hit: Hit) -> str:
    """Return the signature of a hit with its owner: `def QuerySet.filter(self, *args)`."""
    return _with_owner(hit, hit.signature)


def _with_owner(hit: Hit, signature: str) -> str:
    # Headings and keys are parts of texts, not members.
    return qualified(signature, hit.name, hit.parent) if BY_ID[hit.language].has_definitions else signature


def named_by_line(hit: Hit) -> str:
    """Return the line that a hit without a signature is called by."""
    return _best_line_text(hit)


def _best_line_text(hit: Hit) -> str:
    """Return the best line, clipped around its first match if it is long."""
    if hit.best_line is None:
        return ""
    text = hit.best_line.text
    start = max(0, hit.best_column - _LONGEST_LINE // 2)
    if len(text.strip()) <= _LONGEST_LINE or not start:
        return _clipped(text)
    return _clipped(f"…{text[after_mask(text, start) :].lstrip()}")


def _clipped(line: str, longest: int = _LONGEST_LINE) -> str:
    """Return a line on one line, clipped at its end but not inside a mask."""
    shown = one_line(" ".join(line.split()))
    return shown if len(shown) <= longest else f"{shown[: before_mask(shown, longest - 1)].rstrip()}…"


def _purpose(hit: Hit) -> Iterator[str]:
    if hit.doc and hit.score >= GOOD:
        yield f"  → Purpose: {shorten(hit.doc, _LONGEST_SENTENCE)}"


def _best_lines(hit: Hit, level: str) -> Iterator[tuple[int, str]]:
    """Yield the best line with its number, if nothing else shows it; and the code that it comments on."""
    if not hit.best_line or not hit.signature or hit.score < WEAK or _excerpt(hit, level):
        return
    yield hit.best_line.start_line, f"  → {hit.best_line.start_line}: {_best_line_text(hit)}"
    if hit.commented and hit.score >= GOOD:
        yield hit.commented.start_line, f"  → {hit.commented.start_line}: {_clipped(hit.commented.text)}"


def _key_methods(hit: Hit, level: str) -> Iterator[str]:
    if hit.key_methods and hit.score >= GOOD and not hit.best_line and not _excerpt(hit, level):
        yield f"  → Key methods: {', '.join(name_text(name) for name in hit.key_methods)}"


def _uses(hit: Hit, level: str) -> Iterator[str]:
    """Yield the lines that use a value; those in its own file without the path."""
    for use in hit.uses if level in _WITH_FURTHER else ():
        place = f"{'' if use.path == hit.path else name_text(use.path)}:{use.line}"
        where = f"in {name_text(use.owner)} ({place})" if use.owner else f"at {place}"
        through = f", through {name_text(use.through)}" if use.through else ""
        yield f"  → Used {where}{through}: {_clipped(use.text)}"


def _rows_worth_showing(hit: Hit) -> list[Hit]:
    """Return the further hits that text shows; JSON has all, and text counts the others."""
    return [further for further in hit.further if further.score >= _WORTH_A_ROW]


def _further_row(hit: Hit) -> str:
    """Return a further hit of a file on one line, without the path."""
    declared = _declared_name(hit)
    has_parameters = hit.signature.startswith("(", len(declared_name(hit.signature, hit.name)))
    label = f"{declared}(…)" if declared and has_parameters else declared or named_by_line(hit)
    return f"  :{hit.line} [{hit.kind}] {label}".rstrip()


def _source(passage: Passage, level: str, *, has_numbers: bool) -> Iterator[TextPart]:
    with_context = level != RICH_WITHOUT_CONTEXT
    shown = [_lines_text(stretch.start_line, stretch.end_line) for stretch in passage.content]
    first, last = passage.content[0].start_line, passage.content[-1].end_line
    before, after = (passage.before, passage.after) if with_context else ("", "")
    around = (first - before.count("\n"), last + count_lines(after))
    context = f", with context {_lines_text(*around)}" if around != (first, last) else ""
    yield TextPart(PartKind.DETAIL, f"── lines {', '.join(shown)}{context} ──\n")
    for number, stretch in enumerate(stretches := _joined(before, passage.content, after)):
        if number:
            yield TextPart(PartKind.CONTEXT, _GAP)
        framed = framed_source(stretch.text, stretch.start_line, has_numbers=has_numbers)
        lines_before = 0 if number else count_lines(before)
        lines_after = count_lines(after) if stretch is stretches[-1] else 0
        # A fence is one line before and one after the source.
        fence = 0 if has_numbers else 1
        yield from _within_context(framed, fence + lines_before, fence + lines_after)
    yield TextPart(PartKind.CONTEXT, "\n")


def _within_context(text: str, before: int, after: int) -> Iterator[TextPart]:
    """Yield source between some lines of context."""
    lines = [f"{line}\n" for line in text.split("\n")[:-1]]
    end = len(lines) - after
    for kind, part in (
        (PartKind.CONTEXT, lines[:before]),
        (PartKind.SOURCE, lines[before:end]),
        (PartKind.CONTEXT, lines[end:]),
    ):
        if part:
            yield TextPart(kind, "".join(part))


def _joined(before: str, content: Sequence[Stretch], after: str) -> list[Stretch]:
    """Return stretches with the lines before the first and after the last as part of them."""
    first, *rest = content
    *between, last = [Stretch(first.start_line - before.count("\n"), before + first.text), *rest]
    # A chunk may end inside a very long line.
    end = "…\n" if after and not last.text.endswith("\n") else ""
    return [*between, Stretch(last.start_line, last.text + end + after)]


def _lines_text(first: int, last: int) -> str:
    return f"{first}-{last}"


def line_preview(line: str, column: int) -> str:
    """Return a matching line, clipped around the match if it is long."""
    if len(line) <= _LONGEST_PREVIEW:
        return line
    room = _LONGEST_PREVIEW - 2
    start = max(0, min(column - 1 - _BEFORE_MATCH, len(line) - room))
    start, end = after_mask(line, start), before_mask(line, start + room)
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def preview_text(hit: Hit) -> str:
    """Return the first lines of what a hit names, or the line that matches a pattern."""
    if hit.passage is None:
        return ""
    if hit.is_line:
        return line_preview(hit.passage.text, hit.column)
    lines = [line.rstrip() for line in hit.passage.content[0].text.split("\n") if line.strip()]
    preview = "\n".join(lines[:_PREVIEW_LINES])
    if len(preview) <= _LONGEST_PREVIEW:
        return preview
    return f"{preview[: before_mask(preview, _LONGEST_PREVIEW - 3)]}..."
