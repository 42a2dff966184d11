"""How each client cuts an answer that is over its limit: one function for each way, with the figures of its rule.

All of it was measured: docs/clients.md says how, and tests/test_client_lab.py compares each way with what the clients
really delivered. Clients written in JavaScript count UTF-16 units as characters, and may cut a pair in two.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from keyhole.core.answer_rules import AnswerRule

# A placeholder for what only the client knows: the path of a file that it writes.
FILE = "FILE"
_KB = 1_024
_BYTES_PER_TOKEN = 4


# Writes the text in place of the bytes that are lost.
_Marker = Callable[[bytes], str]


@dataclass(frozen=True, slots=True)
class ClientCut:
    """What a client makes of an answer, and how many of its characters are left."""

    text: str
    seen: int


def characters(text: str) -> int:
    """Return the length of a text as JavaScript counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _first(text: str, count: int) -> str:
    return text[:count] if text.isascii() else _utf16(text)[: 2 * count].decode("utf-16-le", "surrogatepass")


def _last(text: str, count: int) -> str:
    # In JavaScript as in Python, the last 0 of something is all of it.
    return text[-count:] if text.isascii() else _utf16(text)[-2 * count :].decode("utf-16-le", "surrogatepass")


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def utf8_size(text: str) -> int:
    """Return the length of a text in bytes."""
    return len(text) if text.isascii() else len(_bytes(text))


def _filled(message: str, **values: object) -> str:
    # Texts are filled in last, because they may contain what looks like a field.
    for name in sorted(values, key=lambda name: name in ("preview", "head", "tail")):
        before, field, after = message.partition(f"{{{name}}}")
        message = f"{before}{values[name]}{after}" if field else message
    return message


def claude_file(parts: Sequence[str], rule: AnswerRule) -> ClientCut:
    """Claude Code: a file with the blocks as JSON, and the beginning of that file."""
    stored = json.dumps([{"type": "text", "text": part} for part in parts], indent=2, ensure_ascii=False)
    cut = claude_text_file([stored], rule)
    return ClientCut(cut.text, _unescaped(_first(stored, rule.kept)))


def claude_text_file(parts: Sequence[str], rule: AnswerRule) -> ClientCut:
    """Claude Code, structured content: a file with the text, and its beginning."""
    stored = "\n".join(parts)
    preview = _first(stored, rule.kept)
    kilobytes = f"{characters(stored) / _KB:.1f}".removesuffix(".0")
    return ClientCut(_filled(rule.message, size=f"{kilobytes}KB", file=FILE, preview=preview), len(preview))


def _unescaped(preview: str) -> int:
    """Return how many characters of the answer a preview of its JSON shows."""
    text = preview.partition('"text": "')[2]
    return len(text) - sum(text.count(escape) for escape in ("\\n", "\\t", '\\"', "\\\\"))


def plain_file(parts: Sequence[str], rule: AnswerRule) -> ClientCut:
    """Copilot CLI and VS Code: a file with the answer, and its first characters, if any."""
    answer = "\n".join(parts)
    size = len(_bytes(answer)) / _KB
    values = {"size": f"{size:.1f} KB", "kilobytes": round(characters(answer) / _KB), "file": FILE}
    # Half of a pair is sent as the replacement character.
    preview = _first(answer, rule.kept).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return ClientCut(_filled(rule.message, **values, preview=preview), len(preview))


def qwen_file(parts: Sequence[str], rule: AnswerRule) -> ClientCut:
    """Qwen Code: a file with the answer, its checksum, and its first lines."""
    answer = "\n".join(parts)
    preview = _first(answer, rule.kept)
    if "\n" in preview[1:]:
        preview = preview[: preview.rindex("\n")]
    shown = preview + "\n..."
    for tag in ("persisted-output", "system-reminder"):
        shown = shown.replace(f"<{tag}>", f"&lt;{tag}&gt;").replace(f"</{tag}>", f"&lt;/{tag}&gt;")
    kilobytes = int(len(_bytes(answer)) / _KB + 0.5)
    digest = hashlib.sha256(_bytes(answer)).hexdigest()
    return ClientCut(
        _filled(rule.message, size=f"{kilobytes} KB", file=FILE, sha256=digest, preview=shown), len(preview)
    )


