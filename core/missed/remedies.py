"""Which parameters would have shown a file: candidates by rank, page and budget, each checked by making the search."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from keyhole.core.errors import KeyholeError
from keyhole.core.missed.recorded_search import Attempt, RecordedSearch
from keyhole.core.types.choices import Detail, Mode, Output
from keyhole.core.types.search_results import DroppedBy, Explanation
from keyhole.core.view.budget.limits import LIMITS, MAX_TOKENS

_MOST = 3
# Budgets are written in round numbers.
_ROUND = 100
_NO_FILTER: Mapping[str, object] = {"path": "", "language": "", "kind": "", "role": "", "include_tests": True}
_OTHER_MODES = (Mode.HYBRID, Mode.SEMANTIC)
Changes = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Remedy:
    """Parameters that show a file, where on the page it is then, and what the answer costs."""

    parameters: Mapping[str, object]
    place: int
    returned: int
    tokens: int


def remedies(search: RecordedSearch, path: str, explanation: Explanation) -> list[Remedy]:
    """Return parameters that show a file, best first; each was checked."""
    found: list[Remedy] = []
    for changes in _candidates(search, path, explanation):
        if len(found) == _MOST:
            break
        # What is enough needs no further change.
        if any(remedy.parameters.items() <= changes.items() for remedy in found):
            continue
        attempt = _tried(search, path, changes)
        if attempt and attempt.is_delivered:
            info = attempt.view.truncation
            found.append(Remedy(changes, attempt.place, len(attempt.view.plan.levels), info.estimated_tokens))
    return found


def _tried(search: RecordedSearch, path: str, changes: Changes) -> Attempt | None:
    try:
        # A cursor belongs to one page of one search.
        return search.attempt(path, {"cursor": "", **changes})
    except KeyholeError:
        return None


def _candidates(search: RecordedSearch, path: str, explanation: Explanation) -> Iterator[Changes]:
    """Yield changes of the parameters that may show the file, the smallest first."""
    for changes, rank in _ranked(search, path, explanation):
        yield changes
        yield from ({**changes, **page} for page in _pages(search, rank))
        if budget := _enough_tokens(search, path, changes):
            yield {**changes, "max_tokens": budget}
        yield {**changes, "offset": rank - 1}
        yield {**changes, "offset": rank - 1, "limit": 1}


def _ranked(search: RecordedSearch, path: str, explanation: Explanation) -> Iterator[tuple[Changes, int]]:
    """Yield changes that let the file match, with its rank then."""
    # Counts by folder name no files.
    changes: Changes = {"output": str(Output.FILES)} if search.request.output == Output.COUNT else {}
    while explanation.dropped_by == DroppedBy.FILTER and explanation.parameter in _NO_FILTER:
        changes = {**changes, explanation.parameter: _NO_FILTER[explanation.parameter]}
        explanation = search.explain(path, changes)
    if explanation.rank:
        yield changes, explanation.rank
    elif explanation.dropped_by == DroppedBy.MATCHING:
        for mode in _OTHER_MODES:
            in_mode = {**changes, "mode": str(mode)}
            # Without vectors, there is no search by meaning.
            with suppress(KeyholeError):
                if rank := search.explain(path, in_mode).rank:
                    yield in_mode, rank


def _pages(search: RecordedSearch, rank: int) -> Iterator[Changes]:
    """Yield the page with the rank, the same page at less detail, and one that reaches from the start to the rank."""
    request = search.request
    limit = request.limit or search.service.settings.search.top_k
    page = (rank - 1) // limit * limit
    if page != request.offset or request.cursor:
        yield {"offset": page}
    if request.detail_level != Detail.MINIMAL:
        yield {"detail_level": str(Detail.MINIMAL)}
    view = "search_code at minimal" if request.detail_level == Detail.MINIMAL else "search_code"
    if limit < rank <= LIMITS[view].maximum:
        yield {"limit": rank, **({"offset": 0} if request.offset else {})}


def _enough_tokens(search: RecordedSearch, path: str, changes: Changes) -> int:
    """Return the lowest round budget that shows the file on the same page; 0 if none does."""
    least, most = (search.request.max_tokens or 0) // _ROUND, MAX_TOKENS // _ROUND
    last = _tried(search, path, {**changes, "max_tokens": most * _ROUND})
    if last is None or not last.place or least >= most:
        return 0
    while least + 1 < most:
        middle = (least + most) // 2
        attempt = search.attempt(path, {"cursor": "", **changes, "max_tokens": middle * _ROUND}, last.result)
        least, most = (least, middle) if attempt.place else (middle, most)
    return most * _ROUND
