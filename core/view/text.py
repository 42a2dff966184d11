"""Small facts about text, written the same way in every view."""

import json
import re

# What could move a cursor, ring a bell or hide text: C0 and C1 controls, and bidirectional overrides.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_PLAIN = bytes([*b"\t\n", *range(0x20, 0x7F)])
_LONGEST_NAME = 200
# `json.dumps` makes such an encoder for each call.
_ENCODER = json.JSONEncoder(ensure_ascii=False)


def count_lines(text: str) -> int:
    """Count lines; the last one needs no line feed."""
    # Looking for one is ten times as fast as counting, which matters to a line of megabytes.
    first = text.find("\n")
    if first < 0:
        return int(bool(text))
    return text.count("\n", first) + (not text.endswith("\n"))


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
    return _escaped(json.dumps(facts, ensure_ascii=False, indent=2))


def json_line(facts: object) -> str:
    """Write the same on one line."""
    return _escaped(_ENCODER.encode(facts))


def _escaped(text: str) -> str:
    return text if _is_plain(text) else _CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def visible(text: str) -> str:
    r"""Show control characters as escapes such as `\x1b`, so that content cannot act on a terminal."""
    if _is_plain(text):
        return text
    return _CONTROL.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def _is_plain(text: str) -> bool:
    """Tell that a text has no control characters, as nearly all have none: five times as fast as looking for them."""
    return text.isascii() and not text.encode().translate(None, _PLAIN)


def one_line(text: str) -> str:
    r"""Show a text on one line: line ends and tabs as `\n` and `\t`."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def name_text(text: str, longest: int = _LONGEST_NAME) -> str:
    """Show a path or a name on one line, shortened in the middle when it is very long."""
    return middle_cut(one_line(text), longest)


def middle_cut(text: str, longest: int = _LONGEST_NAME) -> str:
    """Shorten a text in the middle when it is very long; JSON escapes what a line of text has to show."""
    if len(text) <= longest:
        return text
    start = longest // 2
    return f"{text[:start]}…{text[start + 1 - longest :]}"


def declared_name(signature: str, name: str) -> str:
    """Cut a signature off after the name it declares: the name as a word, not as a part of one."""
    start = signature.find(name) if name else -1
    while start >= 0:
        end = start + len(name)
        around = (signature[start - 1 : start] if name[0].isalnum() else "") + signature[end : end + 1]
        if not any(character.isalnum() or character == "_" for character in around):
            return signature[:end]
        start = signature.find(name, start + 1)
    return signature


def shorten(text: str, longest: int) -> str:
    """Show a text on one line, shortened at a word."""
    shown = one_line(" ".join(text.split()))
    if len(shown) <= longest:
        return shown
    cut = shown[: longest - 1].rpartition(" ")[0] or shown[: longest - 1]
    return f"{cut.rstrip(' ,;:.')}…"


def source_text(text: str) -> str:
    """Show source as it is written, with control characters visible; the line ends of DOS count as line ends."""
    shown = visible(text.replace("\r\n", "\n"))
    return shown if shown.endswith("\n") or not shown else f"{shown}\n"
