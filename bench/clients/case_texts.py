"""The answers that the lab's clients get: each is made from a few parameters, so that it never has to be stored."""

import json
import zipfile
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

# Real answers of Keyhole, as text and as JSON; `lab.py --answers` makes them.
ANSWERS = Path(__file__).parents[2] / "tests" / "fixtures" / "clients" / "answers.zip"
SHAPES = ("lines", "short lines", "one line", "wide", "escapes")
STRUCTURED = ("structured", "structured_twice", "structured_declared")
# The text beside structured content, unless it is the same.
SHORT_TEXT = "short text"
_WIDE = "größe 漢字 🙂 naïve "
_ESCAPES = "say(\"a\\tb\");\t<b> & 'c' </b>\n"


@dataclass(frozen=True, slots=True)
class Case:
    """An answer of `size` characters; `tool` is the probe's tool that gives it, and so the kind of the answer.

    `shape` is one of SHAPES or the name of a real answer; a real answer has its own length if `size` is 0.
    """

    tool: str
    shape: str
    size: int

    def parameters(self) -> dict[str, object]:
        """Return what a model passes to the tool."""
        return {"shape": self.shape, "size": self.size}

    def as_facts(self) -> dict[str, object]:
        """Return the case for a fixture."""
        return asdict(self)


@cache
def real_answers() -> dict[str, str]:
    """Return the real answers by name."""
    with zipfile.ZipFile(ANSWERS) as packed:
        return {name: packed.read(name).decode() for name in packed.namelist()}


def text_of(shape: str, size: int) -> str:
    """Return a text of exactly `size` characters."""
    if shape not in SHAPES:
        answer = real_answers()[shape]
        return _cycled(answer, size) if size else answer
    if shape == "lines":
        # Every line has its number, so that what is missing can be told from what is left.
        return "".join(f"{number:06d} the quick brown fox jumps over\n" for number in range(size // 37 + 1))[:size]
    if shape == "short lines":
        return "".join(f"{number % 10}\n" for number in range(size // 2 + 1))[:size]
    if shape == "one line":
        return "".join(f"{number:06d}," for number in range(size // 7 + 1))[:size]
    return _cycled(_WIDE if shape == "wide" else _ESCAPES, size)


def result_of(tool: str, shape: str, size: int) -> dict[str, Any]:
    """Return the result of a tool of the probe server."""
    text = text_of(shape, size)
    if tool == "two_blocks":
        half = len(text) // 2
        return {"content": [_block(text[:half]), _block(text[half:])]}
    if tool in STRUCTURED:
        facts = structured_facts(text)
        # Many servers send the same as text, for clients that ignore structured content.
        shown = compact_json(facts) if tool == "structured_twice" else SHORT_TEXT
        return {"content": [_block(shown)], "structuredContent": facts}
    return {"content": [_block(text)], **({"isError": True} if tool == "error" else {})}


def structured_facts(text: str) -> dict[str, object]:
    """Return structured content around a text; the order of its keys tells whether a client sorts them."""
    return {"result": text, "count": 3, "ratio": 1.5, "also": [None, True, {"é": []}]}


def is_whole(case: Case, delivered: str) -> bool:
    """Return whether a client delivered everything that a case holds, as it is or as JSON; blanks around it may go."""
    text = text_of(case.shape, case.size).strip()
    half = case.size // 2
    parts = (text[:half], text[half:]) if case.tool == "two_blocks" else (text,)
    return all(part in delivered or json.dumps(part, ensure_ascii=False)[1:-1] in delivered for part in parts)


def compact_json(value: object) -> str:
    """Return JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _cycled(text: str, size: int) -> str:
    return (text * (size // len(text) + 1))[:size]
