"""An agent's call as text: its arguments, its timing, and the difference to a replay."""

from difflib import unified_diff
from typing import TYPE_CHECKING

from keyhole.core.errors import KeyholeError
from keyhole.core.journal.wrapped_answers import answer_parts
from keyhole.core.links.requests import ReferenceRelation
from keyhole.core.types.calls import Call
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.budget.tokens import estimate_tokens
from keyhole.core.view.stats_text import milliseconds, moment
from keyhole.core.view.text import count_of, json_text
from keyhole.tui.history import Place
from keyhole.tui.reference_trail import TrailStep
from keyhole.tui.search_state import SearchState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from keyhole.core.journal.reader import WholeCall
    from keyhole.tui.call_log import Summary

_BAR = 15
_CONTEXT = 2
# What answers of these tools consist of; those of all others are lists of results.
_UNITS = {"map_file": "symbol", "read_file": "line", "read_files": "line"}
_FILTERS = {"language": "lang", "path": "path", "kind": "kind", "role": "role", "mode": "mode", "limit": "limit"}
# Arguments that the search line can't express, with their defaults.
_NOT_IN_SEARCH_LINE = {"cursor": "", "context_lines": 0, "output": "lines", "line_numbers": True}
# The arguments that the screen of references shows.
_OF_REFERENCES = {"symbol", "path", "line", "relation"}


def arguments_document(call: Call) -> str:
    """Return the tool and its arguments as JSON."""
    if not call.arguments:
        return "The arguments were too long to record.\n"
    return json_text({"tool": call.tool, "arguments": call.parameters})


def timing_text(whole: "WholeCall", all_shown: "Summary") -> str:
    """Return when a call was made, how long it took and how much of its budget it used."""
    call = whole.call
    lines = [
        f"{'started':<12}{moment(call.started)}",
        f"{'client':<12}{call.client} {call.client_version}",
        *([f"{'server':<12}{call.server}"] if call.server else []),
        f"{'transport':<12}{call.transport}, process {call.process}",
        f"{'status':<12}{call.status}{f' ({call.note})' if call.note else ''}",
    ]
    if call.status != CallStatus.PENDING:
        percentiles = f"p50 {milliseconds(all_shown.p50_ms)}, p95 {milliseconds(all_shown.p95_ms)}"
        lines += [
            f"{'duration':<12}{milliseconds(call.ms)}",
            f"{'all shown':<12}{percentiles}",
            f"{'response':<12}{_response_size(call)}",
        ]
    if call.budget:
        filled = round(min(1.0, call.utilisation) * _BAR)
        bar = "█" * filled + "░" * (_BAR - filled)
        lines += ["", f"{'budget':<12}{bar} {call.utilisation:.0%} of {count_of(call.budget, 'token')}"]
    facts = whole.truncation
    if facts.get("reason"):
        lines += _missing_lines(facts, _UNITS.get(call.tool, "result"))
    return "\n".join(lines) + "\n"


def _missing_lines(facts: "Mapping[str, object]", unit: str) -> list[str]:
    """Return how much the budget left out of an answer, or that it was shortened, and how to get the rest."""
    count, returned = int(str(facts["original_count"])), int(str(facts["returned_count"]))
    label, amount = ("left out", f"{count - returned:,}") if returned < count else ("shortened", "some")
    return [f"{label:<12}{amount} of {count_of(count, unit)}", f"{'next':<12}{facts['next'] or 'none'}"]


def _response_size(call: Call) -> str:
    return f"{count_of(call.tokens, 'token')}, {count_of(call.response_bytes, 'byte')}"


def answer_text(whole: "WholeCall") -> str:
    """Return what an answer says: ours is text; those of other servers have blocks."""
    return answer_parts(whole.response).text if whole.call.server else whole.response


def answer_json(whole: "WholeCall") -> str:
    """Return an answer as JSON, as it is sent."""
    if whole.call.server:
        return json_text(answer_parts(whole.response).whole)
    is_error = whole.call.status == CallStatus.ERROR
    return json_text({"content": [{"type": "text", "text": whole.response}], "isError": is_error})


def replay_diff(before: str, after: str) -> tuple[str, str]:
    """Compare two answers line by line; return the diff and the difference in tokens."""
    here, there = estimate_tokens(before), estimate_tokens(after)
    lines = unified_diff(before.splitlines(), after.splitlines(), "then", "now", lineterm="", n=_CONTEXT)
    text = "\n".join(lines) or "The answers are identical."
    return f"{text}\n", f"{here:,} → {there:,} tokens ({there - here:+,})"


def search_of(call: Call) -> SearchState:
    """Return the search in Explore that is closest to a call of an agent."""
    given = call.parameters
    filters = [f"{word}:{given[name]}" for name, word in _FILTERS.items() if given.get(name) not in (None, "")]
    if given.get("include_tests") is False:
        filters.append("tests:no")
    offset = given.get("offset")
    offsets = (0, offset) if isinstance(offset, int) and offset > 0 else (0,)
    search = SearchState(" ".join([str(given.get("query", "")), *filters]), offsets=offsets)
    return search.with_limits(str(given.get("detail_level", "")), given.get("max_tokens") or call.budget)


def references_of(call: Call) -> TrailStep:
    """Return the references in the explorer that are closest to a call of an agent."""
    given = call.parameters
    line, relation = given.get("line"), given.get("relation")
    place = Place(str(given.get("path") or ""), line if isinstance(line, int) else 0)
    known = ReferenceRelation(str(relation)) if relation in list(ReferenceRelation) else ReferenceRelation.REFERENCES
    return TrailStep(place, known, symbol=str(given.get("symbol") or ""))


def is_same_request(search: SearchState, call: Call) -> bool:
    """Return whether a search in Explore is exactly the call, not only the closest search."""
    given = call.parameters
    try:
        has_all = all(given.get(name, default) == default for name, default in _NOT_IN_SEARCH_LINE.items())
        return has_all and search.request.query == given.get("query")
    except KeyholeError:
        return False


def has_more_than_references(call: Call) -> bool:
    """Return whether a call has arguments that the screen of references can't show."""
    return bool(call.parameters.keys() - _OF_REFERENCES)
