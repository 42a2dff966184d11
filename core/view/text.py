"""Small facts about text, written the same way in every view."""

import json
import re

# What could move a cursor, ring a bell or hide text: C0 and C1 controls, and bidirectional overrides.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def count_lines(text: str) -> int:
    """Count lines; the last one needs no line feed."""
    return text.count("\n") + (not text.endswith("\n") and bool(text))


def count_of(number: int, noun: str) -> str:
    """Write a number with its noun in the singular or plural."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def human_size(size: int) -> str:
    """Write a number of bytes with the unit people would choose."""
    amount = float(size)
    for unit in ("B", "KB", "MB"):
        if amount < 1_000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1_000
    return f"{amount:.1f} GB"


def json_text(facts: object) -> str:
    """Write JSON that a terminal shows as it is: what could act on it is escaped, other letters are not."""
    text = json.dumps(facts, ensure_ascii=False, indent=2)
    return _CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def visible(text: str) -> str:
    r"""Show control characters as escapes such as `\x1b`, so that content cannot act on a terminal."""
    return _CONTROL.sub(lambda match: match.group().encode("unicode_escape").decode(), text)
