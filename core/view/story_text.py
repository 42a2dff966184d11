"""A conversation of an agent as text: its calls in order, what follows what, and what was wasted."""

from collections import Counter

from keyhole.core.journal.local_time import local_time
from keyhole.core.journal.reader import status_now
from keyhole.core.journal.story import Conversation, Step, Waste
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.asked_text import asked_text, short_tool
from keyhole.core.view.text import count_of, name_text, shorten

# Readable without colour.
SIGNS = {Waste.REPEATED: "↻", Waste.ALREADY_READ: "≡", Waste.NOT_FOLLOWED: "⊘"}
# The lines before the first call.
STORY_HEAD = 3
_DEEPEST = 6
_LONGEST_ASKED, _LONGEST_PROBLEM = 120, 200
# An error has its message, and other pages are for the agent to decide.
_QUIET = (CallStatus.COMPLETE, CallStatus.MORE_PAGES, CallStatus.PARTIAL, CallStatus.ERROR)


def story_text(told: Conversation, current: int = 0) -> str:
    """Return a conversation as text, one line per call, with a mark at the current one."""
    first = told.steps[0].call
    lines = [
        f"{name_text(told.client)} {name_text(first.client_version)}, {first.transport}: {_duration(told)}",
        f"{count_of(told.tokens, 'token')} in {count_of(len(told.steps), 'call')}{_wasted_part(told)}",
        "",
        *(_line(step, is_current=step.call.id == current) for step in told.steps),
    ]
    return "\n".join(lines) + "\n"


def _duration(told: Conversation) -> str:
    first, last = local_time(told.first), local_time(told.last)
    return f"{first} to {last[11:] if last[:10] == first[:10] else last}"


def waste_text(step: Step) -> str:
    """Return why a call was wasted, with the earlier call."""
    if step.waste is None:
        return ""
    earlier = {
        Waste.REPEATED: f", as #{step.same_as}",
        Waste.ALREADY_READ: f" in #{step.same_as}",
    }.get(step.waste, "")
    return f"{SIGNS[step.waste]} {step.waste}{earlier}"


def _wasted_part(told: Conversation) -> str:
    if not told.wasted:
        return ""
    kinds = Counter(step.waste for step in told.wasted)
    named = ", ".join(f"{kinds[waste]:,} {waste}" for waste in Waste if kinds[waste])
    return f"; wasted {told.wasted_tokens:,} ({named})"


def _line(step: Step, *, is_current: bool) -> str:
    call = step.call
    indent = f"{'  ' * (min(step.depth, _DEEPEST) - 1)}→ " if step.depth else ""
    status = status_now(call)
    notes = [
        waste_text(step),
        f"✗ {shorten(call.problem, _LONGEST_PROBLEM)}" if status == CallStatus.ERROR else "",
        "" if status in _QUIET else f"({status})",
    ]
    asked = f"{indent}{short_tool(call.tool)} {asked_text(call, _LONGEST_ASKED)}"
    shown = "  ".join(part for part in (asked.rstrip(), *notes) if part)
    return f"{'▸' if is_current else ' '} #{call.id:<5} {call.tokens:>6,}  {shown}"
