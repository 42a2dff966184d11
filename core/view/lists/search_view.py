"""A page of search results at a chosen detail and within a budget; and explanations of a rank."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from keyhole.core.masking import Mask
from keyhole.core.notes import Note, NoteKind
from keyhole.core.search.query import choose_mode, name_part, words_of
from keyhole.core.types.calls import ShownLines
from keyhole.core.types.choices import Detail, Format, Mode, Output
from keyhole.core.types.search_results import WEAK, Explanation, Hit, MatchCount, SearchResult
from keyhole.core.types.view_requests import Query, SearchRequest
from keyhole.core.view.budget.limits import check_offset, clamp_context, clamp_limit
from keyhole.core.view.budget.sizes import answer_budget
from keyhole.core.view.lists.hit_text import LOCATION, hit_facts, hit_masks, hit_parts, hit_text, ladders
from keyhole.core.view.lists.line_text import LinePage, count_facts, count_text
from keyhole.core.view.lists.listing import Listing, ListView, Shown, list_view
from keyhole.core.view.masked import MaskedPlace, masked_sentence, masks_in_text
from keyhole.core.view.shares import rounded_shares
from keyhole.core.view.text import count_of, name_text
from keyhole.core.view.text_parts import one_row
from keyhole.core.view.writing import Page

_LONGEST_PROJECT = 30
_LONGEST_WORD = 40
# A smaller share would be shown as 0.00.
_SMALLEST_SHARE = 0.005


def parse_search_request(request: SearchRequest, *, top_k: int, mode: Mode) -> tuple[Query, Shown]:
    """Split a request into what to look for and how to show it, within the limits."""
    check_offset(request.offset)
    is_minimal = request.detail_level == Detail.MINIMAL
    is_pattern = choose_mode(Query(request.query, request.mode or mode)) == Mode.REGEX
    view = "search_code by pattern" if is_pattern else "search_code at minimal" if is_minimal else "search_code"
    limit, limit_notes = clamp_limit(view, request.limit, None if is_pattern else top_k)
    context, context_notes = clamp_context(request.context_lines)
    budget, token_notes = answer_budget(request.max_tokens)
    query = Query(
        text=request.query,
        mode=request.mode or mode,
        path=request.path,
        language=request.language,
        kind=request.kind,
        include_tests=request.include_tests,
        limit=limit,
        offset=request.offset,
        may_end_early=request.limit is None,
        output=request.output,
        role=request.role,
    )
    notes = (*limit_notes, *token_notes, *context_notes)
    if not is_pattern and (request.context_lines or request.output != Output.LINES):
        text = "context_lines and output only apply to exact text and regular expressions"
        notes = (*notes, Note(NoteKind.ONLY_FOR_PATTERNS, text))
    return query, Shown(request.detail_level, request.format, budget, notes, context, request.line_numbers)


def search_view(
    result: SearchResult, shown: Shown, *, project: str = "", request: bytes = bytes(8), latency_ms: float = 0.0
) -> ListView:
    """Return a page of hits."""
    hits, query = result.hits, result.query
    listing = Listing(
        page=Page(query.offset, _page_size(result), result.total, result.unshown),
        count=len(hits),
        ladders=lambda detail: ladders(detail, hits),
        parts_of=lambda n, level: hit_parts(hits[n], level, has_numbers=shown.line_numbers),
        facts_of=lambda n, level: hit_facts(hits[n], level),
        request=request,
        generation=result.index.generation,
        notes=result.notes,
        incomplete=result.index.incomplete_note,
        nothing=result.nothing,
        too_large_step=f"Read it: read_file start_line={hits[0].start_line}" if hits else "",
        facts={
            "mode": result.mode,
            "project": name_text(project, _LONGEST_PROJECT),
            "index": result.index.for_json(),
            **_hit_counts(result),
        },
        unit=_unit(result),
        aside=_aside(result),
        has_masks=any(result.masks.values()),
        latency_ms=latency_ms,
        masks_of=lambda n, level, _: hit_masks(hits[n], level, result.masks, is_json=shown.format == Format.JSON),
    )
    return list_view(listing if result.matches is None else _of_matches(listing, result, result.matches, shown), shown)


def _page_size(result: SearchResult) -> int:
    """Return how many results a page holds."""
    return len(result.hits) + result.unshown.count if result.ends_early else result.query.limit


def _unit(result: SearchResult) -> str:
    if result.total_hits is None:
        return ""
    files = " file" if result.total == 1 else " files"
    return f"{files}; all others score below {WEAK:.2f}" if result.ends_early else files


def shown_files(result: SearchResult, view: ListView) -> list[ShownLines]:
    """Return the files that a page shows; counts name files only if they are not by folder."""
    counted = [count.path for count in result.counts] if result.query.output == Output.FILES else []
    paths = [*(hit.path for hit in result.hits), *counted][: len(view.plan.levels)]
    return [ShownLines(path) for path in dict.fromkeys(paths)]


def _hit_counts(result: SearchResult) -> dict[str, object]:
    if result.matches or result.mode == Mode.SYMBOL:
        return {}
    hits = {} if result.total_hits is None else {"total_hits": result.total_hits}
    return {**hits, "words_found": result.has_words}


def _aside(result: SearchResult) -> str:
    """Return that no file contains the words of the query, if so."""
    if not result.total or result.has_words:
        return ""
    if result.mode == Mode.SYMBOL:
        return f'No name contains "{name_text(name_part(result.query.text), _LONGEST_WORD)}"; these are similar.'
    words = words_of(result.query.text)
    # Part of a longer word may well be there.
    named = f'the word "{name_text(words[0], _LONGEST_WORD)}"' if len(words) == 1 else "any of these words"
    return f"No file searched contains {named}; this is similar code."


def _of_matches(listing: Listing, result: SearchResult, matches: MatchCount, shown: Shown) -> Listing:
    """Return a listing of lines that match a pattern, or of counts, that says how many lines match."""
    facts = {**listing.facts, "matching_lines": matches.lines, "matching_files": matches.files}
    lines, files = count_of(matches.lines, "matching line"), count_of(matches.files, "file")
    if result.query.output == Output.LINES:
        page = LinePage(result.hits, shown.context_lines, is_json=shown.format == Format.JSON)
        return replace(
            listing,
            parts_of=page.parts_of,
            masks_of=partial(page.masks_of, result.masks),
            unit=f" {lines.partition(' ')[2]} in {files}",
            facts=facts,
        )
    is_folder = result.query.output == Output.COUNT
    noun = "folder" if is_folder else "file"
    counts = result.counts
    return replace(
        listing,
        count=len(counts),
        ladders=lambda _: [(str(Detail.MINIMAL), LOCATION)] * len(counts),
        parts_of=lambda number, _: one_row(count_text(counts[number], is_folder=is_folder)),
        facts_of=lambda number, _: count_facts(counts[number], is_folder=is_folder),
        masks_of=lambda *_: (),
        unit=f" {noun if result.total == 1 else f'{noun}s'}; {lines}" + (f" in {files}" if is_folder else ""),
        facts=facts,
    )


def explanation_text(found: Explanation) -> str:
    """Return why a file has its rank, share by share."""
    places = [MaskedPlace(found.path, mask) for mask in found.masked]
    text = f"{name_text(found.path)}: {found.verdict}{masked_sentence(places, is_one_file=True)}\n"
    if found.role:
        text += f"  role: {found.role}\n"
    if found.hit:
        text += hit_text(found.hit, Detail.COMPACT)
        text += _shares_text(found.hit)
    return text


def _shares_text(hit: Hit) -> str:
    """Return what the score of a hit is made of, the largest share first.

    The score is a share of the best result's, so each row has its part of the score and its points. Both columns add up
    to their totals as shown. If points and score are the same number, there is one column.
    """
    shown = sorted((signal for signal in hit.signals if _is_shown(signal.effect)), key=lambda it: -abs(it.effect))
    if not shown:
        return "".join(f"  {signal.name} ({signal.detail})\n" for signal in hit.signals)
    names = [f"{signal.name} ({signal.detail})" if signal.detail else signal.name for signal in shown]
    effects = [signal.effect for signal in shown]
    if _is_shown(rest := hit.points - sum(effects)):
        names, effects = [*names, "others"], [*effects, rest]
    points = rounded_shares(effects, hit.points)
    if f"{hit.points:.2f}" == f"{hit.score:.2f}":
        rows = [f"  {effect:+.2f}  {name}\n" for effect, name in zip(points, names, strict=True)]
        return "".join(rows) + f"  {hit.points:5.2f}  total\n"
    parts = rounded_shares(_parts_of_score(effects, hit.score), hit.score)
    table = zip(parts, points, names, strict=True)
    lines = [f"  {part:+.2f}  {effect:+7.2f}  {name}\n" for part, effect, name in table]
    return "  score   points\n" + "".join(lines) + f"  {hit.score:5.2f}  {hit.points:7.2f}  total\n"


def _is_shown(effect: float) -> bool:
    return abs(effect) >= _SMALLEST_SHARE


def _parts_of_score(effects: Sequence[float], score: float) -> list[float]:
    """Return the part of the score that each effect has, in proportion to the points."""
    points = sum(effects)
    if points <= 0:
        # The best result may have negative points; then only what speaks for it can make up its score.
        effects = [max(effect, 0.0) for effect in effects]
        points = sum(effects)
    return [effect * score / points for effect in effects] if points else [0.0] * len(effects)


def masks_of_explanation(found: Explanation, masks: Sequence[Mask]) -> tuple[Mask, ...]:
    """Return what is masked in an explanation, of all masks in its file."""
    hit = found.hit
    text = hit_text(hit, Detail.COMPACT) if hit else ""
    return tuple(masks_in_text(text, masks, hit.start_line, hit.end_line)) if hit else ()
