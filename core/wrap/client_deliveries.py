"""What each client delivers of an answer, as text: a table of all clients, and one of them with what is lost marked."""

import json
from collections.abc import Callable

from keyhole.core.answer_rules import StructuredPlace
from keyhole.core.clients import RAW, Profile, profiles
from keyhole.core.delivery import Delivery, ToolResult, deliver_result, delivered_parts
from keyhole.core.view.text import count_of, name_text

LOST = "✗ "
_SHOWN = "▸ "
_PLACES = {
    StructuredPlace.REPLACES: "shows the structured content instead of the text",
    StructuredPlace.IGNORED: "does not show the structured content",
}


def deliveries_text(result: ToolResult, declared_chars: int, chosen: Profile) -> str:
    """Return the table, then what the chosen client's model gets, and the lines that it never sees."""
    seen = {
        profile.id: deliver_result(result, profile, declared_chars=declared_chars) for profile in profiles().values()
    }
    lines = [f"  {'client':<18}{'sees':>8}{'lost':>6}{'tokens':>8}"]
    lines += [_row(profiles()[name], delivery, is_chosen=name == chosen.id) for name, delivery in seen.items()]
    delivery = seen[chosen.id]
    lost = lost_lines("\n".join(delivered_parts(result, chosen)), delivery)
    lines += ["", _about(chosen, delivery, result), ""]
    lines += [f"── {chosen.title}: what its model gets ──", delivery.text.rstrip("\n"), ""]
    if lost:
        lines += [f"── lost: {count_of(len(lost), 'line')}, whole or in part ──", *(LOST + line for line in lost)]
    else:
        lines.append("── nothing is lost ──")
    return "\n".join(lines) + "\n"


def default_client(result: ToolResult, declared_chars: int, own: Profile) -> Profile:
    """Return the client to show first: the one that made the call, or one that cuts the answer if it is not known."""
    if own.id != RAW:
        return own
    cutting = (each for each in profiles().values() if _cuts(result, declared_chars, each))
    return next(cutting, own)


def lost_lines(answer: str, delivery: Delivery) -> list[str]:
    """Return the lines of an answer that a client cuts: between what it keeps of the beginning and of the end."""
    if delivery.overflow is None:
        return []
    head = _longest(len(answer), lambda size: _is_in(answer[:size], delivery.text))
    tail = _longest(len(answer) - head, lambda size: _is_in(answer[len(answer) - size :], delivery.text))
    start = answer.rfind("\n", 0, head) + 1
    end = len(answer) - tail
    line_end = answer.find("\n", end)
    return answer[start : line_end if line_end >= 0 else len(answer)].splitlines()


def _is_in(part: str, delivered: str) -> bool:
    """Return whether a part is delivered, as it is or in JSON: some clients show the beginning of a file of JSON."""
    return part in delivered or json.dumps(part, ensure_ascii=False)[1:-1] in delivered


def _longest(most: int, is_kept: Callable[[int], bool]) -> int:
    """Return the largest size that is kept; all smaller ones are kept too."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if is_kept(middle) else (low, middle - 1)
    return low


def _cuts(result: ToolResult, declared_chars: int, profile: Profile) -> bool:
    return deliver_result(result, profile, declared_chars=declared_chars).overflow is not None


def _row(profile: Profile, delivery: Delivery, *, is_chosen: bool) -> str:
    """Return a line for a client: what its model sees, and what is lost; few columns, because a pane may be narrow."""
    seen, lost = "all", "-"
    if delivery.overflow:
        seen, lost = f"{delivery.seen:,}", f"{1 - delivery.seen / (delivery.size or 1):.0%}"
    elif profile.answer is None and profile.id != RAW:
        # No limit is known, which does not mean that there is none.
        lost = "?"
    return f"{_SHOWN if is_chosen else '  '}{name_text(profile.title, 17):<18}{seen:>8}{lost:>6}{delivery.tokens:>8,}"


def _about(profile: Profile, delivery: Delivery, result: ToolResult) -> str:
    """Return what a client does with the answer."""
    told = delivery.note if delivery.overflow else f"{profile.title} delivers the answer whole"
    place = _PLACES.get(profile.structured_content, "") if result.structured is not None and profile.id != RAW else ""
    return "; ".join(filter(None, [told, place]))
