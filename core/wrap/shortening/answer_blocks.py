"""The content blocks of an answer: their text, if they have one, and what they cost."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

Block = dict[str, Any]
BETWEEN_BLOCKS = "\n\n"
# In the `_meta` of a page of a shortened answer.
PAGE = "keyhole/page"
_MEDIA = ("image", "audio")


def text_block(text: str) -> Block:
    """Return a block of text."""
    return {"type": "text", "text": text}


def is_media(block: Mapping[str, Any]) -> bool:
    """Return whether a block is an image or sound, which no client shows as text."""
    return block.get("type") in _MEDIA


def own_text(block: Mapping[str, Any]) -> str | None:
    """Return the text of a block of text or of an embedded resource; None if it has none."""
    holder = block.get("resource") if block.get("type") == "resource" else block
    text = holder.get("text") if isinstance(holder, dict) else None
    return text if isinstance(text, str) and block.get("type") in ("text", "resource") else None


def with_text(block: Block, text: str) -> Block:
    """Return the block with another text."""
    if block["type"] == "resource":
        return {**block, "resource": {**block["resource"], "text": text}}
    return {**block, "text": text}


def shown_text(block: Mapping[str, Any]) -> str:
    """Return what a model may read of a block: its text, or all of it as JSON, but not the data of media."""
    if is_media(block):
        return ""
    if block.get("type") == "text":
        return own_text(block) or ""
    return compact_json(block)


def count_media(blocks: Iterable[Mapping[str, Any]]) -> int:
    """Return how many blocks are images or sound."""
    return sum(is_media(block) for block in blocks)


def media_label(block: Mapping[str, Any]) -> str:
    """Return what a note says in place of an image or of sound."""
    return f"[{block.get('type')} {block.get('mimeType', '')}: larger than the budget]"


def compact_json(value: object) -> str:
    """Return JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
