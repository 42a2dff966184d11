"""A page of search results at a chosen detail and within a budget; and explanations of a rank."""

from collections.abc import Sequence

from keyhole.core.masking import Mask
from keyhole.core.types import Detail, Explanation, Hit, Mode, Passage, Query, SearchRequest, SearchResult
from keyhole.core.view.budget.limits import check_offset, clamp_limit, clamp_tokens
from keyhole.core.view.budget.sizes import Budget
from keyhole.core.view.lists.hit_text import hit_facts, hit_masks, hit_text, ladders
from keyhole.core.view.lists.listing import Listing, ListView, Shown, list_view
from keyhole.core.view.masked import MaskedPlace, masked_sentence, masks_in_text
from keyhole.core.view.text import name_text
from keyhole.core.view.writing import Page

_LONGEST_PROJECT = 30


def parse_search_request(request: SearchRequest, *, top_k: int, mode: Mode) -> tuple[Query, Shown]:
    """Split a request into what to look for and how to show it, within the limits."""
    check_offset(request.offset)
    is_minimal = request.detail_level == Detail.MINIMAL
    view = "search_code at minimal" if is_minimal else "search_code"
    limit, limit_notes = clamp_limit(view, request.limit, top_k)
    tokens, token_notes = clamp_tokens(request.max_tokens)
    query = Query(
        text=request.query,
        mode=request.mode or mode,
        path=request.path,
        language=request.language,
        kind=request.kind,
        include_tests=request.include_tests,
        limit=limit,
        offset=request.offset,
    )
    return query, Shown(request.detail_level, request.format, Budget(tokens), (*limit_notes, *token_notes))


def search_view(
    result: SearchResult, shown: Shown, *, project: str = "", request: bytes = bytes(8), latency_ms: float = 0.0
) -> ListView:
    """Return a page of hits."""
    hits, query = result.hits, result.query

    def entry(number: int) -> tuple[Hit, Passage | None]:
        return hits[number], result.passages.get(hits[number].chunk_id)

    listing = Listing(
        page=Page(query.offset, query.limit, result.total, result.unshown),
        count=len(hits),
        ladders=lambda detail: ladders(detail, len(hits)),
        text_of=lambda number, level: hit_text(*entry(number), level),
        facts_of=lambda number, level: hit_facts(*entry(number), level),
        request=request,
        generation=result.index.generation,
        notes=result.notes,
        incomplete=result.index.incomplete_note,
        too_large_step=f"Read it: read_file start_line={hits[0].start_line}" if hits else "",
        facts={
            "mode": result.mode,
            "project": name_text(project, _LONGEST_PROJECT),
            "index": result.index.for_json(),
        },
        latency_ms=latency_ms,
        masks_of=lambda number, level, text: hit_masks(*entry(number), level, text, result.masks),
    )
    return list_view(listing, shown)


def explanation_text(found: Explanation) -> str:
    """Return why a file has its rank, signal by signal."""
    places = [MaskedPlace(found.path, mask) for mask in found.masked]
    text = f"{name_text(found.path)}: {found.verdict}{masked_sentence(places, is_one_file=True)}\n"
    if found.hit:
        text += hit_text(found.hit, None, Detail.COMPACT)
        for signal in found.hit.signals:
            text += f"  {signal.effect:+.4f}  {signal.name}" + (f" ({signal.detail})" if signal.detail else "") + "\n"
    return text


def masks_of_explanation(found: Explanation, masks: Sequence[Mask]) -> tuple[Mask, ...]:
    """Return what is masked in an explanation, of all masks in its file."""
    hit = found.hit
    text = hit_text(hit, None, Detail.COMPACT) if hit else ""
    return tuple(masks_in_text(text, masks, hit.start_line, hit.end_line)) if hit else ()
