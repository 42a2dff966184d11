"""Numbers, names and source as text, written the same way in every view."""

import json
import re

# Characters that could move a cursor, ring a bell or hide text: C0 and C1 controls, and bidirectional overrides.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_PLAIN = bytes([*b"\t\n", *range(0x20, 0x7F)])
_LONGEST_NAME = 200
# `json.dumps` would create a new encoder for each call.
_ENCODER = json.JSONEncoder(ensure_ascii=False)


def count_lines(text: str) -> int:
    """Return the number of lines; the last one needs no line feed."""
    # Finding one is ten times as fast as counting, which matters for a line of megabytes.
    first = text.find("\n")
    if first < 0:
        return int(bool(text))
    return text.count("\n", first) + (not text.endswith("\n"))


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun, singular or plural."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def human_size(size: int) -> str:
    """Return a number of bytes in a readable unit."""
    amount = float(size)
    for unit in ("B", "KB", "MB"):
        if amount < 1_000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1_000
    return f"{amount:.1f} GB"


def json_text(facts: object) -> str:
    """Return JSON that is safe for a terminal: control characters are escaped, letters are not."""
    return _escaped(json.dumps(facts, ensure_ascii=False, indent=2))


def json_line(facts: object) -> str:
    """Return the same on one line."""
    return _escaped(_ENCODER.encode(facts))


def _escaped(text: str) -> str:
    return text if _is_plain(text) else _CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def visible(text: str) -> str:
    r"""Show control characters as escapes such as `\x1b`, so that content cannot act on a terminal."""
    if _is_plain(text):
        return text
    return _CONTROL.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def _is_plain(text: str) -> bool:
    """Return whether a text has no control characters: five times as fast as searching for them."""
    return text.isascii() and not text.encode().translate(None, _PLAIN)


def one_line(text: str) -> str:
    r"""Return a text on one line, with line ends and tabs as `\n` and `\t`."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def name_text(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return a path or name on one line; a very long one is clipped in the middle."""
    return middle_cut(one_line(text), longest)


def middle_cut(text: str, longest: int = _LONGEST_NAME) -> str:
    """Clip a very long text in the middle. For JSON, which escapes control characters itself."""
    if len(text) <= longest:
        return text
    start = longest // 2
    return f"{text[:start]}…{text[start + 1 - longest :]}"


def declared_name(signature: str, name: str) -> str:
    """Return a signature up to the name it declares, matched as a whole word."""
    start = signature.find(name) if name else -1
    while start >= 0:
        end = start + len(name)
        around = (signature[start - 1 : start] if name[0].isalnum() else "") + signature[end : end + 1]
        if not any(character.isalnum() or character == "_" for character in around):
            return signature[:end]
        start = signature.find(name, start + 1)
    return signature


def shorten(text: str, longest: int) -> str:
    """Return a text on one line, clipped at a word."""
    shown = one_line(" ".join(text.split()))
    if len(shown) <= longest:
        return shown
    cut = shown[: longest - 1].rpartition(" ")[0] or shown[: longest - 1]
    return f"{cut.rstrip(' ,;:.')}…"


def source_text(text: str) -> str:
    """Return source as written, with control characters made visible; CRLF counts as a line end."""
    shown = visible(text.replace("\r\n", "\n"))
    return shown if shown.endswith("\n") or not shown else f"{shown}\n"
