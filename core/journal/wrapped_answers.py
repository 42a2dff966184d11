"""The answers of wrapped servers in the journal: a result or error of JSON-RPC as JSON, and what models read of it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keyhole.core.journal.writer import masked_value

# A longer answer would fill the journal: what agents get of such an answer is only its beginning anyway.
LONGEST_ANSWER = 4_000_000
_BETWEEN_BLOCKS = "\n\n"


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """What the journal stores of a result or an error; `text` is what its text blocks say."""

    stored: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class AnswerParts:
    """The parts of a stored answer: its blocks as text, the structured content, if there is any, and all of it."""

    blocks: tuple[str, ...]
    structured: object
    whole: object
    is_error: bool = False

    @property
    def text(self) -> str:
        """All blocks."""
        return _BETWEEN_BLOCKS.join(self.blocks)


def recorded_answer(frame: Mapping[str, Any]) -> RecordedAnswer:
    """Return what to store of a response, with secrets masked and without pictures and sound."""
    is_error = "error" in frame
    facts = masked_value(_without_media(frame["error"] if is_error else frame.get("result")))
    stored = json.dumps({"error": facts} if is_error else facts, ensure_ascii=False, separators=(",", ":"))
    parts = answer_parts(stored)
    if len(stored) > LONGEST_ANSWER:
        stored = json.dumps({"keyhole": f"an answer of {len(stored):,} characters is too long to record"})
    return RecordedAnswer(stored, parts.text, parts.is_error)


def answer_parts(stored: str) -> AnswerParts:
    """Return the parts of a stored answer."""
    try:
        facts = json.loads(stored)
    except ValueError:
        return AnswerParts((stored,), None, stored)
    if not isinstance(facts, dict):
        return AnswerParts((_compact(facts),), None, facts)
    if isinstance(error := facts.get("error"), dict) and isinstance(error.get("message"), str):
        return AnswerParts((error["message"],), None, facts, is_error=True)
    texts = [text for block in _blocks(facts) if (text := _text(block))]
    has_blocks = "content" in facts or "contents" in facts
    return AnswerParts(
        blocks=tuple(texts) if has_blocks else (_compact(facts),),
        structured=facts.get("structuredContent"),
        whole=facts,
        is_error=facts.get("isError") is True,
    )


def _blocks(facts: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the blocks of a tool's answer, or the parts of a resource."""
    for name in ("content", "contents"):
        blocks = facts.get(name)
        yield from (block for block in (blocks if isinstance(blocks, list) else ()) if isinstance(block, dict))


def _text(block: Mapping[str, Any]) -> str:
    inside = block.get("resource")
    text = block.get("text", inside.get("text") if isinstance(inside, dict) else None)
    if isinstance(text, str):
        return text
    name = block.get("uri") or (inside.get("uri") if isinstance(inside, dict) else "") or block.get("mimeType") or ""
    return f"[{block.get('type', 'data')} {name}]".replace(" ]", "]")


def _without_media(value: object) -> object:
    """Return a value without the data of pictures, sound and files, which no client shows as text."""
    if isinstance(value, list):
        return [_without_media(item) for item in value]
    if not isinstance(value, dict):
        return value
    is_media = value.get("type") in ("image", "audio")
    return {
        key: f"[{len(item):,} characters of data]"
        if isinstance(item, str) and (key == "blob" or (key == "data" and is_media))
        else _without_media(item)
        for key, item in value.items()
    }


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
