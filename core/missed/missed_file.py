"""Why an agent did not see a file in the answer to one of its calls."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from keyhole.core.delivery import deliver
from keyhole.core.errors import KeyholeError, QueryError
from keyhole.core.journal.reader import status_now
from keyhole.core.journal.story import conversation_key, conversations
from keyhole.core.missed.recorded_search import RecordedSearch, is_delivered
from keyhole.core.missed.remedies import Remedy, remedies
from keyhole.core.types.calls import Call
from keyhole.core.types.choices import Mode
from keyhole.core.types.completeness import CallStatus
from keyhole.core.types.search_results import DroppedBy, Explanation
from keyhole.core.types.view_requests import SearchRequest
from keyhole.core.view.text import count_of, name_text

if TYPE_CHECKING:
    from keyhole.core.journal.reader import JournalReader, WholeCall
    from keyhole.core.service import Service

_OF_FILES = ("map_file", "read_file", "resources/read")
_UNANSWERED = (CallStatus.PENDING, CallStatus.ERROR, CallStatus.CANCELLED, CallStatus.LOST)


class TakenBy(StrEnum):
    """What took a file away from an answer, or that nothing did."""

    NOTHING = "shown"
    PAGE = "not on this page"
    BUDGET = "left out by the budget"
    FILTER = "filtered out"
    CLIENT = "taken away by the client"
    INDEX = "not indexed"
    MATCHING = "does not match"
    # The answer was another one then, because files have changed.
    TIME = "not shown then"
    # Another kind of call, which is about other files.
    REQUEST = "not part of this call"
    NO_ANSWER = "no answer"


@dataclass(frozen=True, slots=True)
class MissedFile:
    """What happened to a file in an answer, why, which parameters show it, and which calls of the agent showed it."""

    path: str
    call: Call
    taken_by: TakenBy
    why: str
    rank: int = 0
    total: int = 0
    remedies: tuple[Remedy, ...] = ()
    shown_in: tuple[Call, ...] = ()


def missed_file(service: "Service", call_id: int, path: str) -> MissedFile:
    """Return why a file is missing from the answer to a recorded call, or where it is."""
    reader = service.journal_reader()
    try:
        whole = reader.whole(call_id)
        if whole is None:
            raise QueryError(f"call {call_id} is not in the journal")
        relative = service.relative(path, must_exist=False)
        found = _of_search(service, whole, relative) if whole.call.tool == "search_code" else None
        return replace(found or _of_other(service, whole, relative), shown_in=_shown_in(reader, whole.call, relative))
    finally:
        reader.close()


def _of_search(service: "Service", whole: "WholeCall", path: str) -> MissedFile:
    call = whole.call
    if status_now(call) in _UNANSWERED:
        return MissedFile(path, call, TakenBy.NO_ANSWER, _no_answer(call))
    search = RecordedSearch.of(service, call)
    if _was_shown(whole, path):
        return _shown(search, whole, path)
    explanation = service.explain(search.request, path)
    taken_by, why = _taken(search, explanation, path)
    found = MissedFile(path, call, taken_by, why, explanation.rank, explanation.total)
    return replace(found, remedies=tuple(remedies(search, path, explanation)))


def _was_shown(whole: "WholeCall", path: str) -> bool:
    if whole.call.shown:
        return any(shown.path == path for shown in whole.call.shown_lines)
    # A journal of 0.1.0 has only the text.
    return name_text(path) in whole.response


def _shown(search: RecordedSearch, whole: "WholeCall", path: str) -> MissedFile:
    """Return where a file that the answer shows was, or that the client did not deliver it."""
    paths = [shown.path for shown in whole.call.shown_lines]
    place = f"result {paths.index(path) + 1} of {len(paths)} in the answer" if path in paths else "in the answer"
    if is_delivered(whole.response, path, search.profile):
        return MissedFile(path, whole.call, TakenBy.NOTHING, place)
    explanation = search.service.explain(search.request, path)
    found = MissedFile(path, whole.call, TakenBy.CLIENT, f"{place}, but {deliver(whole.response, search.profile).note}")
    return replace(found, remedies=tuple(remedies(search, path, explanation)))


def _taken(search: RecordedSearch, explanation: Explanation, path: str) -> tuple[TakenBy, str]:
    """Return what keeps a file from being shown, and the facts."""
    if explanation.dropped_by:
        by_step = {
            DroppedBy.INDEX: TakenBy.INDEX,
            DroppedBy.FILTER: TakenBy.FILTER,
            DroppedBy.MATCHING: TakenBy.MATCHING,
        }
        return by_step[explanation.dropped_by], explanation.verdict
    now = search.attempt(path, {})
    query, returned = now.result.query, len(now.view.plan.levels)
    rank = f"rank {explanation.rank:,} of {explanation.total:,}"
    if now.place:
        return TakenBy.TIME, f"files have changed since: the same call shows it now, {rank}"
    first, last = query.offset + 1, query.offset + query.limit
    if first <= explanation.rank <= last:
        room = f"results {first:,}-{last:,}, and max_tokens={search.request.max_tokens} had room for {returned:,}"
        return TakenBy.BUDGET, f"{rank}; this page has {room}"
    return TakenBy.PAGE, f"{rank}; this page has results {first:,}-{last:,}"


def _no_answer(call: Call) -> str:
    status = status_now(call)
    return f"the call failed: {call.problem}" if status == CallStatus.ERROR else f"the call is {status}"


def _of_other(service: "Service", whole: "WholeCall", path: str) -> MissedFile:
    """Return what a call that is not a search has to do with a file."""
    call = whole.call
    if status_now(call) in _UNANSWERED:
        return MissedFile(path, call, TakenBy.NO_ANSWER, _no_answer(call))
    shown = next((part for part in call.shown_lines if part.path == path), None)
    if shown and shown.last:
        return MissedFile(path, call, TakenBy.NOTHING, f"lines {shown.first:,}-{shown.last:,} are in the answer")
    if shown or name_text(path) in whole.response:
        return MissedFile(path, call, TakenBy.NOTHING, "the answer names it")
    if problem := _index_problem(service, path):
        return MissedFile(path, call, TakenBy.INDEX, problem)
    return MissedFile(path, call, TakenBy.REQUEST, _other_subject(whole))


def _other_subject(whole: "WholeCall") -> str:
    """Return what a call was about instead."""
    call, paths = whole.call, [name_text(shown.path) for shown in whole.call.shown_lines]
    following = str(whole.truncation.get("next") or "")
    if call.tool in _OF_FILES or not following:
        return f"{call.tool} was about {', '.join(paths[:3])}" if paths else f"{call.tool} names no files"
    return f"the answer names {count_of(len(paths), 'file')}, and there is more: {following}"


def _index_problem(service: "Service", path: str) -> str:
    """Return why a file is not indexed; empty if it is."""
    name = path.rpartition("/")[2] or path
    try:
        found = service.explain(SearchRequest(name, mode=Mode.SYMBOL), path)
    except KeyholeError:
        return ""
    return found.verdict if found.dropped_by == DroppedBy.INDEX else ""


def _shown_in(reader: "JournalReader", call: Call, path: str) -> tuple[Call, ...]:
    """Return the other calls of the same conversation that showed a file."""
    key = conversation_key(call)
    told = conversations(other for other in reader.each() if conversation_key(other) == key)
    steps = next((part.steps for part in told if any(step.call.id == call.id for step in part.steps)), ())
    others = [step.call for step in steps if step.call.id != call.id]
    return tuple(other for other in others if any(shown.path == path for shown in other.shown_lines))
