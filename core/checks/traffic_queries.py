"""Searches of agents that ended in a read: what they asked, and the files that they needed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from keyhole.core.journal.story import Conversation, Step, conversations
from keyhole.core.types.calls import Call
from keyhole.core.types.completeness import CallStatus

_SEARCH, _READ = "search_code", "read_file"
# Parameters of a search that a check has under the same name.
_FILTERS = ("mode", "path", "language", "kind", "role", "include_tests")


@dataclass(frozen=True, slots=True)
class AnsweredQuery:
    """A search, the filters that it used, the files that were read after it, and the worst rank of these."""

    query: str
    files: tuple[str, ...]
    filters: Mapping[str, object]
    rank: int


def answered_queries(calls: Iterable[Call]) -> list[AnsweredQuery]:
    """Return the searches that ended in a read, oldest first, each once."""
    found: dict[str, AnsweredQuery] = {}
    for told in conversations(calls):
        for step in told.steps:
            answered = query_of(told, step.call.id) if step.call.tool == _SEARCH else None
            if answered:
                found.setdefault(answered.query, answered)
    return list(found.values())


def query_of(told: Conversation, call_id: int) -> AnsweredQuery | None:
    """Return the search of a call, or that a read followed; None if no read followed it."""
    steps = {step.call.id: step for step in told.steps}
    search = _search_before(steps, steps.get(call_id))
    if search is None:
        return None
    given = search.call.parameters
    shown = list(dict.fromkeys(part.path for part in search.call.shown_lines))
    reads = [step for step in told.steps if step.call.tool == _READ and _search_before(steps, step) is search]
    files = dict.fromkeys(part.path for step in reads for part in step.call.shown_lines if part.path in shown)
    query = given.get("query")
    if not isinstance(query, str) or "\n" in query or not files:
        return None
    filters = {name: given[name] for name in _FILTERS if name in given}
    return AnsweredQuery(query, tuple(files), filters, max(shown.index(path) + 1 for path in files))


def _search_before(steps: Mapping[int, Step], step: Step | None) -> Step | None:
    """Return the search that a step is, or that it follows over other calls."""
    while step and (step.call.tool != _SEARCH or step.call.status == CallStatus.ERROR):
        step = steps.get(step.follows)
    return step