def both_ends(parts: Sequence[str], rule: AnswerRule) -> ClientCut:
    """Gemini CLI, and errors in Claude Code: the beginning and the end, in characters."""
    answer = "\n".join(parts)
    tail_size = rule.kept - rule.kept_first
    head, tail = _first(answer, rule.kept_first), _last(answer, tail_size)
    lost = characters(answer) - rule.kept
    values = {"head": head, "tail": tail, "lost": lost, "lost_text": f"{lost:,}", "file": FILE}
    return ClientCut(_filled(rule.message, **values), len(head) + len(tail))


def codex_middle(parts: Sequence[str], rule: AnswerRule) -> ClientCut:
    """Codex: the middle is removed, twice; the second time takes the marker of the first with it.

    So the number in the marker is the size of the first marker, not of what is lost.
    """
    return _cut_twice(parts, rule, lambda lost: _tokens_marker(len(lost)), _BYTES_PER_TOKEN)


def codex_middle_by_bytes(parts: Sequence[str], rule: AnswerRule) -> ClientCut:
    """Codex with a model that it does not know: at first it counts bytes, and the marker has characters."""
    return _cut_twice(parts, rule, lambda lost: f"…{len(lost.decode('utf-8', 'ignore'))} chars truncated…", 1)


def _cut_twice(parts: Sequence[str], rule: AnswerRule, marker: _Marker, first_unit: int) -> ClientCut:
    once = _fitted_blocks([_bytes(part) for part in parts], rule.kept, first_unit, marker, rule)
    twice = _fitted_blocks(once, rule.limit, _BYTES_PER_TOKEN, lambda lost: _tokens_marker(len(lost)), rule)
    text = b"\n".join(twice).decode("utf-8", "surrogatepass")
    return ClientCut(text, len(text) - len(_tokens_marker(1)))


def _fitted_blocks(blocks: list[bytes], room: int, unit: int, marker: _Marker, rule: AnswerRule) -> list[bytes]:
    """Cut the block that is over the room, and leave out the blocks after it."""
    fitted: list[bytes] = []
    left_out = 0
    for block in blocks:
        size = -(-len(block) // unit) * unit
        if room <= 0:
            left_out += 1
        elif size <= room:
            fitted.append(block)
        else:
            fitted.append(_without_middle(block, room, rule.kept_first or room // 2, marker))
        room -= size
    return [*fitted, *([f"[omitted {left_out} text items ...]".encode()] if left_out else [])]


def _without_middle(text: bytes, most: int, first: int, marker: _Marker) -> bytes:
    start, end = first, len(text) - (most - first)
    # A character that is split at the limit is lost.
    head, tail = text[:start].decode("utf-8", "ignore").encode(), text[end:].decode("utf-8", "ignore").encode()
    return head + marker(text[start:end]).encode() + tail


def _tokens_marker(lost_bytes: int) -> str:
    return f"…{-(-lost_bytes // _BYTES_PER_TOKEN)} tokens truncated…"


def first_lines(parts: Sequence[str], rule: AnswerRule) -> ClientCut:
    """Opencode: the first lines that fit, a file and a hint; a first line that is too long is not shown at all."""
    answer = "\n".join(parts)
    lines = answer.split("\n")
    most_lines = rule.lines or len(lines)
    kept: list[str] = []
    size = 0
    for line in lines[:most_lines]:
        size += len(_bytes(line)) + bool(kept)
        if size > rule.limit:
            break
        kept.append(line)
    is_by_bytes = size > rule.limit
    head = "\n".join(kept)
    lost = f"{len(_bytes(answer)) - len(_bytes(head))} bytes" if is_by_bytes else f"{len(lines) - len(kept)} lines"
    return ClientCut(_filled(rule.message, lost=lost, file=FILE, head=head), len(head))


CUTS: Mapping[str, Callable[[Sequence[str], AnswerRule], ClientCut]] = {
    "both ends": both_ends,
    "claude file": claude_file,
    "claude text file": claude_text_file,
    "codex middle": codex_middle,
    "codex middle by bytes": codex_middle_by_bytes,
    "first lines": first_lines,
    "plain file": plain_file,
    "qwen file": qwen_file,
}
