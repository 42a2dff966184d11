"""What a client's model sees of an answer: `--as`, the explorer's lens and `keyhole missed` show it.

`deliver` is a pure function, and equals what the client delivered in the client lab, byte for byte, except for
placeholders: FILE for the path of a file that the client writes, TIME for how long a call took, and, where the call is
not known, TOOL and ARGUMENTS for it in an error. Blocks of one result are shown below each other.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from keyhole.core.answer_rules import ANSWER, AnswerRule, Overflow, StructuredPlace, Unit
from keyhole.core.client_cuts import CUTS, characters, utf8_size
from keyhole.core.clients import Profile, profile_for
from keyhole.core.config import Settings
from keyhole.core.journal.reader import JournalReader
from keyhole.core.journal.wrapped_answers import answer_parts
from keyhole.core.types.calls import Call
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.budget.limits import CHARACTER_LIMIT, LARGEST
from keyhole.core.view.budget.tokens import estimate_tokens

_JSON = "{json}"
_LONGEST_ESCAPE = len("\\u0000")
# In place of the call that failed, where it is not known.
TOOL, ARGUMENTS = "TOOL", "ARGUMENTS"


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a client's model sees of an answer."""

    text: str
    overflow: Overflow | None = None
    tokens: int = 0
    note: str = ""
    # How many characters of the answer are left, if the client cuts it, and how many there were.
    seen: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call as a server sends it.

    Some clients repeat the call in an error: `arguments` is JSON without blanks.
    """

    blocks: tuple[str, ...]
    structured: object = None
    is_error: bool = False
    tool: str = TOOL
    arguments: str = ARGUMENTS


def deliver(
    answer: str, profile: Profile, *, declared_chars: int = CHARACTER_LIMIT, is_error: bool = False
) -> Delivery:
    """Return what a client delivers of an answer; `declared_chars` is the limit that our tools declare."""
    return deliver_result(ToolResult((answer,), is_error=is_error), profile, declared_chars=declared_chars)


def deliver_result(result: ToolResult, profile: Profile, *, declared_chars: int = CHARACTER_LIMIT) -> Delivery:
    """Return what a client delivers of a result; `declared_chars` is the limit that the tool declares."""
    parts, rule = delivered_parts(result, profile), _rule_for(result, profile)
    if rule is None:
        text = "\n".join(parts)
        return Delivery(text, tokens=estimate_tokens(text, profile.tokenizer))
    framed, limit = tuple(_framed(part, rule, result) for part in parts), rule.limit_for(declared_chars)
    if not is_over(framed, rule, limit):
        text = rule.header + "\n".join(framed)
        return Delivery(text, tokens=estimate_tokens(text, profile.tokenizer))
    cut = CUTS[rule.cut](framed, rule)
    text, size = rule.header + cut.text, sum(map(len, parts))
    seen = min(cut.seen, size)
    return Delivery(
        text=text,
        overflow=rule.overflow,
        tokens=estimate_tokens(text, profile.tokenizer),
        note=f"{profile.title} {rule.effect(limit)}: its model sees {seen:,} of {size:,} characters",
        seen=seen,
        size=size,
    )


def _rule_for(result: ToolResult, profile: Profile) -> AnswerRule | None:
    """Return the rule for a kind of result, or for all if there is none of its own."""
    own = None
    if result.is_error:
        own = profile.error
    elif result.structured is not None:
        own = profile.structured
    elif len(result.blocks) > 1:
        own = profile.blocks
    return own or profile.answer


def delivered_parts(result: ToolResult, profile: Profile) -> list[str]:
    """Return the blocks that a client makes of a result: one, unless it keeps them apart."""
    blocks, place = list(result.blocks), profile.structured_content
    # Clients that show both leave the structured content out if the text is the same.
    content = None if result.structured is None else _compact(result.structured)
    if content is not None and blocks != [content]:
        if place == StructuredPlace.REPLACES:
            blocks = [content]
        elif place == StructuredPlace.BEFORE:
            blocks = [content, *blocks]
        elif place == StructuredPlace.AFTER:
            return [f"{(profile.between_blocks or '').join(blocks)}\n\n{content}"]
    return blocks if profile.between_blocks is None else [profile.between_blocks.join(blocks)]


def cut_by_client(call: Call, reader: JournalReader, settings: Settings) -> bool:
    """Return whether the client of a call did not deliver its answer whole; the answer is read only if it may be so."""
    profile, is_error = profile_for(call.client, settings), call.status == CallStatus.ERROR
    rule = profile.error if is_error and profile.error else profile.answer
    if rule is None or _surely_fits(call.response_bytes, len(call.arguments), rule):
        return False
    whole = reader.whole(call.id)
    # Of other servers' tools, few declare a limit.
    declared = 0 if call.server else CHARACTER_LIMIT
    return whole is not None and is_cut(recorded_result(call, whole.response), profile, declared_chars=declared)


def is_cut(result: ToolResult, profile: Profile, *, declared_chars: int) -> bool:
    """Return whether a client does not deliver a result whole."""
    rule = _rule_for(result, profile)
    if rule is None:
        return False
    framed = [_framed(part, rule, result) for part in delivered_parts(result, profile)]
    return is_over(framed, rule, rule.limit_for(declared_chars))


def recorded_result(call: Call, response: str) -> ToolResult:
    """Return the result of a call in the journal."""
    is_error = call.status == CallStatus.ERROR
    # The journal stores arguments in ASCII with blanks; clients write them as JavaScript does.
    arguments = _compact(call.parameters)
    if not call.server:
        return ToolResult((response,), is_error=is_error, tool=call.tool, arguments=arguments)
    parts = answer_parts(response)
    return ToolResult(parts.blocks, parts.structured, is_error, call.tool, arguments)


def _surely_fits(answer_bytes: int, call_bytes: int, rule: AnswerRule) -> bool:
    """Return whether an answer can't be over a limit: a character takes at least a byte, and so does a line."""
    # In a frame of JSON, the answer is written with escapes, and more than once in some.
    most = answer_bytes * max(1, rule.frame.count(_JSON) * _LONGEST_ESCAPE) + len(rule.frame) + call_bytes
    return most <= min(rule.limit, rule.limit_for(CHARACTER_LIMIT), rule.lines or LARGEST)


def is_over(framed: Sequence[str], rule: AnswerRule, limit: int) -> bool:
    """Return whether a client cuts the blocks of an answer, each in its frame."""
    if not limit:
        return False
    sizes = [utf8_size(part) if rule.unit == Unit.BYTES else characters(part) for part in framed]
    size = sum(-(-size // rule.rounded_to) * rule.rounded_to for size in sizes)
    return size > limit or bool(rule.lines and "\n".join(framed).count("\n") >= rule.lines)


def _framed(answer: str, rule: AnswerRule, result: ToolResult) -> str:
    answer = answer.strip() if rule.strips else answer
    answer = _compact_json(answer) if rule.compacts_json else answer
    frame = rule.frame.replace(TOOL, result.tool).replace(ARGUMENTS, result.arguments)
    if _JSON in frame:
        return frame.replace(_JSON, json.dumps(answer, ensure_ascii=False)[1:-1])
    return frame.replace(ANSWER, answer)


def _compact_json(answer: str) -> str:
    """Write JSON without blanks; what is not JSON stays as it is."""
    try:
        facts = json.loads(answer)
    except (ValueError, RecursionError):
        return answer
    return _compact(facts)


def _compact(facts: object) -> str:
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
