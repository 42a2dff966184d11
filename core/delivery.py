"""What a client's model sees of an answer: `--as`, the explorer's lens and `keyhole missed` show it.

`deliver` is a pure function, and equals what the client delivered in the client lab, byte for byte, except for
placeholders: FILE for the path of a file that the client writes, TIME for how long a call took, and TOOL and
ARGUMENTS for the call that failed. Blocks of one result are shown below each other.
"""

import json
from dataclasses import dataclass

from keyhole.core.client_cuts import CUTS, characters
from keyhole.core.clients import ANSWER, AnswerRule, Overflow, Profile, Unit, profile_for
from keyhole.core.journal.reader import JournalReader
from keyhole.core.types.calls import Call
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.budget.limits import CHARACTER_LIMIT, LARGEST
from keyhole.core.view.budget.tokens import estimate_tokens

_JSON = "{json}"


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a client's model sees of an answer."""

    text: str
    overflow: Overflow | None = None
    tokens: int = 0
    note: str = ""


def deliver(
    answer: str, profile: Profile, *, declared_chars: int = CHARACTER_LIMIT, is_error: bool = False
) -> Delivery:
    """Return what a client delivers of an answer; `declared_chars` is the limit that our tools declare."""
    rule = profile.error if is_error and profile.error else profile.answer
    if rule is None:
        return Delivery(answer, tokens=estimate_tokens(answer, profile.tokenizer))
    framed, limit = in_frame(answer, rule), rule.limit_for(declared_chars)
    if not is_over(framed, rule, limit):
        text = rule.header + framed
        return Delivery(text, tokens=estimate_tokens(text, profile.tokenizer))
    cut = CUTS[rule.cut](framed, rule)
    text = rule.header + cut.text
    seen = min(cut.seen, len(answer))
    return Delivery(
        text=text,
        overflow=rule.overflow,
        tokens=estimate_tokens(text, profile.tokenizer),
        note=f"{profile.title} {rule.effect(limit)}: its model sees {seen:,} of {len(answer):,} characters",
    )


def cut_by_client(call: Call, reader: JournalReader) -> bool:
    """Return whether the client of a call did not deliver its answer whole; the answer is read only if it may be so."""
    profile, is_error = profile_for(call.client), call.status == CallStatus.ERROR
    rule = profile.error if is_error and profile.error else profile.answer
    # A character takes at least a byte, and so does a line.
    if rule is None or call.response_bytes <= min(rule.limit_for(CHARACTER_LIMIT), rule.lines or LARGEST) - len(
        rule.frame
    ):
        return False
    whole = reader.whole(call.id)
    return whole is not None and deliver(whole.response, profile, is_error=is_error).overflow is not None


def is_over(framed: str, rule: AnswerRule, limit: int) -> bool:
    """Return whether a client cuts an answer, in its frame."""
    if not limit:
        return False
    size = len(framed.encode("utf-8", "surrogatepass")) if rule.unit == Unit.BYTES else characters(framed)
    return size > limit or bool(rule.lines and framed.count("\n") >= rule.lines)


def in_frame(answer: str, rule: AnswerRule) -> str:
    """Return an answer as a client measures it."""
    answer = answer.strip() if rule.strips else answer
    answer = _compact_json(answer) if rule.compacts_json else answer
    if _JSON in rule.frame:
        return rule.frame.replace(_JSON, json.dumps(answer, ensure_ascii=False)[1:-1])
    return rule.frame.replace(ANSWER, answer)


def _compact_json(answer: str) -> str:
    """Write JSON without blanks; what is not JSON stays as it is."""
    try:
        facts = json.loads(answer)
    except (ValueError, RecursionError):
        return answer
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
