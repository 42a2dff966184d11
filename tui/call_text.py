"""A call of an agent in words: what it asked, how long that took, and what another answer would change."""

from difflib import unified_diff
from typing import TYPE_CHECKING

from keyhole.core.errors import KeyholeError
from keyhole.core.types import Call, CallStatus
from keyhole.core.view.budget.tokens import estimate_tokens
from keyhole.core.view.stats_text import milliseconds, moment
from keyhole.core.view.text import count_of, json_text
from keyhole.tui.search_state import SearchState

if TYPE_CHECKING:
    from keyhole.core.journal.reader import WholeCall
    from keyhole.tui.call_log import Summary

_BAR = 15
_CONTEXT = 2
_FILTERS = {"language": "lang", "path": "path", "kind": "kind", "mode": "mode", "limit": "limit"}


def arguments_document(call: Call) -> str:
    """Write what was asked as JSON, as it would be written into a call."""
    if not call.arguments:
        return "The arguments were too long to keep.\n"
    return json_text({"tool": call.tool, "arguments": call.parameters})


def timing_text(whole: "WholeCall", all_shown: "Summary") -> str:
    """Tell when a call was made, how long it took and what it used of its budget."""
    call = whole.call
    lines = [
        f"{'started':<12}{moment(call.started)}",
        f"{'client':<12}{call.client} {call.client_version}",
        f"{'over':<12}{call.transport}, process {call.process}",
        f"{'status':<12}{call.status}{f' ({call.note})' if call.note else ''}",
    ]
    if call.status != CallStatus.PENDING:
        among = f"p50 {milliseconds(all_shown.p50_ms)}, p95 {milliseconds(all_shown.p95_ms)}"
        lines += [
            f"{'took':<12}{milliseconds(call.ms)}",
            f"{'of the list':<12}{among}",
            f"{'sent':<12}{_sent(call)}",
        ]
    if call.budget:
        filled = round(min(1.0, call.utilisation) * _BAR)
        bar = "█" * filled + "░" * (_BAR - filled)
        lines += ["", f"{'budget':<12}{bar} {call.utilisation:.0%} of {count_of(call.budget, 'token')}"]
    facts = whole.truncation
    if facts.get("reason"):
        lines.append(f"{'cut':<12}{facts['returned_count']} of {facts['original_count']} results")
        lines.append(f"{'':<12}{facts['next']}")
    return "\n".join(lines) + "\n"


def _sent(call: Call) -> str:
    return f"{count_of(call.tokens, 'token')}, {count_of(call.response_bytes, 'byte')}"


def replay_diff(before: str, after: str) -> tuple[str, str]:
    """Compare two answers line by line; return that and what it means in tokens."""
    here, there = estimate_tokens(before), estimate_tokens(after)
    lines = unified_diff(before.splitlines(), after.splitlines(), "then", "now", lineterm="", n=_CONTEXT)
    text = "\n".join(lines) or "Both answers are the same, byte for byte."
    return f"{text}\n", f"{here:,} → {there:,} tokens ({there - here:+,})"


def search_of(call: Call) -> SearchState:
    """Ask the same in the search line of Explore, as near as can be."""
    given = call.parameters
    filters = [f"{word}:{given[name]}" for name, word in _FILTERS.items() if given.get(name) not in (None, "")]
    if given.get("include_tests") is False:
        filters.append("tests:no")
    offset = given.get("offset")
    offsets = (0, offset) if isinstance(offset, int) and offset > 0 else (0,)
    search = SearchState(" ".join([str(given.get("query", "")), *filters]), offsets=offsets)
    return search.with_limits(str(given.get("detail_level", "")), given.get("max_tokens") or call.budget)


def is_same_request(search: SearchState, call: Call) -> bool:
    """Tell whether the search line asks for what the agent asked for, or only for what comes nearest."""
    given = call.parameters
    try:
        return search.request.query == given.get("query") and not given.get("cursor")
    except KeyholeError:
        return False
